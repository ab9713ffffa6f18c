//! Finds the feeds of sites, and does what their owners ask for.

use std::process::ExitCode;

#[tokio::main]
async fn main() -> ExitCode {
    curlew_lambda::discover().await
}
