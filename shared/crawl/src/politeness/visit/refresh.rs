//! Refreshes: documents that only lead to another URL, and count as redirects.

use super::*;
use curlew_article::{Refresh, scan_head};
use curlew_policy::politeness::redirect;

/// Number of bytes at the start of a document that are searched for a refresh, which is in the head.
const HEAD_BYTES: usize = 16 * 1024;

impl Visit {
    /// Returns the target of a refresh that counts as a redirect. The refresh of a bot wall does not.
    pub(super) async fn refresh_of(&self, reply: &Reply, url: &Url, kind: CallKind) -> Result<Option<Url>> {
        if reply.status != 200 || !matches!(kind, CallKind::Home | CallKind::Feed | CallKind::Page) {
            return Ok(None);
        }
        let (head, header) = (reply.body.slice(..reply.body.len().min(HEAD_BYTES)), reply.headers.refresh.clone());
        if header.is_none() && !has_meta_refresh(&head) {
            return Ok(None);
        }
        let (media, base, bytes) = (reply.headers.content_type.clone(), url.clone(), head.len());
        let read = move || {
            let html = decode(&head, media.as_deref());
            if marks::in_document(&html, "").wall.is_some() {
                return None;
            }
            let stated = header.and_then(|value| Refresh::parse(&value, &base));
            stated.or_else(|| scan_head(&html, &base, &Limits::default()).ok()?.refresh)
        };
        let refresh = parsed(self.politeness.pool.as_ref(), bytes, read).await?.ok().flatten();
        let is_article = kind == CallKind::Page;
        let followed = refresh.filter(|refresh| redirect::is_refresh_followed(refresh.seconds, is_article));
        Ok(followed.and_then(|refresh| refresh.target))
    }
}

/// Returns true if a document seems to be HTML with a refresh; one that a feed quotes does not count.
fn has_meta_refresh(head: &[u8]) -> bool {
    let begins_so = head.trim_ascii_start().get(..5).is_some_and(|start| start.eq_ignore_ascii_case(b"<meta"));
    let is_refresh = |word: &[u8]| matches!(word[0], b'r' | b'R') && word.eq_ignore_ascii_case(b"refresh");
    (begins_so || is_html(head)) && head.windows(7).any(is_refresh)
}
