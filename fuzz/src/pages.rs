//! Fuzz targets of pages and images.

use crate::input::{first_line, unfolded, within};
use curlew_article::{Limits, measure, scan_head};
use curlew_crawl::pages::image::{DECODED_BYTES, scaled_down};
use url::Url;

/// Maximum number of steps: for an empty page, and for each byte of a page (`shared/article/tests/it/work.rs`).
const ARTICLE: (u64, u64) = (9_000_000, 12);
/// Maximum length of a thumbnail in bytes: twice that of its pixels.
const MAX_THUMBNAIL: usize = 320 * 214 * 3 * 2;

/// Extracts the article of a page.
pub(crate) fn article(data: &[u8]) {
    let html = unfolded(data);
    let html = String::from_utf8_lossy(&html);
    let Ok(url) = Url::parse("https://news.example.org/2026/05/01/story.html") else { return };
    let limits = Limits::default();
    let (read, work) = measure(&html, &url, &limits);
    within(work.total(), ARTICLE.0, ARTICLE.1, html.len());
    let _ = scan_head(&html, &url, &Limits::default());
    let Ok(article) = read else { return };
    assert_eq!(Ok(&article), measure(&html, &url, &limits).0.as_ref(), "the same twice");
    assert!(article.text.len() <= 4 * html.len() + 4, "a text is no longer than its page");
}

/// Decodes a body, with and without its `Content-Type`, which is the first line of the input.
pub(crate) fn decode(data: &[u8]) {
    let (head, body) = first_line(data);
    let (content_type, body) = (String::from_utf8_lossy(head), unfolded(body));
    for content_type in [None, Some(&*content_type)] {
        let text = curlew_article::decode(&body, content_type);
        assert!(text.len() <= 3 * body.len() + 3, "a byte becomes one character at most, of three bytes at most");
    }
}

/// Makes a thumbnail of an image.
pub(crate) fn image(data: &[u8]) {
    match scaled_down(data, DECODED_BYTES) {
        Ok(jpeg) => assert!(jpeg.len() <= MAX_THUMBNAIL && jpeg.starts_with(&[0xFF, 0xD8])),
        Err(why) => assert!(!why.is_empty()),
    }
}
