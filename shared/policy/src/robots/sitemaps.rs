//! Lines of a robots.txt that name sitemaps (sitemaps.org; RFC 9309 §2.2.4 permits other records).

use super::{MAX_BYTES, MAX_LINE_BYTES};
use std::collections::BTreeSet;

const MAX_SITEMAPS: usize = 1_000;

/// Returns the addresses in the `Sitemap:` lines, each once, as written; they belong to no group.
pub fn sitemaps(body: &[u8]) -> Vec<String> {
    let body = &body[..body.len().min(MAX_BYTES)];
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    let mut known = BTreeSet::new();
    body.split(|byte| matches!(byte, b'\n' | b'\r'))
        .filter(|line| line.len() <= MAX_LINE_BYTES)
        .filter_map(|line| {
            let (key, value) = line.split_at(line.iter().position(|byte| *byte == b':')?);
            let is_sitemap = key.trim_ascii().eq_ignore_ascii_case(b"sitemap");
            let value = value.get(1..).filter(|_| is_sitemap)?.trim_ascii();
            // A comment begins after white space: `#` may be part of an address.
            let value = value.split(u8::is_ascii_whitespace).next().filter(|value| !value.is_empty())?;
            String::from_utf8(value.to_vec()).ok()
        })
        .filter(|address| known.insert(address.clone()))
        .take(MAX_SITEMAPS)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sitemaps_are_named_by_lines_of_their_own_wherever_they_stand() {
        let file = b"\xef\xbb\xbfSITEMAP : https://example.org/a.xml # all\r\nUser-agent: *\nDisallow: /a\nsitemap:/b.xml\n\
            Sitemap:\nSitemap: https://example.org/a.xml\n# Sitemap: https://example.org/c.xml\nSitemaps: /d.xml\nSitemap";
        assert_eq!(sitemaps(file), ["https://example.org/a.xml", "/b.xml"]);
        assert_eq!(sitemaps(b""), [""; 0]);
        let many: String = (0..5_000).map(|n| format!("Sitemap: /{n}.xml\n")).collect();
        assert_eq!(sitemaps(many.as_bytes()).len(), MAX_SITEMAPS);
    }
}
