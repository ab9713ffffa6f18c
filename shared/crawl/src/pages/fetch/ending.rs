//! The end of items and visits: rows that say why a page is not kept, and jobs for what is left.

use super::{Fetch, Item, VisitRest, VisitRun};
use crate::pages::page_row;
use curlew_model::{Envelope, HostKey, Page, PageId, PageState, Purpose, Rejection, Timestamp, VisitItem, VisitJob};
use curlew_policy::politeness::admission::NotNow;
use curlew_policy::politeness::deferral::{self, Deferral};
use curlew_ports::Event;
use curlew_ports::stage::{Result, Verdict};
use url::Url;

impl Fetch {
    pub(super) async fn reject(&self, round: &VisitRun<'_, '_>, item: &VisitItem, why: Rejection) -> Result<Item> {
        self.write_rejection(round.job, item, why).await?;
        Ok(Item::Done)
    }

    pub(super) async fn write_rejection(
        &self,
        job: &Envelope<VisitJob>,
        item: &VisitItem,
        why: Rejection,
    ) -> Result<()> {
        let Ok(url) = Url::parse(&item.url) else { return Ok(()) };
        let state = PageState::Rejected { reason: why.clone() };
        let row = page_row(&item.page, &url, &job.work.host, job, state, self.politeness.clock.now());
        if matches!(item.purpose, Purpose::New { .. }) && page_row::write(self.pages.as_ref(), &row).await? {
            self.politeness.events.note(&Event::Rejected(&why));
            tracing::debug!(%url, reason = %why, "a page is not taken in");
        }
        Ok(())
    }

    pub(super) async fn alias(&self, round: &VisitRun<'_, '_>, item: &VisitItem, of: PageId) -> Result<()> {
        let Ok(url) = Url::parse(&item.url) else { return Ok(()) };
        let now = self.politeness.clock.now();
        let row = page_row(&item.page, &url, &round.job.work.host, round.job, PageState::Alias { of }, now);
        if page_row::write(self.pages.as_ref(), &row).await? {
            self.politeness.events.note(&Event::Alias);
        }
        Ok(())
    }

    /// Defers the whole job; or, if its host was held too often, gives its pages up with the reason.
    pub(super) async fn put_off(&self, job: &Envelope<VisitJob>, not_now: NotNow) -> Result<Verdict> {
        let NotNow { until, why: Some(why) } = not_now else {
            let again = deferral::of_busy_host(job.waits, not_now.until, self.politeness.clock.now());
            return Ok(Verdict::Defer(again));
        };
        let after = deferral::of_held_host(job.deferrals, until, why, &self.politeness.rules);
        self.defer(job, &job.work.items, after, why.as_str()).await?;
        Ok(Verdict::Done)
    }

    /// Sends on what is left of a visit, before the job is acknowledged; or gives it up.
    pub(crate) async fn leave(&self, job: &Envelope<VisitJob>, left: VisitRest) -> Result<()> {
        let (rules, now) = (&self.politeness.rules, self.politeness.clock.now());
        for ((until, wait), items) in left.apart {
            let after = deferral::of_items_apart(wait, job.deferrals, until, rules, now);
            self.defer(job, &items, after, "repeatedly refused, cut short or unreachable").await?;
        }
        let Some(rest) = left.rest else { return Ok(()) };
        let after = deferral::of_remainder(job.deferrals, rest, rules, self.politeness.clock.now());
        self.defer(job, &job.work.items[rest.done..], after, "repeatedly on hold or out of time").await
    }

    async fn defer(&self, job: &Envelope<VisitJob>, items: &[VisitItem], after: Deferral, why: &str) -> Result<()> {
        match after {
            Deferral::GivenUp => {
                for item in items {
                    self.write_rejection(job, item, Rejection::HostUnavailable(why.to_owned())).await?;
                }
                Ok(())
            }
            Deferral::Again { at, deferrals } => {
                self.politeness.events.note(&Event::PutOff);
                let rest = job.with(VisitJob { items: items.to_vec(), ..job.work.clone() });
                let rest = Envelope { deferrals, waits: 0, ..rest };
                Ok(self.queue.send(&[(rest.into_job(), at)]).await?)
            }
        }
    }
}

/// The row of a page as it is written by a visit.
pub(super) fn page_row(
    id: &PageId,
    url: &Url,
    host: &HostKey,
    job: &Envelope<VisitJob>,
    state: PageState,
    at: Timestamp,
) -> Page {
    Page {
        feed: job.work.feed.clone(),
        trace: job.trace.clone(),
        ..Page::new(id.clone(), url.as_str().to_owned(), host.clone(), state, at)
    }
}
