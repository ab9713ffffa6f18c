//! Fetches images: a page's main image with the page, other images in visits of their own.

use super::*;
use crate::pages::image::scaled_down_in;
use curlew_catalog::thumbnails::{keep, tried};
use curlew_ports::stage::job_span;
use tracing::{Instrument, Span};

/// Time within which extraction writes the row of a page after it has requested the page's image.
const ROW_WRITTEN_IN: Millis = Millis::from_mins(1);

impl Fetch {
    /// Fetches the first of the head's images that may be called and is neither another host key's nor the site's.
    pub(super) async fn main_image(&self, round: &mut Round<'_>, glance: &HeadScan, calls: u32) -> Option<MainImage> {
        let mut refused = None;
        for choice in glance.image.iter().chain(&glance.other_images) {
            let calls_before = round.visit.state.calls;
            let image = self.image_at(round, choice, calls).await?;
            if image.thumbnail.is_some() || round.visit.state.calls > calls_before {
                return Some(image);
            }
            refused = Some(image);
        }
        refused
    }

    async fn image_at(&self, round: &mut Round<'_>, url: &Url, calls: u32) -> Option<MainImage> {
        let url = address::parse(url.as_str(), None).ok()?;
        let is_ours = self.politeness.key_of(&url).is_ok_and(|key| key == round.job.work.host);
        let of_site = round.job.work.site_image.as_deref().and_then(|site| address::parse(site, None).ok());
        if !is_ours || calls == 0 || of_site.is_some_and(|site| site == url) {
            return None;
        }
        let id = address::image_id(&url);
        if let Some(thumbnail) = self.images.lock().get(&id) {
            return Some(MainImage { id, thumbnail: thumbnail.clone() });
        }
        let thumbnail = match self.called(round, &url).await {
            Ok(called) => called.ok()?,
            Err(error) => {
                tracing::warn!(%error, %url, "a main image could not be had");
                return None;
            }
        };
        self.images.lock().put(id.clone(), thumbnail.clone());
        Some(MainImage { id, thumbnail })
    }

    /// Calls an image; returns its thumbnail, if one can be made, or the end of a call that was not answered.
    async fn called(&self, round: &mut Round<'_>, url: &Url) -> Result<Result<Option<Bytes>, CallEnd>> {
        match round.visit.hop(url, CallKind::Image, &Validators::default(), None).await? {
            CallEnd::Reply(reply) => Ok(Ok(self.thumbnail(url, &reply).await?)),
            CallEnd::Rejected(_) => Ok(Ok(None)),
            end => Ok(Err(end)),
        }
    }

    async fn thumbnail(&self, url: &Url, reply: &Reply) -> Result<Option<Bytes>> {
        if reply.status != 200 || reply.body_skipped {
            return Ok(None);
        }
        let Politeness { pool, decoded_bytes, .. } = self.politeness.as_ref();
        match scaled_down_in(pool.as_ref(), reply.body.clone(), *decoded_bytes).await? {
            Ok(jpeg) => {
                self.politeness.events.note(&Event::Thumbnail);
                Ok(Some(jpeg))
            }
            Err(why) => {
                tracing::debug!(%url, reason = %why, "no thumbnail");
                Ok(None)
            }
        }
    }

    /// Fetches and judges an image that has a visit of its own, traced with its page's chain of jobs.
    pub(super) async fn image(&self, round: &mut Round<'_>, item: &VisitItem, url: &Url, id: &ImageId) -> Result<Item> {
        let another = item.purpose.trace().filter(|trace| Some(*trace) != round.job.trace.as_ref());
        let span = another.map_or_else(Span::none, |trace| job_span(VisitJob::NAME, trace));
        let judged = async {
            if let Some(known) = tried(self.blobs.as_ref(), id).await? {
                return self.judge_image(round, &item.page, known).await;
            }
            let thumbnail = match self.called(round, url).await? {
                Ok(thumbnail) => thumbnail,
                Err(end) => return Ok(waits(&end).unwrap_or(Item::Done)),
            };
            keep(self.blobs.as_ref(), id, thumbnail.clone()).await?;
            self.judge_image(round, &item.page, thumbnail).await
        };
        judged.instrument(span).await
    }

    /// Removes a page that was accepted by its text, if an image fetched later leads to a rejection.
    async fn judge_image(&self, round: &Round<'_>, page: &PageId, thumbnail: Option<Bytes>) -> Result<Item> {
        let Some(jpeg) = thumbnail else { return Ok(Item::Done) };
        let rejects = async |host: Option<&str>| {
            let judged = self.judge.image(host, &jpeg).await;
            judged.filter(|screening| screening.verdict == Judged::Reject)
        };
        // The page's row is read only if the image would be rejected.
        if rejects(None).await.is_none() {
            return Ok(Item::Done);
        }
        let row = self.pages.get(page).await?.map(|(row, _)| row);
        let Some(row) = row.filter(|row| row.state != PageState::Pending) else {
            // The visit was sent before the page's row was written.
            return Ok(Item::Apart(self.politeness.clock.now() + ROW_WRITTEN_IN, ItemWait::Own));
        };
        let url = Url::parse(&row.url).ok();
        let Some(screening) = rejects(url.as_ref().and_then(Url::host_str)).await else { return Ok(Item::Done) };
        if self.override_of(&row.url).await?.is_some_and(|rule| rule.apply(screening.clone()).verdict == Judged::Pass) {
            return Ok(Item::Done);
        }
        tracing::info!(url = %row.url, because = screening.because(), "a page is removed for its image");
        self.remove(round, page, &row.url, Gone::Screened).await
    }
}
