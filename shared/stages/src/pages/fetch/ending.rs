//! How items and visits end: rows that say why a page is not kept, and jobs for what is left.

use super::{Fetch, Item, Round};
use crate::pages::page_row;
use crate::stage::{StageError, Verdict};
use curlew_model::{
    HoldReason, HostKey, Job, Page, PageId, PageState, Purpose, Rejection, Timestamp, Validators, VisitItem, VisitJob,
};
use curlew_policy::politeness::admission;
use curlew_policy::robots::UNREACHABLE_RETRY;
use curlew_ports::Event;
use std::collections::BTreeMap;
use url::Url;

impl Fetch {
    pub(super) async fn reject(
        &self,
        round: &Round<'_, '_>,
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
        let row = page_row(&item.page, &url, &job.host, job, state, self.manners.clock.now());
        if matches!(item.purpose, Purpose::New { .. }) && page_row::write(self.pages.as_ref(), &row).await? {
            self.manners.events.note(&Event::Rejected(&why));
        }
        Ok(())
    }

    pub(super) async fn alias(&self, round: &Round<'_, '_>, item: &VisitItem, of: PageId) -> Result<(), StageError> {
        let Ok(url) = Url::parse(&item.url) else { return Ok(()) };
        let now = self.manners.clock.now();
        let row = page_row(&item.page, &url, &round.job.host, round.job, PageState::Alias { of }, now);
        if page_row::write(self.pages.as_ref(), &row).await? {
            self.manners.events.note(&Event::Alias);
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
        let counts = admission::counts(why);
        if counts && admission::given_up(job.deferrals, &self.manners.rules) {
            for item in &job.items {
                self.write_rejection(job, item, Rejection::HostUnavailable(why.as_str().to_owned())).await?;
            }
            return Ok(Verdict::Done);
        }
        self.manners.events.note(&Event::PutOff);
        let job = Job::Fetch(job.clone());
        self.queue.send(&[(if counts { job.deferred() } else { job }, until)]).await?;
        Ok(Verdict::Done)
    }

    /// Sends on the items that wait for something else, later each time; or gives them up.
    pub(super) async fn leave_apart(
        &self,
        job: &VisitJob,
        apart: BTreeMap<Timestamp, Vec<VisitItem>>,
    ) -> Result<(), StageError> {
        let soonest = self.manners.clock.now() + UNREACHABLE_RETRY.saturating_mul(1 << job.deferrals.min(10));
        for (until, items) in apart {
            let rest = VisitJob { items, ..job.clone() };
            if admission::given_up(job.deferrals, &self.manners.rules) {
                for item in &rest.items {
                    let why = Rejection::HostUnavailable("refused, cut short or out of reach again and again".into());
                    self.write_rejection(job, item, why).await?;
                }
            } else {
                self.manners.events.note(&Event::PutOff);
                self.queue.send(&[(Job::Fetch(rest).deferred(), until.max(soonest))]).await?;
            }
        }
        Ok(())
    }

    /// Sends on what is left of a visit, before the job is acknowledged.
    pub(super) async fn leave(
        &self,
        job: &VisitJob,
        (done, calls): (usize, u32),
        end: Option<(Timestamp, bool)>,
    ) -> Result<(), StageError> {
        let Some((until, held)) = end else { return Ok(()) };
        // What began and did not end within a visit may never do so: without this, it would begin again for ever.
        let held = held || (done == 0 && calls > 0);
        let soonest = self.manners.clock.now() + self.manners.rules.again_after(job.deferrals);
        let until = if done == 0 { until.max(soonest) } else { until };
        // Progress starts the count anew: only a host that never lets anything through is given up.
        let deferrals = match (held, done) {
            (true, 0) => job.deferrals.saturating_add(1),
            (true, _) => 1,
            (false, _) => job.deferrals,
        };
        let rest = VisitJob { items: job.items[done..].to_vec(), deferrals, ..job.clone() };
        if held && admission::given_up(job.deferrals, &self.manners.rules) && done == 0 {
            let why = Rejection::HostUnavailable("held or out of time again and again".into());
            for item in &rest.items {
                self.write_rejection(job, item, why.clone()).await?;
            }
            return Ok(());
        }
        self.manners.events.note(&Event::PutOff);
        Ok(self.queue.send(&[(Job::Fetch(rest), until)]).await?)
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
        id: id.clone(),
        url: url.as_str().to_owned(),
        host: host.clone(),
        feed: job.feed.clone(),
        state,
        at,
        checked_at: None,
        expires: None,
        doubted_at: None,
        validators: Validators::default(),
    }
}
