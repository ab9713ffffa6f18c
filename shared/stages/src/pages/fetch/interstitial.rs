//! Interstitials: a text that stands in place of several pages of a host removes none of them and rejects none for good.

use super::{Fetch, Item, ScannedPage, VisitRun, waits};
use crate::parsing::parsed;
use crate::politeness::visit::{CallEnd, Fetched, Visit};
use crate::stage::StageError;
use curlew_article::{Article, Limits, decode, extract, validity};
use curlew_model::{EntryHints, HoldReason, HostState, Page, PageId, Rejection, Timestamp, Validators};
use curlew_policy::politeness::interstitial::{self, text_key};
use curlew_ports::{CallKind, Event, Reply};
use url::Url;

/// Bytes of a document up to which a page that is new is looked at for an interstitial; they are small, and extraction reads
/// the document once more.
const LOOKED_AT_BYTES: usize = 32 * 1024;
/// Stands for any image, where only title and text are judged.
const ANY_IMAGE: &str = "image";

impl Fetch {
    /// Whether a new page may be one that an interstitial hides: then the host is held and the item waits.
    pub(super) async fn new_page_hidden(
        &self,
        round: &mut VisitRun<'_, '_>,
        (page, hints): (&PageId, &EntryHints),
        url: &Url,
        seen: &ScannedPage,
    ) -> Result<Option<Item>, StageError> {
        if seen.html.len() > LOOKED_AT_BYTES {
            round.visit.own_text();
            return Ok(None);
        }
        let Some(article) = self.article(&seen.html, url).await? else { return Ok(None) };
        let title = article.title.as_deref().or(hints.title.as_deref());
        let valid = validity(title, &article.text, Some(ANY_IMAGE));
        let is_short = matches!(valid, Err(Rejection::NoTitle | Rejection::ShortText));
        let key = key_of(&article);
        if !is_short && !round.visit.has_substitute(key) {
            round.visit.own_text();
            return Ok(None);
        }
        round.visit.substituted(key, page);
        Ok(self.hidden(round, url, key))
    }

    /// The same of one that asks not to be indexed.
    pub(super) async fn new_noindex_hidden(
        &self,
        round: &mut VisitRun<'_, '_>,
        page: &PageId,
        url: &Url,
        reply: &Reply,
    ) -> Result<Option<Item>, StageError> {
        if reply.body.len() > LOOKED_AT_BYTES {
            return Ok(None);
        }
        let Some(article) = self.shown_by(reply, url).await? else { return Ok(None) };
        let key = key_of(&article);
        round.visit.substituted(key, page);
        Ok(self.hidden(round, url, key))
    }

    /// The article of a document, if it can be read.
    pub(super) async fn article(&self, html: &str, url: &Url) -> Result<Option<Article>, StageError> {
        let (owned, base) = (html.to_owned(), url.clone());
        let read = move || extract(&owned, &base, &Limits::default()).ok();
        Ok(parsed(self.politeness.pool.as_ref(), html.len(), read).await?.ok().flatten())
    }

    /// The article of an answer, if there is one to read.
    pub(super) async fn shown_by(&self, reply: &Reply, url: &Url) -> Result<Option<Article>, StageError> {
        if reply.body_skipped {
            return Ok(None);
        }
        let (body, media, base) = (reply.body.clone(), reply.headers.content_type.clone(), url.clone());
        let read = move || extract(&decode(&body, media.as_deref()), &base, &Limits::default()).ok();
        Ok(parsed(self.politeness.pool.as_ref(), reply.body.len(), read).await?.ok().flatten())
    }

    /// Holds the host and lets the visit wait, if this text is known to be an interstitial.
    pub(super) fn hidden(&self, round: &mut VisitRun<'_, '_>, url: &Url, key: u32) -> Option<Item> {
        if !round.visit.is_interstitial(key) {
            return None;
        }
        let until = round.visit.hold_interstitial();
        tracing::info!(host = %round.visit.state.host, %url, %until, "one text stands in place of several pages; the host is held");
        Some(Item::Later { until, held: true })
    }

    /// A page is about to be removed since it shows this text: if the home page of its site shows it too, it stands before all
    /// pages and the removal waits. A page that led to the home page says nothing of that.
    pub(super) async fn home_is_hidden(
        &self,
        round: &mut VisitRun<'_, '_>,
        page: &Page,
        got: &Fetched,
        key: u32,
    ) -> Result<Option<Item>, StageError> {
        let home = Url::parse(&page.url).ok().and_then(|url| url.join("/").ok());
        let Some(home) = home.filter(|home| *home != got.url && home.as_str() != page.url) else { return Ok(None) };
        let answer = round.visit.get(&home, CallKind::Page, &Validators::default()).await?;
        let reply = match &answer.end {
            CallEnd::Reply(reply) => reply,
            CallEnd::Rejected(_) => return Ok(None),
            end => return Ok(waits(end)),
        };
        if let Some(until) = round.visit.url_held_until(reply, round.job.deferrals) {
            return Ok(Some(Item::Apart(until)));
        }
        let article = if reply.status == 200 { self.shown_by(reply, &answer.url).await? } else { None };
        if article.is_none_or(|article| key_of(&article) != key) {
            return Ok(None);
        }
        round.visit.covers_home(key);
        Ok(self.hidden(round, &got.url, key))
    }
}

impl Visit<'_> {
    /// Notes that a page showed a text that is not its own.
    pub(super) fn substituted(&mut self, text: u32, page: &PageId) {
        self.change(|state| interstitial::substituted(state, text, page));
    }

    /// Notes that a page showed a text of its own.
    pub(super) fn own_text(&mut self) {
        self.change(interstitial::own_text);
    }

    /// Notes that the home page shows a text that stood in place of another page.
    pub(super) fn covers_home(&mut self, text: u32) {
        self.change(|state| interstitial::covers_home(state, text));
    }

    /// True if a text stood in place of a page of this host lately.
    pub(super) fn has_substitute(&self, text: u32) -> bool {
        self.state.learned.substitutes.texts.iter().any(|known| known.text == text)
    }

    /// True if a text is known to stand in place of several pages of this host.
    pub(super) fn is_interstitial(&self, text: u32) -> bool {
        interstitial::is_interstitial(&self.state.learned, text)
    }

    /// Leaves the host alone once this visit is closed, since it shows an interstitial; says until when.
    pub(super) fn hold_interstitial(&mut self) -> Timestamp {
        let (now, seed) = (self.politeness.clock.now(), self.politeness.seeds.next());
        let rules = self.politeness.rules.clone();
        self.change(|state| interstitial::hold_interstitial(state, &rules, now, seed));
        self.politeness.events.note(&Event::Held { host: &self.state.host, reason: HoldReason::Interstitial });
        self.state.learned.hold.as_ref().map_or(now, |hold| hold.until)
    }

    fn change(&mut self, change: impl FnOnce(HostState) -> HostState) {
        let state = std::mem::take(&mut self.state.learned);
        self.state.learned = change(state);
    }
}

/// The key of what a page says.
pub(super) fn key_of(article: &Article) -> u32 {
    text_key(article.title.as_deref().unwrap_or_default(), &article.text)
}
