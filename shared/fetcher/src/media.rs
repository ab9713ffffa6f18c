//! Media types: which bodies are worth reading, and the Accept header of each kind of call.

use curlew_ports::CallKind;

/// The `Accept` header of a kind of call. `*/*` comes last everywhere: a 406 would help nobody.
pub(crate) fn accept(kind: CallKind) -> &'static str {
    match kind {
        CallKind::Robots | CallKind::Proof => "text/plain, */*;q=0.1",
        CallKind::Home | CallKind::Page => "text/html, application/xhtml+xml;q=0.9, */*;q=0.1",
        CallKind::Feed => {
            "application/atom+xml, application/rss+xml, application/feed+json, application/rdf+xml;q=0.9, \
             application/xml;q=0.8, text/xml;q=0.8, application/json;q=0.5, */*;q=0.1"
        }
        CallKind::Sitemap => "application/xml, text/xml, text/plain;q=0.8, application/gzip;q=0.8, */*;q=0.1",
        CallKind::Hub | CallKind::Receiver => "*/*",
        CallKind::Image => "image/jpeg, image/png, image/webp, image/gif, image/*;q=0.1, */*;q=0.1",
    }
}

/// True if a body of this `Content-Type` is read.
///
/// Pages have to be HTML, or without a type; a site's address may be a feed's; images have to be labelled so, and SVG
/// is none since it is a program; feeds and robots.txt are so often mislabelled that only types which are certainly
/// something else are refused.
pub(crate) fn is_wanted(kind: CallKind, content_type: Option<&str>) -> bool {
    let essence = content_type.map(essence).filter(|essence| !essence.is_empty());
    let family = essence.as_deref().and_then(|e| e.split_once('/')).map(|(family, _)| family);
    match (kind, essence.as_deref()) {
        (CallKind::Home | CallKind::Page, None) => true,
        (CallKind::Page, Some(e)) => is_html(e),
        // Somebody may have named a feed where a site was asked for.
        (CallKind::Home, Some(e)) => is_html(e) || is_feed(e),
        (CallKind::Image, e) => family == Some("image") && e != Some("image/svg+xml"),
        (CallKind::Receiver, _) => true,
        // What a hub says besides its status is for people.
        (CallKind::Hub, _) => false,
        (CallKind::Feed | CallKind::Sitemap | CallKind::Robots | CallKind::Proof, _) => {
            !matches!(family, Some("image" | "video" | "audio" | "font"))
        }
    }
}

fn is_html(essence: &str) -> bool {
    matches!(essence, "text/html" | "application/xhtml+xml")
}

fn is_feed(essence: &str) -> bool {
    let is_document = essence.starts_with("application/") || essence.starts_with("text/");
    is_document && ["+xml", "+json", "/xml", "/json"].iter().any(|end| essence.ends_with(end))
}

/// `type/subtype` in lower case, without parameters (RFC 9110 §8.3.1).
fn essence(content_type: &str) -> String {
    content_type.split([';', ',']).next().unwrap_or_default().trim().to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b14_only_the_media_types_that_were_asked_for_are_read() {
        use CallKind::{Feed, Home, Image, Page, Robots};
        let table: [(&str, &[CallKind]); 15] = [
            ("text/html", &[Home, Page, Feed, Robots]),
            ("TEXT/HTML ; charset=utf-8", &[Home, Page, Feed, Robots]),
            ("application/xhtml+xml", &[Home, Page, Feed, Robots]),
            ("text/plain; charset=utf-8", &[Feed, Robots]),
            ("application/rss+xml", &[Home, Feed, Robots]),
            ("text/xml", &[Home, Feed, Robots]),
            ("application/feed+json", &[Home, Feed, Robots]),
            ("application/pdf", &[Feed, Robots]),
            ("application/octet-stream", &[Feed, Robots]),
            ("image/png", &[Image]),
            ("image/svg+xml", &[]),
            ("Image/SVG+xml;charset=utf-8", &[]),
            ("video/mp4", &[]),
            ("audio/mpeg", &[]),
            ("", &[Home, Page, Feed, Robots]),
        ];
        for (content_type, readers) in table {
            for kind in [Home, Page, Feed, Robots, Image] {
                assert_eq!(is_wanted(kind, Some(content_type)), readers.contains(&kind), "{content_type} {kind:?}");
            }
        }
        assert!(is_wanted(Page, None) && is_wanted(Feed, None) && !is_wanted(Image, None));
    }
}
