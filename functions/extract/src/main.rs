//! Extracts records from pages.

use std::process::ExitCode;

#[tokio::main]
async fn main() -> ExitCode {
    curlew_lambda::extract().await
}
