//! Errors of an invocation as a whole, and of a function that cannot start.

use curlew_ports::stage::{StageError, with_causes};
use http::{Method, Request};
use lambda_runtime::Diagnostic;
use lambda_runtime_api_client::Client;
use lambda_runtime_api_client::body::Body;
use std::time::Duration;

/// Path for reporting that a function cannot start (Lambda's runtime API, "Initialization error").
const PATH: &str = "/2018-06-01/runtime/init/error";
/// Header that names the kind of error.
const ERROR_TYPE: &str = "lambda-runtime-function-error-type";
/// The process ends after this even if nobody listens.
const PATIENCE: Duration = Duration::from_secs(2);

/// Error of an invocation as a whole, shaped by who has to do something about it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The event is none that this function takes; the fault is the sender's.
    #[error("{0}")]
    Event(String),
    /// The settings, or the function's own limits; the operator has to change them.
    #[error("{0}")]
    Settings(String),
    /// The version of the stack is a later one; the operator has to deploy a program that knows it.
    #[error("{0}")]
    Version(String),
    /// The work itself; the next invocation does it again.
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

/// Tells Lambda that a function cannot start, so that its invoker reads the reason, which is in the log already.
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
