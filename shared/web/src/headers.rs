//! The headers that every answer carries, errors and files included.

use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderName, HeaderValue, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use axum::response::Response;

/// Nothing runs, nothing is loaded from elsewhere, nothing is framed, forms go to ourselves.
macro_rules! policy {
    () => {
        "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    };
}
const POLICY: HeaderValue = HeaderValue::from_static(policy!());
/// The same for a page whose form has to be worked for.
pub(crate) const WITH_WORK: HeaderValue = HeaderValue::from_static(concat!("script-src 'self'; ", policy!()));
/// Features of the browser that no page of ours needs.
const PERMISSIONS: &str = "camera=(), microphone=(), geolocation=(), payment=(), usb=(), browsing-topics=()";
/// Answers that say nothing of caching are not to be kept.
const UNCACHED: &str = "no-store";

/// Adds the security headers.
pub(crate) async fn secure(mut response: Response) -> Response {
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
    // A handler may have chosen its own.
    headers.entry(CONTENT_SECURITY_POLICY).or_insert(POLICY);
    headers.entry(REFERRER_POLICY).or_insert(HeaderValue::from_static("no-referrer"));
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static(UNCACHED));
    response
}
