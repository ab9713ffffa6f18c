//! Publishes the search index.

use std::process::ExitCode;

#[tokio::main]
async fn main() -> ExitCode {
    curlew_lambda::index().await
}
