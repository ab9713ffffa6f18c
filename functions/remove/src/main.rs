//! Takes pages out of the index, and does what owners of sites ask for.

use curlew_lambda::Stage;
use std::process::ExitCode;

#[tokio::main]
async fn main() -> ExitCode {
    curlew_lambda::queue(Stage::Remove).await
}
