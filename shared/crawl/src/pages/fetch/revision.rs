//! Revisions: an indexed page whose text differs from its record is judged and extracted again.

use super::*;
use crate::pages::extract::{image_id_of, with_override};
use crate::parsing::overrun_apart;
use curlew_catalog::segment::thumbnail;
use curlew_model::ThumbnailId;

impl Fetch {
    /// Sends a changed page to extraction. Content policy may remove the page; one that is no longer valid stays.
    pub(super) async fn revised(
        &self,
        round: &mut Round<'_>,
        page: &Page,
        article: &Article,
        record: &Record,
        found: PageFacts<'_>,
    ) -> Result<Item> {
        let PageState::Accepted { location, .. } = &page.state else { return Ok(Item::Done) };
        let directives = &found.seen.directives;
        let any_image = article.image.as_ref().map(Url::as_str).or(record.image.as_deref());
        if let Err(why) = self.judge.validity(article.title.as_deref(), &article.text, any_image) {
            tracing::debug!(url = %page.url, reason = %why, "a page that has changed stays as it was");
            return self.still_there(round, &page.id, Some(directives), None).await;
        }
        let image = match self.image_of(record, found.seen.glance.image.as_ref()).await? {
            Some(image) => image,
            None => self.main_image(round, &found.seen.glance, found.calls_left).await,
        };
        let asked_for_image =
            image.is_some() && found.seen.glance.image.as_ref().map(Url::as_str) != record.image.as_deref();
        let calls_left = found.calls_left.saturating_sub(u32::from(asked_for_image));
        if self.is_screened_out(page, article, image.as_ref()).await? {
            return self.remove(round, &page.id, &page.url, Gone::Screened).await;
        }
        let directives = directives.clone();
        let hints = EntryHints {
            title: None,
            published: record.published,
            author: record.author.clone(),
            tags: record.tags.clone(),
            folder: record.folder.clone(),
        };
        let found = PageFacts { image, calls_left, ..found };
        let job = self.extract_job(found, page.id.clone(), &page.url, &page.host).await?;
        let site_image = record.image.clone().filter(|_| record.image_of_site);
        let (feed, replaces) = (page.feed.clone(), Some(location.clone()));
        let job = ExtractJob { feed, hints, site_image, replaces, ..job };
        let now = job.fetched_at;
        self.send(job, now, round.job.trace.as_ref()).await?;
        // The row keeps the validators of the old record until that is replaced.
        self.still_there(round, &page.id, Some(&directives), None).await
    }

    /// Returns the image of a page's record, if the page still has it; `None` if the image must be fetched.
    async fn image_of(&self, record: &Record, now: Option<&Url>) -> Result<Option<Option<MainImage>>> {
        let same = record.image.as_deref().filter(|image| now.map(Url::as_str) == Some(*image));
        let Some(id) = same.and_then(image_id_of) else { return Ok(None) };
        Ok(match &record.thumbnail {
            Some(ThumbnailId::Frame(at)) => {
                let jpeg = thumbnail(self.blobs.as_ref(), at).await?;
                Some(Some(MainImage { id, thumbnail: jpeg }))
            }
            // The image has an object of its own, or will have.
            Some(ThumbnailId::Object(_)) => Some(None),
            None => Some(Some(MainImage { id, thumbnail: None })),
        })
    }

    async fn is_screened_out(&self, page: &Page, article: &Article, image: Option<&MainImage>) -> Result<bool> {
        let host = Url::parse(&page.url).ok().and_then(|url| url.host_str().map(str::to_owned));
        let said = curlew_screen::Page {
            title: article.title.as_deref().unwrap_or_default(),
            text: &article.text,
            language: article.language.as_deref(),
            host: host.as_deref(),
        };
        let jpeg = image.and_then(|image| image.thumbnail.as_deref());
        let rules = self.judge.rules(self.blobs.as_ref(), self.politeness.clock.as_ref()).await?;
        // A page that takes too long to judge is not accepted by extraction either, and stays as it was.
        let screening = overrun_apart(self.judge.page(self.politeness.pool.as_ref(), &said, jpeg).await)?;
        Ok(screening.is_ok_and(|screening| with_override(screening, &rules, &page.url).verdict == Judged::Reject))
    }
}
