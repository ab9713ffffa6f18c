//! Chooses pages to re-check.

use std::process::ExitCode;

#[tokio::main]
async fn main() -> ExitCode {
    curlew_lambda::sample().await
}
