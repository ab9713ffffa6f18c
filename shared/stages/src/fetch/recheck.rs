//! Re-checks: an indexed page is looked at again, and what is gone or must not be found leaves the index.

use super::{Fetch, Item, Round, Seen, waits};
use crate::StageError;
use crate::overrules;
use crate::segment::RecordReader;
use crate::usage::Stated;
use crate::variant::hash_of;
use crate::visit::{End, Got};
use curlew_article::{Limits, extract};
use curlew_model::{
    EntryHints, Gone, Job, Page, PageState, Purpose, Rejection, Timestamp, Validators, VisitItem, VisitJob,
};
use curlew_policy::address;
use curlew_policy::likeness::{Said, is_same_page};
use curlew_policy::sampling::{Recheck, by_doubt, by_status};
use curlew_ports::{CallKind, PortError, Reply};
use curlew_screen::{Overrule, Verdict as Judged};
use url::Url;

impl Fetch {
    pub(super) async fn recheck(
        &self,
        round: &mut Round<'_, '_>,
        item: &VisitItem,
        url: &Url,
    ) -> Result<Item, StageError> {
        // What the operator keeps out need not be asked for.
        if self.overrule(url.as_str()).await?.is_some_and(|rule| rule.verdict == Judged::Reject) {
            self.removal.remove(&item.page, Gone::Screened).await?;
            return Ok(Item::Done);
        }
        let page = self.pages.get(&item.page).await?.map(|(page, _)| page);
        if page.as_ref().is_some_and(|page| !matches!(page.state, PageState::Accepted { .. })) {
            return Ok(Item::Done);
        }
        let got = round.visit.get(url, CallKind::Page, &Validators::default()).await?;
        let Some(page) = page else { return Ok(waits(&got.end).unwrap_or(Item::Done)) };
        let found = match &got.end {
            End::Reply(reply) => return self.answered(round, &page, reply, &got).await,
            End::Rejected(Rejection::Robots) => Recheck::Gone(Gone::Robots),
            End::Rejected(Rejection::Blocked) => Recheck::Gone(Gone::Blocked),
            End::Rejected(Rejection::Excluded(_)) => Recheck::Gone(Gone::Excluded),
            End::Rejected(_) => Recheck::Unknown,
            end => return Ok(waits(end).unwrap_or(Item::Done)),
        };
        self.apply(round, &page, found).await?;
        Ok(Item::Done)
    }

    /// What the operator says of a page.
    pub(super) async fn overrule(&self, url: &str) -> Result<Option<Overrule>, StageError> {
        let rules = self.judge.rules(self.blobs.as_ref(), self.manners.clock.as_ref()).await?;
        Ok(overrules::about(&rules, url).cloned())
    }

    async fn answered(
        &self,
        round: &mut Round<'_, '_>,
        page: &Page,
        reply: &Reply,
        got: &Got,
    ) -> Result<Item, StageError> {
        let found = match by_status(reply.status) {
            Recheck::Present => match self.look(reply, &got.url) {
                Err(Rejection::Noindex) => Recheck::Gone(Gone::Noindex),
                Err(_) => {
                    self.removal.still_there(&page.id, None).await?;
                    return Ok(Item::Done);
                }
                Ok(seen) if seen.wishes.expired(self.manners.clock.now()) => Recheck::Gone(Gone::Expired),
                Ok(seen) => match round.visit.stated(&got.url, reply, &seen.glance.robots_meta).await? {
                    Stated::Refused(_) => Recheck::Gone(Gone::Preference),
                    Stated::Unknown(end) => return Ok(waits(&end).unwrap_or(Item::Done)),
                    Stated::MayBeFound(_) => match self.in_place_of(round, page, got, &seen).await? {
                        Recheck::Present => {
                            self.removal.still_there(&page.id, Some(&seen.wishes)).await?;
                            return Ok(Item::Done);
                        }
                        other => other,
                    },
                },
            },
            other => other,
        };
        self.apply(round, page, found).await?;
        Ok(Item::Done)
    }

    /// Whether what was found is the page; if the server leads to another one or shows something else, what follows.
    async fn in_place_of(
        &self,
        round: &mut Round<'_, '_>,
        page: &Page,
        got: &Got,
        seen: &Seen,
    ) -> Result<Recheck, StageError> {
        let (now, rules) = (self.manners.clock.now(), &self.manners.rules);
        if got.hops > 0 {
            let known_as = self.known_as(&mut round.visit, got, &seen.glance).await?;
            if address::page_id(&known_as) != page.id {
                let is_home = known_as.path() == "/" && known_as.query().is_none();
                if got.moved_for_good && !is_home {
                    self.follow(page, &known_as, now).await?;
                    return Ok(Recheck::Gone(Gone::Moved));
                }
                // For now it leads elsewhere, or to the home page, as servers do with addresses that they do not know.
                let reason = if is_home { Gone::Replaced } else { Gone::Moved };
                return Ok(by_doubt(page.doubted_at, reason, rules, now));
            }
        }
        if self.is_the_page(page, got, seen).await? {
            return Ok(Recheck::Present);
        }
        Ok(by_doubt(page.doubted_at, Gone::Replaced, rules, now))
    }

    /// Whether what the server shows is what it showed before, however it has changed.
    async fn is_the_page(&self, page: &Page, got: &Got, seen: &Seen) -> Result<bool, StageError> {
        let PageState::Accepted { location, content_hash, .. } = &page.state else { return Ok(true) };
        // What cannot be read says nothing.
        let Ok(article) = extract(&seen.html, &got.url, &Limits::default()) else { return Ok(true) };
        let title = article.title.unwrap_or_default();
        if hash_of(&title, &article.text) == *content_hash {
            return Ok(true);
        }
        let record = match RecordReader(self.blobs.as_ref()).read(location).await {
            Ok(Some(record)) => record,
            // There is nothing to compare with.
            Ok(None) | Err(StageError::Port(PortError::NotFound(_))) => return Ok(true),
            Err(error) => return Err(error),
        };
        let then = Said { title: &record.title, text: &record.text };
        Ok(is_same_page(then, Said { title: &title, text: &article.text }))
    }

    /// A page that has moved is taken in under its new address, if that is on the same host key.
    async fn follow(&self, page: &Page, to: &Url, now: Timestamp) -> Result<(), StageError> {
        if self.manners.key_of(to).ok().as_ref() != Some(&page.host) {
            return Ok(());
        }
        let purpose = Purpose::New { hints: EntryHints::default() };
        let item = VisitItem { url: to.as_str().to_owned(), page: address::page_id(to), purpose };
        self.send_visit(page, item, now).await
    }

    async fn apply(&self, round: &Round<'_, '_>, page: &Page, found: Recheck) -> Result<(), StageError> {
        match found {
            Recheck::Gone(reason) => self.removal.remove(&page.id, reason).await,
            Recheck::Doubtful(until) => {
                // First the visit: a doubt without one would last until the next sample.
                let item = VisitItem { url: page.url.clone(), page: page.id.clone(), purpose: Purpose::Recheck };
                if page.doubted_at.is_none() {
                    tracing::info!(url = %page.url, host = %round.visit.host, "something else stands in place of a page; a second look decides");
                    self.send_visit(page, item, until).await?;
                }
                self.removal.doubt(&page.id).await
            }
            Recheck::Present | Recheck::Unknown => Ok(()),
        }
    }

    async fn send_visit(&self, page: &Page, item: VisitItem, at: Timestamp) -> Result<(), StageError> {
        let visit = VisitJob {
            host: page.host.clone(),
            feed: page.feed.clone(),
            site_image: None,
            items: vec![item],
            deferrals: 0,
        };
        self.queue.send(&[(Job::Fetch(visit), at)]).await?;
        Ok(())
    }
}
