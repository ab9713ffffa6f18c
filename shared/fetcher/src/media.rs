//! Media types: which bodies are worth reading, and the Accept header of each kind of call.

use curlew_ports::CallKind;

/// Number of bytes by which [`may_begin`] identifies a body.
pub(crate) const TELLING_BYTES: usize = 64;
/// First bytes of JPEG, PNG and GIF images.
const IMAGES: [&[u8]; 3] = [b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"GIF8"];
/// First characters of feeds.
const FEEDS: [&[u8]; 5] = [b"<?xml", b"<rss", b"<feed", b"<rdf", b"{"];

/// Returns the `Accept` header of a kind of call. `*/*` comes last everywhere, since a 406 would help nobody.
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
        CallKind::Engine => "application/json",
        CallKind::Image => "image/jpeg, image/png, image/webp, image/gif, image/*;q=0.1, */*;q=0.1",
    }
}

/// Returns true if a body of this `Content-Type` is read.
///
/// Pages must be HTML, or without a type. A site's address may be that of a feed. SVG images are programs, so they are
/// not read. Feeds and robots.txt are so often mislabelled that only clearly different types are refused. For images
/// and a site's address, an unspecific type is enough if the body [begins well](may_begin).
pub(crate) fn is_wanted(kind: CallKind, content_type: Option<&str>) -> bool {
    let essence = content_type.map(essence).filter(|essence| !essence.is_empty());
    let family = essence.as_deref().and_then(|e| e.split_once('/')).map(|(family, _)| family);
    match (kind, essence.as_deref()) {
        (CallKind::Home | CallKind::Page, None) => true,
        (CallKind::Page, Some(e)) => is_html(e),
        // The address named as a site's may be that of a feed.
        (CallKind::Home, Some(e)) => is_html(e) || is_feed(e) || says_nothing(Some(e)),
        (CallKind::Image, e) => family == Some("image") && e != Some("image/svg+xml") || says_nothing(e),
        (CallKind::Receiver | CallKind::Engine, _) => true,
        // Only the status of a hub's answer matters; its body is for people.
        (CallKind::Hub, _) => false,
        (CallKind::Feed | CallKind::Sitemap | CallKind::Robots | CallKind::Proof, _) => {
            !matches!(family, Some("image" | "video" | "audio" | "font"))
        }
    }
}

/// Returns true if a body that starts with these bytes may be the requested kind of document. The bytes are checked
/// only if the `Content-Type` is unspecific.
pub(crate) fn may_begin(kind: CallKind, content_type: Option<&str>, start: &[u8]) -> bool {
    let essence = content_type.map(essence).filter(|essence| !essence.is_empty());
    match kind {
        CallKind::Image if says_nothing(essence.as_deref()) => {
            let is_webp = start.starts_with(b"RIFF") && start.get(8..12) == Some(b"WEBP");
            is_webp || IMAGES.iter().any(|magic| start.starts_with(magic))
        }
        CallKind::Home if essence.is_some() && says_nothing(essence.as_deref()) => {
            let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start).trim_ascii_start();
            FEEDS.iter().any(|begin| start.starts_with(begin))
        }
        _ => true,
    }
}

/// Returns true for types that servers give to documents of unknown type.
fn says_nothing(essence: Option<&str>) -> bool {
    matches!(essence, None | Some("application/octet-stream" | "binary/octet-stream" | "text/plain"))
}

fn is_html(essence: &str) -> bool {
    matches!(essence, "text/html" | "application/xhtml+xml")
}

fn is_feed(essence: &str) -> bool {
    let is_document = essence.starts_with("application/") || essence.starts_with("text/");
    is_document && ["+xml", "+json", "/xml", "/json"].iter().any(|end| essence.ends_with(end))
}

/// Returns `type/subtype` in lower case, without parameters (RFC 9110 §8.3.1).
fn essence(content_type: &str) -> String {
    content_type.split([';', ',']).next().unwrap_or_default().trim().to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b14_only_the_media_types_that_were_asked_for_are_read() {
        use CallKind::{Feed, Home, Image, Page, Robots};
        let table: [(&str, &[CallKind]); 16] = [
            ("text/html", &[Home, Page, Feed, Robots]),
            ("TEXT/HTML ; charset=utf-8", &[Home, Page, Feed, Robots]),
            ("application/xhtml+xml", &[Home, Page, Feed, Robots]),
            ("text/plain; charset=utf-8", &[Home, Feed, Robots, Image]),
            ("application/rss+xml", &[Home, Feed, Robots]),
            ("text/xml", &[Home, Feed, Robots]),
            ("application/feed+json", &[Home, Feed, Robots]),
            ("application/pdf", &[Feed, Robots]),
            ("application/octet-stream", &[Home, Feed, Robots, Image]),
            ("binary/octet-stream", &[Home, Feed, Robots, Image]),
            ("image/png", &[Image]),
            ("image/svg+xml", &[]),
            ("Image/SVG+xml;charset=utf-8", &[]),
            ("video/mp4", &[]),
            ("audio/mpeg", &[]),
            ("", &[Home, Page, Feed, Robots, Image]),
        ];
        for (content_type, readers) in table {
            for kind in [Home, Page, Feed, Robots, Image] {
                assert_eq!(is_wanted(kind, Some(content_type)), readers.contains(&kind), "{content_type} {kind:?}");
            }
        }
        assert!(is_wanted(Page, None) && is_wanted(Feed, None) && is_wanted(Image, None));
    }

    #[test]
    fn b14_what_has_no_type_is_known_by_its_first_bytes() {
        use CallKind::{Feed, Home, Image, Page};
        let webp = b"RIFF\0\0\0\0WEBPVP8 ";
        for (start, is_image, is_feed) in [
            (&b"\xff\xd8\xff\xe0\0\x10JFIF"[..], true, false),
            (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", true, false),
            (b"GIF89a", true, false),
            (webp, true, false),
            (b"RIFF\0\0\0\0WAVEfmt ", false, false),
            (b"<svg xmlns='http://www.w3.org/2000/svg'>", false, false),
            (b"\xef\xbb\xbf \n<?xml version='1.0'?>", false, true),
            (b"<rss version='2.0'>", false, true),
            (b"{\"version\"", false, true),
            (b"PK\x03\x04", false, false),
            (b"<!doctype html>", false, false),
            (b"", false, false),
        ] {
            for label in ["application/octet-stream", "Binary/Octet-Stream", "text/plain; charset=utf-8"] {
                assert_eq!(may_begin(Image, Some(label), start), is_image, "{label} {start:?}");
                assert_eq!(may_begin(Home, Some(label), start), is_feed, "{label} {start:?}");
            }
            assert_eq!(may_begin(Image, None, start), is_image, "{start:?}");
            let labelled = may_begin(Image, Some("image/png"), start) && may_begin(Home, Some("text/html"), start);
            assert!(
                labelled && may_begin(Page, None, start) && may_begin(Feed, Some("text/plain"), start),
                "{start:?}"
            );
        }
    }
}
