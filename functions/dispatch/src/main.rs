//! Runs every five minutes and sends the jobs that are due.

use std::process::ExitCode;

#[tokio::main]
async fn main() -> ExitCode {
    curlew_lambda::dispatch().await
}
