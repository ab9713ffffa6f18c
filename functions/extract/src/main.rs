//! Makes records of pages.

use curlew_lambda::Stage;
use std::process::ExitCode;

#[tokio::main]
async fn main() -> ExitCode {
    curlew_lambda::queue(Stage::Extract).await
}
