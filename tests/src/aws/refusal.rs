//! Error answers of AWS services, in each service's own form.

use super::call::Service;
use bytes::Bytes;
use hyper::Response;
use hyper::header::{CONTENT_TYPE, HeaderValue};

/// An error answer: its status, the error's code, and its message.
struct Refusal {
    status: u16,
    code: &'static str,
    says: &'static str,
}

/// Returns a service's answer to too many calls.
pub(crate) fn throttled(service: Service, bodiless: bool) -> Response<Bytes> {
    let refusal = match service {
        Service::S3 => Refusal { status: 503, code: "SlowDown", says: "Please reduce your request rate." },
        Service::Sqs => Refusal {
            status: 400,
            code: "com.amazonaws.sqs#RequestThrottled",
            says: "The request was denied due to request throttling.",
        },
        _ => Refusal {
            status: 400,
            code: "com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException",
            says: "The level of configured provisioned throughput for the table was exceeded.",
        },
    };
    refusal.response(service, bodiless)
}

/// Returns a service's answer on an internal error.
pub(crate) fn server_error(service: Service, bodiless: bool) -> Response<Bytes> {
    let code = match service {
        Service::S3 => "InternalError",
        Service::Sqs => "com.amazonaws.sqs#InternalFailure",
        _ => "com.amazonaws.dynamodb.v20120810#InternalServerError",
    };
    Refusal { status: 500, code, says: "We encountered an internal error. Please try again." }
        .response(service, bodiless)
}

impl Refusal {
    /// Returns the answer: XML for S3, JSON for the others, and an empty body for HEAD.
    fn response(&self, service: Service, bodiless: bool) -> Response<Bytes> {
        let Refusal { status, code, says } = self;
        let (kind, body) = match service {
            Service::S3 => (
                "application/xml",
                format!(
                    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>{code}</Code><Message>{says}</Message><RequestId>0</RequestId></Error>"
                ),
            ),
            _ => ("application/x-amz-json-1.0", format!("{{\"__type\":\"{code}\",\"message\":\"{says}\"}}")),
        };
        let mut response = Response::new(if bodiless { Bytes::new() } else { Bytes::from(body) });
        *response.status_mut() = hyper::StatusCode::from_u16(*status).unwrap();
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        response
    }
}
