//! Fetches pages from hosts.

use curlew_lambda::QueueName;
use std::process::ExitCode;

#[tokio::main]
async fn main() -> ExitCode {
    curlew_lambda::queue(QueueName::Fetch).await
}
