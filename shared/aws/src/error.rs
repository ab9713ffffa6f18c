//! Errors of AWS. Each message is one sentence with the fault and the remedy.

use aws_sdk_dynamodb::config::http::HttpResponse;
use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use curlew_model::Millis;
use curlew_ports::PortError;
use curlew_ports::stage::with_causes;
use std::error::Error;
use std::fmt;

/// Time to wait after a service has asked to slow down. The SDK has already retried by then.
const SLOW_DOWN: Millis = Millis(1_000);
/// `Service Unavailable`, which S3 sends with `SlowDown`, and `Too Many Requests`.
const BUSY: [u16; 2] = [503, 429];

const CODES: [(ServiceFault, &str); 7] = [
    (
        ServiceFault::Throttled,
        "ProvisionedThroughputExceededException ThrottlingException Throttling ThrottledException \
         RequestLimitExceeded RequestThrottled RequestThrottledException TooManyRequestsException \
         LimitExceededException KmsThrottled OverLimit SlowDown",
    ),
    (ServiceFault::Missing, "ResourceNotFoundException NoSuchBucket QueueDoesNotExist NonExistentQueue"),
    (ServiceFault::Skewed, "RequestTimeTooSkewed RequestInTheFuture"),
    (ServiceFault::Expired, "ExpiredToken ExpiredTokenException RequestExpired TokenRefreshRequired"),
    (
        ServiceFault::Unknown,
        "InvalidSignatureException SignatureDoesNotMatch UnrecognizedClientException InvalidClientTokenId \
         InvalidAccessKeyId InvalidToken InvalidSecurity MissingAuthenticationToken IncompleteSignature",
    ),
    (ServiceFault::Forbidden, "AccessDenied AccessDeniedException KmsAccessDenied"),
    (ServiceFault::Refused, "ValidationException InvalidMessageContents BatchRequestTooLong EntityTooLarge"),
];

/// Description of a request: the operation, and the part of the stack that it concerns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RequestContext<'a> {
    /// The operation, such as "keep a page's row".
    pub(crate) what: &'a str,
    /// Kind of the part: "table", "queue" or "bucket".
    pub(crate) kind: &'static str,
    pub(crate) name: &'a str,
    pub(crate) stack: &'a str,
}

/// Faults of a request, one for each remedy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ServiceFault {
    Throttled,
    Missing,
    Expired,
    Skewed,
    Unknown,
    Forbidden,
    Refused,
    Down,
}

impl RequestContext<'_> {
    /// Converts an error of the SDK to the port's error.
    pub(crate) fn failed<E: ProvideErrorMetadata + Error + Send + Sync + 'static>(
        self,
        error: SdkError<E, HttpResponse>,
    ) -> PortError {
        let status = error.raw_response().map(|raw| raw.status().as_u16());
        let (code, message) = (error.code().unwrap_or_default(), error.message().unwrap_or_default());
        if !matches!(error, SdkError::ServiceError(_) | SdkError::ResponseError(_)) {
            return self.unsent(error);
        }
        let (fault, message) = (classify(code, message, status), message.to_owned());
        if fault != ServiceFault::Forbidden {
            return self.port_error(fault, &message, error.into());
        }
        let (action, place) = (denied_action(&message).map(str::to_owned), self.place());
        self.port_error(fault, &message, MissingRight { action, place, source: error.into() }.into())
    }

    /// Converts an error code inside a response, such as that of one entry of a batch, to the port's error.
    pub(crate) fn refused(self, code: &str, message: &str) -> PortError {
        self.port_error(classify(code, message, None), message, format!("{code}: {message}").into())
    }

    fn port_error(self, fault: ServiceFault, message: &str, source: Box<dyn Error + Send + Sync>) -> PortError {
        match fault {
            ServiceFault::Throttled => PortError::Throttled { retry_after: SLOW_DOWN },
            ServiceFault::Refused => corrupt(format!("what was sent to {}", self.place()), message),
            _ => PortError::unavailable(self.sentence(fault), source),
        }
    }

    /// Converts the error of a request that was not sent or got no response to the port's error.
    fn unsent<E: Error + Send + Sync + 'static>(self, error: SdkError<E, HttpResponse>) -> PortError {
        let all = with_causes(&error);
        let why = if all.contains("credential") {
            "there are no credentials: sign in, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
        } else if all.contains("egion")
            && matches!(error, SdkError::ConstructionFailure(_) | SdkError::DispatchFailure(_))
        {
            "no region is set: set AWS_REGION"
        } else if matches!(error, SdkError::TimeoutError(_)) || all.contains("timed out") {
            "no answer came in time"
        } else {
            "AWS cannot be reached: is there a network, and is AWS_ENDPOINT_URL right?"
        };
        PortError::unavailable(format!("cannot {}: {why}", self.what), error)
    }

    fn sentence(self, fault: ServiceFault) -> String {
        let place = self.place();
        let why = match fault {
            ServiceFault::Missing => {
                return format!("{place} does not exist: is the stack {} deployed in this region?", self.stack);
            }
            ServiceFault::Expired => "the credentials have expired: sign in again".to_owned(),
            ServiceFault::Skewed => "this machine's clock is off: AWS refuses signatures; set the clock".to_owned(),
            ServiceFault::Unknown => {
                "AWS does not know these credentials: check the access key and its secret".to_owned()
            }
            ServiceFault::Forbidden => format!("these credentials may not use {place} so: check the role's policy"),
            _ => format!("{place} failed"),
        };
        format!("cannot {}: {why}", self.what)
    }

    fn place(self) -> String {
        format!("the {} {}", self.kind, self.name)
    }
}

/// A permission that the credentials lack: the cause of a port's error.
#[derive(Debug)]
pub struct MissingRight {
    /// The action, such as `dynamodb:GetItem`, if AWS named it.
    pub action: Option<String>,
    /// The part of the stack, such as "the table curlew-hosts".
    pub place: String,
    source: Box<dyn Error + Send + Sync>,
}

impl MissingRight {
    /// Returns the missing permission if that is the cause of this error.
    pub fn find(error: &PortError) -> Option<&MissingRight> {
        if let PortError::Unavailable { source: Some(source), .. } = error { source.downcast_ref() } else { None }
    }
}

impl fmt::Display for MissingRight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.source.fmt(f)
    }
}

impl Error for MissingRight {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.source()
    }
}

/// Returns the action that an access denial names, such as `User: … is not authorized to perform: dynamodb:Scan on …`.
/// SQS writes the action in lower case.
fn denied_action(message: &str) -> Option<&str> {
    let action = message.split_once("to perform: ")?.1.split_whitespace().next()?;
    action.contains(':').then_some(action)
}

/// Classifies an error by its code; the codes are in AWS's list of common errors and in each service's own list.
fn classify(code: &str, message: &str, status: Option<u16>) -> ServiceFault {
    // Queue errors of the older protocol have a prefix, and those of JSON protocols may have a namespace.
    let code = code.rsplit(['#', '.']).next().unwrap_or(code);
    let says = |words: &[&str]| words.iter().any(|word| message.to_ascii_lowercase().contains(word));
    match code {
        "InvalidSignatureException" | "SignatureDoesNotMatch" if says(&["expired", "skew", "not yet current"]) => {
            return ServiceFault::Skewed;
        }
        "UnrecognizedClientException" if says(&["expired"]) => return ServiceFault::Expired,
        _ => {}
    }
    let known = CODES.iter().find(|(_, codes)| codes.split(' ').any(|known| known == code));
    match known {
        Some((fault, _)) => *fault,
        None if status.is_some_and(|status| BUSY.contains(&status)) => ServiceFault::Throttled,
        None => ServiceFault::Down,
    }
}

/// True if an error with this code and status is throttling.
pub(crate) fn is_throttling(code: &str, status: u16) -> bool {
    classify(code, "", Some(status)) == ServiceFault::Throttled
}

/// Returns the error for an item that cannot be read or stored.
pub(crate) fn corrupt(what: impl Into<String>, why: impl ToString) -> PortError {
    PortError::Corrupt { what: what.into(), why: why.to_string() }
}

/// Copies an error for all callers that waited for the same request.
pub(crate) fn again(error: &PortError) -> PortError {
    match error {
        PortError::Conflict => PortError::Conflict,
        PortError::NotFound(what) => PortError::NotFound(what.clone()),
        PortError::Throttled { retry_after } => PortError::Throttled { retry_after: *retry_after },
        PortError::Unavailable { what, source } => {
            let source = source.as_ref().map(|source| {
                let causes = with_causes(source.as_ref()).into();
                match MissingRight::find(error) {
                    Some(MissingRight { action, place, .. }) => {
                        MissingRight { action: action.clone(), place: place.clone(), source: causes }.into()
                    }
                    None => causes,
                }
            });
            PortError::Unavailable { what: what.clone(), source }
        }
        PortError::Corrupt { what, why } => PortError::Corrupt { what: what.clone(), why: why.clone() },
    }
}
