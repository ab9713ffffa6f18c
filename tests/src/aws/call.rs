//! A call to an AWS endpoint, as a bill distinguishes it: service, operation, target and caller.

use hyper::HeaderMap;

/// The services that a bill distinguishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Service {
    /// Tables.
    DynamoDb,
    /// Queues.
    Sqs,
    /// Objects.
    S3,
    /// Functions.
    Lambda,
    /// The scheduler, which invokes functions at set times.
    Scheduler,
    /// Log lines.
    Logs,
    /// Any other service: its calls are forwarded and counted, but not priced.
    Other,
}

impl Service {
    /// Returns the service's name in a table.
    pub const fn as_str(self) -> &'static str {
        match self {
            Service::DynamoDb => "DynamoDB",
            Service::Sqs => "SQS",
            Service::S3 => "S3",
            Service::Lambda => "Lambda",
            Service::Scheduler => "Scheduler",
            Service::Logs => "Logs",
            Service::Other => "other",
        }
    }
}

/// The identity of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The service.
    pub service: Service,
    /// Name of the operation in AWS's reference, such as `PutItem`.
    pub operation: String,
    /// The caller: the application name that SDKs take from `AWS_SDK_UA_APP_ID`, or an empty string.
    pub caller: String,
}

impl Call {
    /// Reads the call from a request's head. JSON services name their operation in `X-Amz-Target`; an operation of S3
    /// follows from method and query.
    pub fn of(method: &str, path_and_query: &str, headers: &HeaderMap) -> Call {
        let caller = caller(headers);
        let (service, operation) = match text(headers, "x-amz-target").split_once('.') {
            Some((api, operation)) if api.starts_with("DynamoDB_") => (Service::DynamoDb, operation.to_owned()),
            Some(("AmazonSQS", operation)) => (Service::Sqs, operation.to_owned()),
            Some((api, operation)) => (Service::Other, format!("{api}.{operation}")),
            None => by_scope(&scope(headers), method, path_and_query, headers),
        };
        Call { service, operation, caller }
    }
}

fn by_scope(scope: &str, method: &str, path_and_query: &str, headers: &HeaderMap) -> (Service, String) {
    match scope {
        "s3" => (Service::S3, super::s3::operation(method, path_and_query, headers.contains_key("x-amz-copy-source"))),
        // The SDK in use does not speak this older protocol.
        "sqs" => (Service::Sqs, "by query".to_owned()),
        "" => (Service::Other, format!("unsigned {method}")),
        other => (Service::Other, format!("{other} {method}")),
    }
}

/// Returns the service in the credential's scope: `Credential=KEY/DATE/REGION/SERVICE/aws4_request` (Signature Version
/// 4).
fn scope(headers: &HeaderMap) -> String {
    let authorization = text(headers, "authorization");
    let credential = authorization.split("Credential=").nth(1).unwrap_or_default();
    let credential = credential.split(',').next().unwrap_or_default();
    credential.split('/').nth(3).unwrap_or_default().to_owned()
}

/// Returns NAME of the word `app/NAME` in the user agent.
fn caller(headers: &HeaderMap) -> String {
    let named = |header: &str| {
        let agent = text(headers, header);
        agent.split_whitespace().find_map(|word| word.strip_prefix("app/")).map(str::to_owned)
    };
    named("x-amz-user-agent").or_else(|| named("user-agent")).unwrap_or_default()
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> &'a str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::header::{HeaderName, HeaderValue};

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value))).collect()
    }

    #[test]
    fn a_target_names_service_and_operation() {
        let call = Call::of("POST", "/", &headers(&[("x-amz-target", "DynamoDB_20120810.PutItem")]));
        assert_eq!((call.service, call.operation.as_str(), call.caller.as_str()), (Service::DynamoDb, "PutItem", ""));
        let call = Call::of("POST", "/", &headers(&[("x-amz-target", "AmazonSQS.SendMessage")]));
        assert_eq!((call.service, call.operation.as_str()), (Service::Sqs, "SendMessage"));
        let call = Call::of("POST", "/", &headers(&[("x-amz-target", "Logs_20140328.FilterLogEvents")]));
        assert_eq!((call.service, call.operation.as_str()), (Service::Other, "Logs_20140328.FilterLogEvents"));
    }

    #[test]
    fn the_scope_of_the_signature_names_the_service_and_the_agent_the_caller() {
        const SIGNED: &str = "AWS4-HMAC-SHA256 Credential=000000000000/20261121/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0";
        let signed = [("authorization", SIGNED), ("user-agent", "aws-sdk-rust/1.4 os/linux app/s-fetch lang/rust")];
        let call = Call::of("PUT", "/bucket/segments/a", &headers(&signed));
        assert_eq!((call.service, call.operation.as_str()), (Service::S3, "PutObject"));
        assert_eq!(call.caller, "s-fetch");
        assert_eq!(Call::of("GET", "/", &headers(&[])).service, Service::Other);
    }
}
