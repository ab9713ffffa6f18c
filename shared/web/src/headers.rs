//! Security headers of every response, including errors and files.

use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderName, HeaderValue, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use axum::response::Response;

/// Content Security Policy: no scripts, no frames, no resources or form targets of other origins.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
);
/// Content Security Policy of the operator's pages, which may also embed pictures as `data:` URLs.
pub(crate) const POLICY_WITH_PICTURES: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; \
     frame-ancestors 'none'",
);
/// `Permissions-Policy`, which disables browser features that no page needs.
const PERMISSIONS: &str = "camera=(), microphone=(), geolocation=(), payment=(), usb=(), browsing-topics=()";
/// `Cache-Control` of responses for which the handler sets none.
const UNCACHED: &str = "no-store";

/// Adds the security headers to a response, also to one that does not come from the router.
pub async fn secure(mut response: Response) -> Response {
    let headers = response.headers_mut();
    let always = [
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (HeaderName::from_static("permissions-policy"), PERMISSIONS),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ];
    for (name, value) in always {
        headers.insert(name, HeaderValue::from_static(value));
    }
    // The handler may already have set these three.
    headers.entry(CONTENT_SECURITY_POLICY).or_insert(POLICY);
    headers.entry(REFERRER_POLICY).or_insert(HeaderValue::from_static("no-referrer"));
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static(UNCACHED));
    response
}
