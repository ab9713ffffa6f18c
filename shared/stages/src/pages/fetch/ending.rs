//! The end of items and visits: rows that say why a page is not kept, and jobs for what is left.

use super::{Fetch, Item, VisitRest, VisitRun};
use crate::pages::page_row;
use crate::stage::{StageError, Verdict};
use curlew_model::{
    HoldReason, HostKey, Job, Page, PageId, PageState, Purpose, Rejection, Timestamp, VisitItem, VisitJob,
};
use curlew_policy::politeness::deferral::{self, Deferral};
use curlew_ports::Event;
use url::Url;

impl Fetch {
    pub(super) async fn reject(
        &self,
        round: &VisitRun<'_, '_>,
        item: &VisitItem,
        why: Rejection,
    ) -> Result<Item, StageError> {
        self.write_rejection(round.job, item, why).await?;
        Ok(Item::Done)
    }

    pub(super) async fn write_rejection(
        &self,
        job: &VisitJob,
        item: &VisitItem,
        why: Rejection,
    ) -> Result<(), StageError> {
        let Ok(url) = Url::parse(&item.url) else { return Ok(()) };
        let state = PageState::Rejected { reason: why.clone() };
        let row = page_row(&item.page, &url, &job.host, job, state, self.politeness.clock.now());
        if matches!(item.purpose, Purpose::New { .. }) && page_row::write(self.pages.as_ref(), &row).await? {
            self.politeness.events.note(&Event::Rejected(&why));
            tracing::debug!(%url, reason = %why, "a page is not taken in");
        }
        Ok(())
    }

    pub(super) async fn alias(&self, round: &VisitRun<'_, '_>, item: &VisitItem, of: PageId) -> Result<(), StageError> {
        let Ok(url) = Url::parse(&item.url) else { return Ok(()) };
        let now = self.politeness.clock.now();
        let row = page_row(&item.page, &url, &round.job.host, round.job, PageState::Alias { of }, now);
        if page_row::write(self.pages.as_ref(), &row).await? {
            self.politeness.events.note(&Event::Alias);
        }
        Ok(())
    }

    /// The whole job waits; or, if its host was held too often, its pages are given up with the reason.
    pub(super) async fn put_off(
        &self,
        job: &VisitJob,
        until: Timestamp,
        why: HoldReason,
    ) -> Result<Verdict, StageError> {
        let after = deferral::of_held_host(job.deferrals, until, why, &self.politeness.rules);
        self.defer(job, &job.items, after, why.as_str()).await?;
        Ok(Verdict::Done)
    }

    /// Sends on what is left of a visit, before the job is acknowledged; or gives it up.
    ///
    /// # Errors
    /// The errors of the ports.
    pub(crate) async fn leave(&self, job: &VisitJob, left: VisitRest) -> Result<(), StageError> {
        let (rules, now) = (&self.politeness.rules, self.politeness.clock.now());
        for ((until, wait), items) in left.apart {
            let after = deferral::of_items_apart(wait, job.deferrals, until, rules, now);
            self.defer(job, &items, after, "repeatedly refused, cut short or unreachable").await?;
        }
        let Some(rest) = left.rest else { return Ok(()) };
        let after = deferral::of_remainder(job.deferrals, rest, rules, self.politeness.clock.now());
        self.defer(job, &job.items[rest.done..], after, "repeatedly on hold or out of time").await
    }

    async fn defer(&self, job: &VisitJob, items: &[VisitItem], after: Deferral, why: &str) -> Result<(), StageError> {
        match after {
            Deferral::GivenUp => {
                for item in items {
                    self.write_rejection(job, item, Rejection::HostUnavailable(why.to_owned())).await?;
                }
                Ok(())
            }
            Deferral::Again { at, deferrals } => {
                self.politeness.events.note(&Event::PutOff);
                let rest = VisitJob { items: items.to_vec(), deferrals, waits: 0, ..job.clone() };
                Ok(self.queue.send(&[(Job::Fetch(rest), at)]).await?)
            }
        }
    }
}

/// The row of a page as it is written by a visit.
pub(super) fn page_row(
    id: &PageId,
    url: &Url,
    host: &HostKey,
    job: &VisitJob,
    state: PageState,
    at: Timestamp,
) -> Page {
    Page {
        feed: job.feed.clone(),
        trace: job.trace.clone(),
        ..Page::new(id.clone(), url.as_str().to_owned(), host.clone(), state, at)
    }
}
