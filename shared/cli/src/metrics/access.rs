//! Access to the metrics: with a bearer token (RFC 6750) or, if none is set, under a host name of this machine. That
//! check stops web pages in a browser on this machine from reading them by DNS rebinding.

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

/// Requires the token or, if none is set, a host name of this machine, for every route, including unknown ones.
pub(super) fn guarded(router: Router, token: Option<String>) -> Router {
    router.layer(from_fn_with_state(token.map(Arc::from), admit))
}

/// Passes admitted requests on. The answers to others do not reveal which routes exist.
async fn admit(State(token): State<Option<Arc<str>>>, request: Request, next: Next) -> Response {
    let headers = request.headers();
    match token {
        Some(token) if !is_sent(&token, headers) => {
            let challenge = [(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))];
            (StatusCode::UNAUTHORIZED, challenge).into_response()
        }
        // DNS rebinding cannot make a browser send `localhost` or a loopback address as the host.
        None if !asked_host(headers, "http").is_some_and(|url| is_of_this_machine(&url)) => {
            StatusCode::NOT_FOUND.into_response()
        }
        _ => next.run(request).await,
    }
}

fn is_sent(token: &str, headers: &HeaderMap) -> bool {
    let sent = headers.get(AUTHORIZATION).map(HeaderValue::as_bytes).unwrap_or_default();
    let (scheme, sent) = sent.split_at(sent.len().min("Bearer ".len()));
    scheme.eq_ignore_ascii_case(b"Bearer ") && is_same(sent, token.as_bytes())
}

/// Compares two byte strings in a time that depends only on their lengths.
fn is_same(one: &[u8], other: &[u8]) -> bool {
    let differing = one.iter().zip(other).fold(0, |all, (a, b)| black_box(all | (a ^ b)));
    one.len() == other.len() && differing == 0
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
        guarded(router, token.map(str::to_owned)).oneshot(request).await.unwrap().status().as_u16()
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
        let others = "evil.example localhost.evil.example:9464 127.0.0.1.evil.example 10.0.0.1 [fe80::1]";
        for host in others.split(' ').chain([""]) {
            for path in ["/metrics", "/"] {
                assert_eq!(status(None, path, ("host", host)).await, 404, "{host}");
            }
        }
        assert_eq!(status(None, "/metrics", ("x-forwarded-host", "localhost")).await, 404, "no host at all");
    }
}
