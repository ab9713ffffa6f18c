//! Errors of an invocation as a whole.

use curlew_ports::stage::StageError;
use curlew_ports::stage::with_causes;
use lambda_runtime::Diagnostic;

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
