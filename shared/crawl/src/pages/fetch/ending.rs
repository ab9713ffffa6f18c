//! Ends items and visits: writes rows with the reason why a page is not kept, and sends jobs for remaining items.

use super::*;
use curlew_model::Work;
use curlew_policy::politeness::deferral::{self, Deferral};

impl Fetch {
    pub(super) async fn reject(&self, round: &Round<'_>, item: &VisitItem, why: Rejection) -> Result<Item> {
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
        if matches!(item.purpose, Purpose::New { .. })
            && self.write_row(job, &item.page, &url, &job.work.host, state).await?
        {
            self.politeness.events.note(&Event::Rejected(&why));
            tracing::debug!(%url, reason = %why, "a page is not taken in");
        }
        Ok(())
    }

    pub(super) async fn alias(&self, round: &Round<'_>, item: &VisitItem, of: PageId) -> Result<Item> {
        let Ok(url) = Url::parse(&item.url) else { return Ok(Item::Done) };
        let host = &round.job.work.host;
        if self.write_row(round.job, &item.page, &url, host, PageState::Alias { of }).await? {
            self.politeness.events.note(&Event::Alias);
        }
        Ok(Item::Done)
    }

    /// Writes a row if there is none or the page gets [another chance](PageState::may_be_taken_up); returns true if it
    /// was written. A second look at a page of an unreachable host keeps the reason of the earlier rejection.
    pub(super) async fn write_row(
        &self,
        job: &Envelope<VisitJob>,
        id: &PageId,
        url: &Url,
        host: &HostKey,
        state: PageState,
    ) -> Result<bool> {
        let mut row = Page {
            feed: job.work.feed.clone(),
            trace: job.trace.clone(),
            ..Page::new(id.clone(), url.as_str().to_owned(), host.clone(), state, self.politeness.clock.now())
        };
        if self.pages.insert(&row).await? {
            return Ok(true);
        }
        let Some((old, seen)) = self.pages.get(id).await? else { return Ok(false) };
        let is_second_look = sampling::may_look_again(&old, row.at);
        if !is_second_look && (!old.state.may_be_taken_up() || old.state == row.state) {
            return Ok(false);
        }
        row.rejected_at = sampling::first_rejected(&old);
        if is_second_look && matches!(row.state, PageState::Rejected { reason: Rejection::HostUnavailable(_) }) {
            row.state = old.state;
        }
        // If another writer was first, its row stays.
        Ok(swapped(self.pages.swap(seen, &row).await)?)
    }

    /// Defers the whole job, or gives up its pages if their host was on hold too often.
    pub(super) async fn put_off(&self, job: &Envelope<VisitJob>, not_now: NotNow) -> Result<Verdict> {
        let NotNow { until, why: Some(why) } = not_now else {
            let again = deferral::of_busy_host(job.waits, not_now.until, self.politeness.clock.now());
            return Ok(Verdict::Defer(again));
        };
        let after = deferral::of_held_host(job.deferrals, until, why, &self.politeness.rules);
        self.defer(job, &job.work.items, after, why.as_str()).await?;
        Ok(Verdict::Done)
    }

    /// Sends the remaining items of a visit before its job is acknowledged, or gives them up.
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

    pub(super) async fn send(&self, work: impl Into<Work>, at: Timestamp, trace: Option<&TraceId>) -> Result<()> {
        Ok(self.queue.send(&[(Job::new(work).traced(trace.cloned()), at)]).await?)
    }
}
