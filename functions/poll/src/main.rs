//! Polls feeds.

use curlew_lambda::QueueName;
use std::process::ExitCode;

#[tokio::main]
async fn main() -> ExitCode {
    curlew_lambda::queue(QueueName::Poll).await
}
