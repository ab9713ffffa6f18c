//! Tells Lambda that a function cannot start.

use crate::failure::Failure;
use http::{Method, Request};
use lambda_runtime::Diagnostic;
use lambda_runtime_api_client::Client;
use lambda_runtime_api_client::body::Body;
use std::time::Duration;

/// Path for reporting it (Lambda's runtime API, "Initialization error").
const PATH: &str = "/2018-06-01/runtime/init/error";
/// Header that names the kind of error.
const ERROR_TYPE: &str = "lambda-runtime-function-error-type";
/// The process ends after this even if nobody listens.
const PATIENCE: Duration = Duration::from_secs(2);

/// Reports it, so that the invoker of the function reads the reason. It is in the log already; what goes wrong here is
/// not worth more than that.
pub(crate) async fn report(failure: Failure) {
    let told = tokio::time::timeout(PATIENCE, tell(Diagnostic::from(failure))).await;
    if !matches!(told, Ok(Ok(()))) {
        tracing::debug!("the reason could not be told to Lambda");
    }
}

async fn tell(diagnostic: Diagnostic) -> Result<(), lambda_runtime::Error> {
    // Without its address the client panics.
    std::env::var("AWS_LAMBDA_RUNTIME_API")?;
    let body = Body::from(serde_json::to_vec(&diagnostic)?);
    let request =
        Request::builder().method(Method::POST).uri(PATH).header(ERROR_TYPE, &diagnostic.error_type).body(body)?;
    Client::builder().build()?.call(request).await?;
    Ok(())
}
