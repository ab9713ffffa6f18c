//! Outcomes of re-checks. Rows are changed at once. Changes of the index become jobs, since this stage parses untrusted
//! documents; the row then stays as it was, so that the next re-check repeats a lost job.

use super::*;
use curlew_model::{IndexChange, RemovalJob};
use curlew_ports::Version;

impl Fetch {
    pub(super) async fn remove(&self, round: &Round<'_>, page: &PageId, url: &str, reason: Gone) -> Result<Item> {
        let now = self.politeness.clock.now();
        self.send(RemovalJob::remove(page.clone(), url.to_owned(), reason, now), now, round.job.trace.as_ref()).await?;
        Ok(Item::Done)
    }

    /// Records that a page may stay. A new `unavailable_after` date is sent to its manifest; without `directives` the
    /// date stays. `validators` belong to a document with the content of the record.
    pub(super) async fn still_there(
        &self,
        round: &Round<'_>,
        id: &PageId,
        directives: Option<&Directives>,
        validators: Option<Validators>,
    ) -> Result<Item> {
        let Some((page, seen)) = self.accepted(id).await? else { return Ok(Item::Done) };
        let now = self.politeness.clock.now();
        let expires = directives.map_or(page.expires, |directives| directives.unavailable_after);
        if page.expires != expires {
            let change = IndexChange::Expire { at: expires, validators };
            let job = RemovalJob { page: page.id, url: page.url, change, judged_at: now };
            self.send(job, now, round.job.trace.as_ref()).await?;
            return Ok(Item::Done);
        }
        let validators = validators.unwrap_or_else(|| page.validators.clone());
        self.write(seen, &Page { checked_at: Some(now), doubted_at: None, validators, ..page }).await?;
        self.politeness.events.note(&Event::StillThere);
        Ok(Item::Done)
    }

    /// Marks a page as doubtful, since its URL now serves something else; the next re-check decides.
    pub(super) async fn doubt(&self, id: &PageId) -> Result<()> {
        let Some((page, seen)) = self.accepted(id).await? else { return Ok(()) };
        self.politeness.events.note(&Event::Doubted);
        self.write(seen, &Page { doubted_at: Some(self.politeness.clock.now()), ..page }).await
    }

    /// Clears the doubt about a page, since the same interstitial covers its whole host.
    pub(super) async fn trust(&self, id: &PageId) -> Result<()> {
        match self.pages.get(id).await? {
            Some((page, seen)) if page.doubted_at.is_some() => {
                self.write(seen, &Page { doubted_at: None, ..page }).await
            }
            _ => Ok(()),
        }
    }

    async fn accepted(&self, id: &PageId) -> Result<Option<(Page, Version)>> {
        let row = self.pages.get(id).await?;
        Ok(row.filter(|(page, _)| matches!(page.state, PageState::Accepted { .. })))
    }

    /// Writes a row, unless another visit re-checked or removed the page at the same time.
    async fn write(&self, seen: Version, page: &Page) -> Result<()> {
        swapped(self.pages.swap(seen, page).await)?;
        Ok(())
    }
}
