//! Finds the feeds of sites, and checks the proofs of ownership of their owners.

use std::process::ExitCode;

#[tokio::main]
async fn main() -> ExitCode {
    curlew_lambda::discover().await
}
