//! Security headers, which every answer carries, errors and files included.

use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderName, HeaderValue, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use axum::response::Response;

/// Policy without scripts, frames and resources from elsewhere; forms may only be sent to our own origin.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
);
/// Policy of the pages for operators, which may show pictures that are part of the page itself.
pub(crate) const POLICY_WITH_PICTURES: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; \
     frame-ancestors 'none'",
);
/// Browser features that no page of ours needs.
const PERMISSIONS: &str = "camera=(), microphone=(), geolocation=(), payment=(), usb=(), browsing-topics=()";
/// Default for answers without a caching header: they must not be stored.
const UNCACHED: &str = "no-store";

/// Adds the security headers to an answer; for one that does not come from the router, too.
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
    // A handler may have set its own policy.
    headers.entry(CONTENT_SECURITY_POLICY).or_insert(POLICY);
    headers.entry(REFERRER_POLICY).or_insert(HeaderValue::from_static("no-referrer"));
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static(UNCACHED));
    response
}
