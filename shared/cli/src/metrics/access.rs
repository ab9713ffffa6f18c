//! Access to the metrics: by a bearer token (RFC 6750), or without one on loopback, where a page in a browser of this
//! machine must still not read them under a name of its own (DNS rebinding).

use axum::Router;
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, HeaderValue, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use curlew_policy::address::is_of_this_machine;
use curlew_web::asked_host;
use std::hint::black_box;
use std::sync::Arc;

/// Decides who may read.
#[derive(Clone)]
pub(super) struct Access(Option<Arc<str>>);

impl Access {
    /// Requires this token, or without one a host name of this machine.
    pub(super) fn new(token: Option<String>) -> Access {
        Access(token.map(Arc::from))
    }

    /// Puts the decision before every route, the missing ones included.
    pub(super) fn guard(self, router: Router) -> Router {
        router.layer(from_fn_with_state(self, admit))
    }

    /// Returns the answer to a request that is not admitted. It says nothing of what there is.
    fn refusal(&self, headers: &HeaderMap) -> Option<Response> {
        match &self.0 {
            Some(token) if is_sent(token, headers) => None,
            Some(_) => {
                let challenge = [(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))];
                Some((StatusCode::UNAUTHORIZED, challenge).into_response())
            }
            None if names_this_machine(headers) => None,
            None => Some(StatusCode::NOT_FOUND.into_response()),
        }
    }
}

async fn admit(State(access): State<Access>, request: Request, next: Next) -> Response {
    match access.refusal(request.headers()) {
        Some(refusal) => refusal,
        None => next.run(request).await,
    }
}

fn is_sent(token: &str, headers: &HeaderMap) -> bool {
    let sent = headers.get(AUTHORIZATION).map(HeaderValue::as_bytes).unwrap_or_default();
    let (scheme, sent) = sent.split_at(sent.len().min("Bearer ".len()));
    scheme.eq_ignore_ascii_case(b"Bearer ") && is_same(sent, token.as_bytes())
}

/// Compares two texts in a time that depends on their lengths alone.
fn is_same(one: &[u8], other: &[u8]) -> bool {
    let differing = one.iter().zip(other).fold(0, |all, (a, b)| black_box(all | (a ^ b)));
    one.len() == other.len() && differing == 0
}

/// True if the `Host` of a request is a loopback address or `localhost`, which no name server of others gives out.
fn names_this_machine(headers: &HeaderMap) -> bool {
    asked_host(headers, "http").is_some_and(|url| is_of_this_machine(&url))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;
    use axum::body::Body;
    use axum::routing::get;
    use tower::ServiceExt;

    const TOKEN: &str = "0123456789abcdef";

    async fn status(token: Option<&str>, path: &str, header: (&str, &str)) -> u16 {
        let router = Router::new().route("/metrics", get(async || "numbers"));
        let request = Request::builder().uri(path).header(header.0, header.1).body(Body::empty()).unwrap();
        Access::new(token.map(str::to_owned)).guard(router).oneshot(request).await.unwrap().status().as_u16()
    }

    #[tokio::test]
    async fn with_a_token_nothing_is_told_without_it() {
        let good = format!("Bearer {TOKEN}");
        assert_eq!(status(Some(TOKEN), "/metrics", ("authorization", &good)).await, 200);
        assert_eq!(status(Some(TOKEN), "/metrics", ("authorization", &good.replace("Bearer", "bearer"))).await, 200);
        assert_eq!(status(Some(TOKEN), "/", ("authorization", &good)).await, 404);
        for bad in
            ["", "Bearer", "Bearer ", TOKEN, "Basic 0123456789abcdef", &good[..good.len() - 1], &(good.clone() + "0")]
        {
            for path in ["/metrics", "/", "/nothing"] {
                assert_eq!(status(Some(TOKEN), path, ("authorization", bad)).await, 401, "{bad} {path}");
            }
        }
        assert_eq!(status(Some(TOKEN), "/metrics", ("host", "localhost")).await, 401);
    }

    #[tokio::test]
    async fn without_a_token_a_name_of_others_reads_nothing() {
        for host in ["localhost", "LOCALHOST:9464", "127.0.0.1:9464", "127.1.2.3", "[::1]:9464", "[::1]"] {
            assert_eq!(status(None, "/metrics", ("host", host)).await, 200, "{host}");
        }
        for host in
            ["evil.example", "localhost.evil.example:9464", "127.0.0.1.evil.example", "10.0.0.1", "[fe80::1]", ""]
        {
            for path in ["/metrics", "/"] {
                assert_eq!(status(None, path, ("host", host)).await, 404, "{host}");
            }
        }
        assert_eq!(status(None, "/metrics", ("x-forwarded-host", "localhost")).await, 404, "no host at all");
    }
}
