//! Finds the feeds of sites, and looks for the proofs of their owners.

use std::process::ExitCode;

#[tokio::main]
async fn main() -> ExitCode {
    curlew_lambda::discover().await
}
