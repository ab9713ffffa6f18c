//! Visits hosts.

use curlew_lambda::Stage;
use std::process::ExitCode;

#[tokio::main]
async fn main() -> ExitCode {
    curlew_lambda::judging_queue(Stage::Fetch).await
}
