//! S3's billing: a request is billed by its class.
//!
//! PUT, COPY, POST and LIST are the expensive class, GET and all others the cheap one; DELETE and CANCEL are free (S3
//! pricing, requests). An answer of 404 or 412 is billed like any other. A batch of deletions is a POST and counts as
//! one request.

use super::charge::Charge;
use super::unit::Unit;

/// Returns the name of the operation in S3's reference, by method and query.
pub(crate) fn operation(method: &str, path_and_query: &str, copies: bool) -> String {
    let (path, query) = path_and_query.split_once('?').unwrap_or((path_and_query, ""));
    let has = |name: &str| query.split('&').any(|pair| pair.split('=').next() == Some(name));
    let object = path.trim_start_matches('/').split_once('/').is_some_and(|(_, key)| !key.is_empty());
    let name = match (method, object) {
        ("PUT", true) if copies => "CopyObject",
        ("PUT", true) if has("partNumber") => "UploadPart",
        ("PUT", true) => "PutObject",
        ("POST", true) if has("uploads") => "CreateMultipartUpload",
        ("POST", true) => "CompleteMultipartUpload",
        ("DELETE", true) if has("uploadId") => "AbortMultipartUpload",
        ("DELETE", true) => "DeleteObject",
        ("HEAD", true) => "HeadObject",
        ("GET", true) => "GetObject",
        ("POST", false) if has("delete") => "DeleteObjects",
        ("GET", false) if path == "/" => "ListBuckets",
        ("GET", false) if query.is_empty() || has("list-type") || has("prefix") => "ListObjects",
        ("HEAD", false) => "HeadBucket",
        _ => return format!("{method} {}", if object { "object" } else { "bucket" }),
    };
    name.to_owned()
}

/// Returns the charges of a call, which do not depend on its answer.
pub(crate) fn charges(operation: &str, path_and_query: &str) -> Vec<Charge> {
    let unit = match operation {
        "DeleteObject" | "AbortMultipartUpload" => Unit::Free,
        "GetObject" | "HeadObject" | "HeadBucket" => Unit::S3Read,
        other if other.starts_with("DELETE ") => Unit::Free,
        other if other.starts_with("GET ") || other.starts_with("HEAD ") => Unit::S3Read,
        _ => Unit::S3Write,
    };
    vec![Charge { target: folder(operation, path_and_query), unit, ours: 1.0, theirs: None, exact: true }]
}

/// Returns the first folder of the key or of the listed prefix. The bucket would be the same for all calls.
fn folder(operation: &str, path_and_query: &str) -> String {
    let (path, query) = path_and_query.split_once('?').unwrap_or((path_and_query, ""));
    let key = match operation {
        "ListObjects" => query.split('&').find_map(|pair| pair.strip_prefix("prefix=")).unwrap_or_default(),
        _ => path.trim_start_matches('/').split_once('/').map_or("", |(_, key)| key),
    };
    let first = key.replace("%2F", "/");
    match first.split_once('/') {
        Some((folder, _)) => format!("{folder}/"),
        None if first.is_empty() => "bucket".to_owned(),
        None => first,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn billed(method: &str, path: &str, copies: bool) -> (String, String, Unit) {
        let operation = operation(method, path, copies);
        let charge = charges(&operation, path).remove(0);
        assert!((charge.units() - 1.0).abs() < f64::EPSILON);
        (operation, charge.target, charge.unit)
    }

    #[test]
    fn requests_by_their_class() {
        let expect = |method, path, copies, operation: &str, target: &str, unit| {
            assert_eq!(
                billed(method, path, copies),
                (operation.to_owned(), target.to_owned(), unit),
                "{method} {path}"
            );
        };
        expect("PUT", "/b/segments/2026/a.zst?x-id=PutObject", false, "PutObject", "segments/", Unit::S3Write);
        expect("PUT", "/b/segments/2026/a.zst", true, "CopyObject", "segments/", Unit::S3Write);
        expect("PUT", "/b/splits/a?partNumber=1&uploadId=u", false, "UploadPart", "splits/", Unit::S3Write);
        expect("POST", "/b/splits/a?uploads", false, "CreateMultipartUpload", "splits/", Unit::S3Write);
        expect("POST", "/b/splits/a?uploadId=u", false, "CompleteMultipartUpload", "splits/", Unit::S3Write);
        expect("DELETE", "/b/splits/a?uploadId=u", false, "AbortMultipartUpload", "splits/", Unit::Free);
        expect("DELETE", "/b/claims/a?x-id=DeleteObject", false, "DeleteObject", "claims/", Unit::Free);
        expect("GET", "/b/hidden-hosts.json", false, "GetObject", "hidden-hosts.json", Unit::S3Read);
        expect("HEAD", "/b/claims/a", false, "HeadObject", "claims/", Unit::S3Read);
        expect("GET", "/b?list-type=2&prefix=segments%2F2026", false, "ListObjects", "segments/", Unit::S3Write);
        expect("GET", "/b/?list-type=2", false, "ListObjects", "bucket", Unit::S3Write);
        expect("GET", "/?x-id=ListBuckets", false, "ListBuckets", "bucket", Unit::S3Write);
        expect("GET", "/b?versioning", false, "GET bucket", "bucket", Unit::S3Read);
        expect("POST", "/b?delete", false, "DeleteObjects", "bucket", Unit::S3Write);
    }
}
