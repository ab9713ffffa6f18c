//! Finds the feeds of sites, and checks owners' proofs of ownership.

use std::process::ExitCode;

#[tokio::main]
async fn main() -> ExitCode {
    curlew_lambda::discover().await
}
