//! Errors of a whole invocation, and of a function that cannot start.

use curlew_ports::stage::{StageError, with_causes};
use http::{Method, Request};
use lambda_runtime::Diagnostic;
use lambda_runtime_api_client::Client;
use lambda_runtime_api_client::body::Body;
use std::time::Duration;

/// Path for reporting a failed start (Lambda's runtime API, "Initialization error").
const PATH: &str = "/2018-06-01/runtime/init/error";
/// Header with the type of the error.
const ERROR_TYPE: &str = "lambda-runtime-function-error-type";
/// Maximum time to report a failed start before the process exits.
const PATIENCE: Duration = Duration::from_secs(2);

/// Error of a whole invocation, by who has to act on it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The function does not accept the event; the sender is at fault.
    #[error("{0}")]
    Event(String),
    /// The settings or the function's own limits are invalid; the operator must change them.
    #[error("{0}")]
    Settings(String),
    /// The stack has a newer version; the operator must deploy a program that knows it.
    #[error("{0}")]
    Version(String),
    /// The work failed; the next invocation repeats it.
    #[error("{0}")]
    Work(String),
}

impl From<StageError> for Failure {
    fn from(error: StageError) -> Failure {
        Failure::Work(with_causes(&error))
    }
}

impl From<Failure> for Diagnostic {
    fn from(failure: Failure) -> Diagnostic {
        let error_type = match failure {
            Failure::Event(_) => "Curlew.Event",
            Failure::Settings(_) => "Curlew.Settings",
            Failure::Version(_) => "Curlew.Version",
            Failure::Work(_) => "Curlew.Work",
        };
        Diagnostic { error_type: error_type.to_owned(), error_message: failure.to_string() }
    }
}

/// Reports to Lambda that a function cannot start, so that its invoker gets the reason. The log already has it.
pub(crate) async fn report(failure: Failure) {
    let told = tokio::time::timeout(PATIENCE, tell(Diagnostic::from(failure))).await;
    if !matches!(told, Ok(Ok(()))) {
        tracing::debug!("the reason could not be told to Lambda");
    }
}

async fn tell(diagnostic: Diagnostic) -> Result<(), lambda_runtime::Error> {
    // Without this variable the client panics.
    std::env::var("AWS_LAMBDA_RUNTIME_API")?;
    let body = Body::from(serde_json::to_vec(&diagnostic)?);
    let request =
        Request::builder().method(Method::POST).uri(PATH).header(ERROR_TYPE, &diagnostic.error_type).body(body)?;
    Client::builder().build()?.call(request).await?;
    Ok(())
}
