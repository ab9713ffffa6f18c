//! Takes pages out of the index, and does what owners of sites ask for.

use curlew_lambda::QueueName;
use std::process::ExitCode;

#[tokio::main]
async fn main() -> ExitCode {
    curlew_lambda::queue(QueueName::Remove).await
}
