//! Detects interstitials in a visit, and records them in the host's state.

use super::*;
use curlew_article::{Article, extract};
use curlew_model::{HomeLook, PageId};
use curlew_policy::politeness::interstitial;

/// Maximum size in bytes of a document that is searched: interstitials are small, and the search parses it twice.
pub(crate) const LOOKED_AT_BYTES: usize = 32 * 1024;
/// Number of bytes at the start of a document that are searched for HTML tags.
const TELLING_BYTES: usize = 512;

impl Visit {
    /// Returns the vendor (empty if unknown) of an interstitial in place of a robots.txt, a feed or a home page: the
    /// document carries a vendor's mark, or has a text that lately replaced a page of this host.
    pub(crate) async fn interstitial_in(&self, reply: &Reply, url: &Url) -> Result<Option<&'static str>> {
        if reply.status != 200 || reply.body_skipped {
            return Ok(None);
        }
        if let Some(vendor) = marks::by_address(url) {
            return Ok(Some(vendor));
        }
        if reply.body.len() > LOOKED_AT_BYTES || !is_html(&reply.body) {
            return Ok(None);
        }
        let read = read_article(self.politeness.pool.as_ref(), html_of(reply), url).await?;
        let Some((html, article)) = read else { return Ok(None) };
        let marked = marks::in_document(&html, &article.text).wall;
        Ok(marked.or_else(|| self.has_substitute(key_of(&article)).then_some("")))
    }

    /// Gets a feed or sitemap, unless it is known; holds the host if a bot wall is in its place.
    pub(crate) async fn get_listing(&mut self, url: &Url, kind: CallKind, known: KnownDocument<'_>) -> Result<Fetched> {
        let mut got = self.get_unless(url, kind, known).await?;
        if let CallEnd::Reply(reply) = &got.end
            && let Some(vendor) = self.interstitial_in(reply, &got.url).await?
        {
            got.end = CallEnd::Held(self.hold_interstitial(vendor, &got.url), HoldReason::Interstitial);
        }
        Ok(got)
    }

    /// Records that a page was refused; returns true if the host's pages are refused, and not only this one.
    pub(crate) fn refused(&mut self, page: &PageId) -> bool {
        let (state, is_wall) = interstitial::refused(std::mem::take(&mut self.state.learned), page);
        self.state.learned = state;
        is_wall
    }

    pub(crate) fn home_look(&self, home: &Url) -> Option<HomeLook> {
        interstitial::home_look(&self.state.learned, hash_of(home), self.politeness.clock.now())
    }

    pub(crate) fn note_home(&mut self, home: &Url, text: Option<u32>) {
        let look = HomeLook { url: hash_of(home), text, at: self.politeness.clock.now() };
        self.change(|state| HostState { home_look: Some(look), ..state });
    }

    pub(crate) fn has_substitute(&self, text: u32) -> bool {
        self.state.learned.substitutes.texts.iter().any(|known| known.text == text)
    }

    /// Holds the host once this visit is closed, for an interstitial of this vendor; returns the end of the hold.
    pub(crate) fn hold_interstitial(&mut self, vendor: &str, url: &Url) -> Timestamp {
        let (now, seed) = (self.politeness.clock.now(), self.politeness.seeds.next());
        let rules = self.politeness.rules.clone();
        self.change(|state| interstitial::hold_interstitial(state, vendor, &rules, now, seed));
        self.politeness.events.note(&Event::Held { host: &self.state.host, reason: HoldReason::Interstitial });
        let until = self.state.learned.hold.as_ref().map_or(now, |hold| hold.until);
        tracing::info!(
            host = %self.state.host,
            %url,
            vendor,
            %until,
            "a bot wall stands before the host's pages; the host is held"
        );
        until
    }

    /// Changes what this visit has learned about the host.
    pub(crate) fn change(&mut self, change: impl FnOnce(HostState) -> HostState) {
        let state = std::mem::take(&mut self.state.learned);
        self.state.learned = change(state);
    }
}

pub(crate) async fn read_article(pool: &dyn CpuPool, html: String, url: &Url) -> Result<Option<(String, Article)>> {
    let (bytes, base) = (html.len(), url.clone());
    let read = move || extract(&html, &base, &Limits::default()).ok().map(|article| (html, article));
    Ok(parsed(pool, bytes, read).await?.ok().flatten())
}

pub(crate) fn html_of(reply: &Reply) -> String {
    decode(&reply.body, reply.headers.content_type.as_deref()).into_owned()
}

fn hash_of(url: &Url) -> u32 {
    CallTarget::new(url.as_str(), Role::Document).url
}

pub(crate) fn key_of(article: &Article) -> u32 {
    interstitial::text_key(article.title.as_deref().unwrap_or_default(), &article.text)
}

pub(crate) fn is_html(body: &[u8]) -> bool {
    let start = String::from_utf8_lossy(body.get(..TELLING_BYTES).unwrap_or(body)).to_ascii_lowercase();
    ["<html", "<!doctype html", "<head", "<body"].iter().any(|tag| start.contains(tag))
}
