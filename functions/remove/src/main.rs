//! Removes pages from the index, and executes requests of site owners.

use curlew_lambda::QueueName;
use std::process::ExitCode;

#[tokio::main]
async fn main() -> ExitCode {
    curlew_lambda::queue(QueueName::Remove).await
}
