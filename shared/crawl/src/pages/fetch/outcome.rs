//! Outcomes of re-checks. Changes of the row alone are written at once; changes of the index become a job for
//! [`curlew_catalog::removal::Removal`], since this stage reads documents of strangers. The row stays as it was then,
//! so that a job that is lost is sent anew by the next re-check.

use super::{Fetch, VisitRun};
use curlew_model::{Gone, IndexChange, Job, Page, PageId, PageState, RemovalJob, TraceId, Validators, VisitItem};
use curlew_policy::page::directives::Directives;
use curlew_ports::stage::Result;
use curlew_ports::{Event, PortError, Version};

impl Fetch {
    /// Sends the removal of a page that is gone or must not be found.
    pub(super) async fn remove(&self, round: &VisitRun<'_, '_>, page: &PageId, url: &str, reason: Gone) -> Result<()> {
        let job = RemovalJob::remove(page.clone(), url.to_owned(), reason, self.politeness.clock.now());
        self.send_change(round, job).await
    }

    /// Sends the removal of the pages of a visit whose host is blocked.
    pub(super) async fn remove_blocked(
        &self,
        items: impl Iterator<Item = &VisitItem>,
        trace: Option<&TraceId>,
    ) -> Result<()> {
        let now = self.politeness.clock.now();
        let removal = |item: &VisitItem| RemovalJob::remove(item.page.clone(), item.url.clone(), Gone::Blocked, now);
        let jobs: Vec<_> = items.map(|item| (Job::new(removal(item)).traced(trace.cloned()), now)).collect();
        if jobs.is_empty() { Ok(()) } else { Ok(self.queue.send(&jobs).await?) }
    }

    /// Records that a page was re-checked and may stay. An `unavailable_after` date that the page names now and its
    /// record lacks is for its manifest, and sent there. `directives` is `None` if the page could not be read; the date
    /// then stays as it was. `validators` are those of the document, if its content is that of the record.
    pub(super) async fn still_there(
        &self,
        round: &VisitRun<'_, '_>,
        id: &PageId,
        directives: Option<&Directives>,
        validators: Option<Validators>,
    ) -> Result<()> {
        let Some((page, seen)) = self.pages.get(id).await? else { return Ok(()) };
        if !matches!(page.state, PageState::Accepted { .. }) {
            return Ok(());
        }
        let now = self.politeness.clock.now();
        let expires = directives.map_or(page.expires, |directives| directives.unavailable_after);
        if page.expires != expires {
            let change = IndexChange::Expire { at: expires, validators };
            let job = RemovalJob { page: page.id, url: page.url, change, judged_at: now };
            return self.send_change(round, job).await;
        }
        let validators = validators.unwrap_or_else(|| page.validators.clone());
        self.write(seen, &Page { checked_at: Some(now), doubted_at: None, validators, ..page }).await?;
        self.politeness.events.note(&Event::StillThere);
        Ok(())
    }

    /// Marks a page as doubtful, since its URL now serves something else; the next re-check decides.
    pub(super) async fn doubt(&self, id: &PageId) -> Result<()> {
        let Some((page, seen)) = self.pages.get(id).await? else { return Ok(()) };
        if !matches!(page.state, PageState::Accepted { .. }) {
            return Ok(());
        }
        self.politeness.events.note(&Event::Doubted);
        self.write(seen, &Page { doubted_at: Some(self.politeness.clock.now()), ..page }).await
    }

    /// Clears the doubt about a page: the same interstitial covers its whole host.
    pub(super) async fn trust(&self, id: &PageId) -> Result<()> {
        let Some((page, seen)) = self.pages.get(id).await? else { return Ok(()) };
        if page.doubted_at.is_none() {
            return Ok(());
        }
        self.write(seen, &Page { doubted_at: None, ..page }).await
    }

    async fn send_change(&self, round: &VisitRun<'_, '_>, job: RemovalJob) -> Result<()> {
        let due = job.judged_at;
        Ok(self.queue.send(&[(Job::new(job).traced(round.job.trace.clone()), due)]).await?)
    }

    async fn write(&self, seen: Version, page: &Page) -> Result<()> {
        match self.pages.swap(seen, page).await {
            Ok(_) => Ok(()),
            // Somebody else re-checked or removed it at the same time, and knows as much.
            Err(PortError::Conflict) => Ok(()),
            Err(other) => Err(other.into()),
        }
    }
}
