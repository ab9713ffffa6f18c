//! Re-checks: an indexed page is fetched again, and leaves the index if it is gone or must not be indexed.

use super::*;
use crate::pages::variant::hash_of;
use curlew_policy::page::sampling::{Recheck, by_doubt, by_status};
use curlew_policy::page::soft404::{PageText, is_same_page};
use curlew_policy::politeness::interstitial;
use curlew_ports::PortError;
use curlew_ports::stage::StageError;

enum Shown {
    /// The text of the page's record, or no text that can be compared.
    Own,
    /// The page shows its own text, which has changed since the record was made.
    Revised(Box<(Article, Record)>),
    /// Another text, with this key.
    Other(u32),
    /// A bot wall of this vendor.
    Walled(&'static str),
    Parked,
}

impl Fetch {
    pub(super) async fn recheck(&self, round: &mut Round<'_>, item: &VisitItem, url: &Url) -> Result<Item> {
        // A page that the operator's override rejects need not be fetched.
        if self.override_of(url.as_str()).await?.is_some_and(|rule| rule.verdict == Judged::Reject) {
            return self.remove(round, &item.page, &item.url, Gone::Screened).await;
        }
        let page = self.pages.get(&item.page).await?.map(|(page, _)| page);
        if page.as_ref().is_some_and(|page| !matches!(page.state, PageState::Accepted { .. })) {
            return Ok(Item::Done);
        }
        let validators = page.as_ref().map(|page| conditional::to_ask(&page.validators)).unwrap_or_default();
        let got = round.visit.get(url, CallKind::Page, &validators).await?;
        let Some(page) = page else { return Ok(waits(&got.end).unwrap_or(Item::Done)) };
        let found = match &got.end {
            CallEnd::Reply(reply) => return self.answered(round, &page, reply, &got).await,
            CallEnd::Rejected(Rejection::Robots | Rejection::RobotsDoubted) => Recheck::Gone(Gone::Robots),
            CallEnd::Rejected(Rejection::Blocked) => Recheck::Gone(Gone::Blocked),
            CallEnd::Rejected(Rejection::Excluded(_)) => Recheck::Gone(Gone::Excluded),
            CallEnd::Rejected(_) => Recheck::Unknown,
            end => return Ok(waits(end).unwrap_or(Item::Done)),
        };
        self.settle(round, &page, &got, found).await
    }

    /// Applies an outcome. A removal after a redirect is only a doubt, since a server may redirect every client to a
    /// login or a waiting page.
    async fn settle(&self, round: &mut Round<'_>, page: &Page, got: &Fetched, found: Recheck) -> Result<Item> {
        match found {
            Recheck::Gone(reason) if got.hops > 0 => {
                let led_to = interstitial::text_key(got.url.host_str().unwrap_or_default(), got.url.path());
                self.doubted(round, page, &got.url, Shown::Other(led_to), reason).await
            }
            found => self.apply(round, page, found).await,
        }
    }

    async fn answered(&self, round: &mut Round<'_>, page: &Page, reply: &Reply, got: &Fetched) -> Result<Item> {
        let seen = match by_status(reply.status) {
            Recheck::Present if reply.status == 304 => None,
            Recheck::Present => match rejected_apart(self.look(reply, &got.url).await)? {
                Err(Rejection::Noindex) => {
                    let shown = match reply.body_skipped {
                        false => self.compare(page, html_of(reply), &got.url).await?,
                        true => Shown::Own,
                    };
                    return self.doubted(round, page, &got.url, shown, Gone::Noindex).await;
                }
                Err(_) => return self.still_there(round, &page.id, None, None).await,
                Ok(seen) if seen.directives.expired(self.politeness.clock.now()) => {
                    return self.settle(round, page, got, Recheck::Gone(Gone::Expired)).await;
                }
                Ok(seen) => Some(seen),
            },
            other => return self.settle(round, page, got, other).await,
        };
        let glance = seen.as_ref().map(|seen| &seen.glance);
        let preferences = match round.visit.stated(&got.url, reply, glance).await? {
            StatedUsage::MayBeFound(preferences) => preferences,
            StatedUsage::Refused(_) => {
                return self.settle(round, page, got, Recheck::Gone(Gone::Preference)).await;
            }
            StatedUsage::Unknown(end) => return Ok(waits(&end).unwrap_or(Item::Done)),
        };
        let Some(seen) = &seen else {
            round.visit.change(interstitial::own_text);
            return self.still_there(round, &page.id, None, None).await;
        };
        let calls_left = self.calls_left(got);
        let found = PageFacts { got, reply, seen, preferences, image: None, calls_left };
        self.readable(round, page, found).await
    }

    async fn readable(&self, round: &mut Round<'_>, page: &Page, found: PageFacts<'_>) -> Result<Item> {
        let PageFacts { got, seen, reply, .. } = found;
        let shown = self.compare(page, seen.html.to_string(), &got.url).await?;
        if got.hops > 0 {
            let known_as = self.known_as(round, &page.url, got, seen).await?;
            if address::page_id(&known_as) != page.id {
                let is_home = known_as.path() == "/" && known_as.query().is_none();
                if got.moved_for_good && !is_home {
                    return self.moved(round, page, &got.url, shown, &known_as).await;
                }
                // The URL redirects temporarily, or to the home page, as servers do with unknown URLs.
                let reason = if is_home { Gone::Replaced } else { Gone::Moved };
                return self.doubted(round, page, &got.url, shown, reason).await;
            }
        }
        match shown {
            Shown::Own => {
                round.visit.change(interstitial::own_text);
                let validators = conditional::for_page(&reply.headers.validators);
                self.still_there(round, &page.id, Some(&seen.directives), Some(validators)).await
            }
            Shown::Revised(revised) => {
                round.visit.change(interstitial::own_text);
                self.revised(round, page, &revised.0, &revised.1, found).await
            }
            other => self.doubted(round, page, &got.url, other, Gone::Replaced).await,
        }
    }

    /// Removes a page that has moved permanently, unless several pages have moved to the same text.
    async fn moved(&self, round: &mut Round<'_>, page: &Page, url: &Url, shown: Shown, to: &Url) -> Result<Item> {
        match shown {
            Shown::Walled(vendor) => return Ok(self.hold(round, url, vendor)),
            Shown::Other(key) => {
                round.visit.change(|state| interstitial::substituted(state, key, &page.id));
                if let Some(waits) = self.hidden(round, url, key) {
                    return Ok(waits);
                }
            }
            _ => {}
        }
        // The page is fetched under its new address, if that has the same host key.
        if self.politeness.key_of(to).ok().as_ref() == Some(&page.host) {
            let purpose = Purpose::New { hints: EntryHints::default() };
            let item = VisitItem { url: to.as_str().to_owned(), page: address::page_id(to), purpose };
            self.send_visit(page, item, self.politeness.clock.now(), round.job.trace.as_ref()).await?;
        }
        self.remove(round, &page.id, &page.url, Gone::Moved).await
    }

    /// Lets a second look decide about a page, unless one text replaces several pages of its host.
    async fn doubted(&self, round: &mut Round<'_>, page: &Page, url: &Url, shown: Shown, reason: Gone) -> Result<Item> {
        let mut found = by_doubt(page.doubted_at, reason, &self.politeness.rules, self.politeness.clock.now());
        if let Shown::Walled(vendor) = shown {
            let waits = self.hold(round, url, vendor);
            self.trust(&page.id).await?;
            return Ok(waits);
        }
        // The page itself asks not to be indexed. If other pages do too, there is nothing to doubt.
        let asks = reason == Gone::Noindex && matches!(shown, Shown::Own | Shown::Revised(_));
        if asks {
            round.visit.change(|state| interstitial::own_noindex(state, &page.id));
            if interstitial::is_noindex_site_wide(&round.visit.state.learned) {
                found = Recheck::Gone(reason);
            }
        }
        if let Shown::Other(key) = shown {
            let was_refuted = interstitial::is_refuted(&round.visit.state.learned, key, &page.id);
            // Second looks are at pages that were replaced before, so they say nothing about other pages.
            if matches!(found, Recheck::Doubtful { is_new: true, .. }) {
                round.visit.change(|state| interstitial::substituted(state, key, &page.id));
            }
            let mut hidden = self.hidden(round, url, key);
            if hidden.is_none() && matches!(found, Recheck::Gone(_)) {
                hidden = self.home_is_hidden(round, page, url, key).await?;
            }
            if let Some(waits) = hidden {
                if interstitial::is_interstitial(&round.visit.state.learned, key) {
                    self.trust(&page.id).await?;
                }
                return Ok(waits);
            }
            // As long as no page of the host shows its own text, a wall may hide the pages that are called.
            let (rules, now) = (&self.politeness.rules, self.politeness.clock.now());
            let (looks, learned) = (sampling::looks_since(page.doubted_at, rules, now), &round.visit.state.learned);
            if matches!(found, Recheck::Gone(_))
                && let Some(at) = interstitial::look_again_at(learned, key, was_refuted, looks, rules, now)
            {
                let item = VisitItem { url: page.url.clone(), page: page.id.clone(), purpose: Purpose::Recheck };
                self.send_visit(page, item, at, round.job.trace.as_ref()).await?;
                return Ok(Item::Done);
            }
        }
        self.apply(round, page, found).await
    }

    async fn compare(&self, page: &Page, html: String, url: &Url) -> Result<Shown> {
        // An unreadable page is no evidence.
        let read = read_article(self.politeness.pool.as_ref(), html, url).await?;
        let Some((html, article)) = read else { return Ok(Shown::Own) };
        let PageState::Accepted { location, content_hash, .. } = &page.state else { return Ok(Shown::Own) };
        let title = article.title.as_deref().unwrap_or_default();
        if hash_of(title, &article.text) == *content_hash {
            return Ok(Shown::Own);
        }
        let marked = marks::in_document(&html, &article.text);
        if let Some(vendor) = marks::by_address(url).or(marked.wall) {
            return Ok(Shown::Walled(vendor));
        }
        let record = match RecordReader(self.blobs.as_ref()).read(location).await {
            Ok(Some(record)) => record,
            // There is nothing to compare with.
            Ok(None) | Err(StageError::Port(PortError::NotFound(_))) => return Ok(Shown::Own),
            Err(error) => return Err(error),
        };
        let then = PageText { title: &record.title, text: &record.text };
        if !is_same_page(then, PageText { title, text: &article.text }) {
            return Ok(if marked.is_parked { Shown::Parked } else { Shown::Other(key_of(&article)) });
        }
        // The title of the record may come from the feed.
        let is_unchanged =
            article.title.as_ref().is_none_or(|title| *title == record.title) && article.text == record.text;
        Ok(if is_unchanged { Shown::Own } else { Shown::Revised(Box::new((article, record))) })
    }

    async fn apply(&self, round: &Round<'_>, page: &Page, found: Recheck) -> Result<Item> {
        match found {
            Recheck::Gone(reason) => return self.remove(round, &page.id, &page.url, reason).await,
            Recheck::Doubtful { until, is_new: true } => {
                // The visit is sent first: a doubt without one would last until the next sample.
                let item = VisitItem { url: page.url.clone(), page: page.id.clone(), purpose: Purpose::Recheck };
                tracing::info!(
                    url = %page.url,
                    host = %round.visit.state.host,
                    "a page is replaced or asks not to be indexed; a second look decides"
                );
                self.send_visit(page, item, until, round.job.trace.as_ref()).await?;
                self.doubt(&page.id).await?;
            }
            Recheck::Doubtful { is_new: false, .. } | Recheck::Present | Recheck::Unknown => {}
        }
        Ok(Item::Done)
    }

    async fn send_visit(&self, page: &Page, item: VisitItem, at: Timestamp, trace: Option<&TraceId>) -> Result<()> {
        let visit = VisitJob { feed: page.feed.clone(), ..VisitJob::new(page.host.clone(), vec![item]) };
        self.send(visit, at, trace).await
    }
}
