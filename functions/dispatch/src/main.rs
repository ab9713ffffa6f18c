//! Each minute: sends what is due.

use std::process::ExitCode;

#[tokio::main]
async fn main() -> ExitCode {
    curlew_lambda::dispatch().await
}
