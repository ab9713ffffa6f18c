//! Makes records of fetched pages, many in one segment, and writes the outcome into each page's row.

use crate::bulk::Bulk;
use crate::pages::body::{discard, unpack};
use crate::pages::image::blurred;
use crate::pages::judge::Judge;
use crate::pages::variant::{content_hash, same_page};
use crate::pages::{NotTaken, fingerprint, overrides, rejected_apart};
use crate::parsing::{overrun_apart, parsed};
use crate::politeness::access::Politeness;
use crate::worker::PageJob;
use bytes::Bytes;
use curlew_article::{Article, Limits, decode, extract};
use curlew_catalog::hidden::{hidden_hosts, is_hidden};
use curlew_catalog::raw;
use curlew_catalog::segment::{self, Draft, segment_year};
use curlew_catalog::thumbnails::Pictures;
use curlew_feed::speaks_of_comments;
use curlew_model::{
    ExtractJob, FeedSource, HostKey, ImageId, Job, Location, MainImage, Millis, NamedBy, Page, PageBody, PageId,
    PageState, Purpose, Record, Rejection, Screened, SiteState, Source, SourceKey, ThumbnailId, Timestamp, Validators,
    VisitItem, VisitJob,
};
use curlew_policy::page::publication::{self, PageDate};
use curlew_policy::page::soft404::{PageText, is_in_place_of};
use curlew_policy::page::{dates, sampling};
use curlew_policy::{address, trace};
use curlew_ports::stage::{Result, StageError, Verdict, job_span};
use curlew_ports::{Blobs, CpuPool, CpuTask, Event, Pages, PortError, Queue, Sources, Version, compute, swapped};
use curlew_screen::{Override, Screening, Verdict as Judged};
use futures::future::join_all;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use tracing::{Instrument, Span};
use url::Url;

/// Time for which a page waits for an image of another host that is not judged later, and how often it waits.
const IMAGE_WAIT: Millis = Millis::from_mins(5);
const IMAGE_WAITS: u32 = 3;
/// Number of attempts to write the row of a page while others write it.
const ROW_TRIES: u32 = 4;

/// Maximum number of characters of an announced title that the row of a soft 404 stores.
const ANNOUNCED: usize = 100;
/// Time after which the second choice of a page's image is fetched, if the first one gave no thumbnail.
const SECOND_CHOICE_AFTER: Millis = Millis::from_days(1);

/// The stage that makes records.
pub struct Extract {
    /// The rows of pages.
    pub pages: Arc<dyn Pages>,
    /// Store of the feeds' URLs and titles.
    pub sources: Arc<dyn Sources>,
    /// Store of segments.
    pub blobs: Arc<dyn Blobs>,
    /// Queue of visits to images that were not fetched with their pages.
    pub queue: Arc<dyn Queue>,
    /// Content policy.
    pub judge: Arc<Judge>,
    /// Clock, settings about hosts, and the pool in which documents are parsed.
    pub politeness: Arc<Politeness>,
}

#[derive(Default)]
pub(super) struct BatchCache {
    feeds: HashMap<SourceKey, Option<NamedBy>>,
    pub(super) pictures: Pictures,
    blocked: Option<BTreeSet<String>>,
}

enum Extraction {
    /// The page's row has an outcome already.
    Known,
    Record(Box<Draft>, String),
    /// The page has the text of this other page.
    Same(PageId),
    Rejected(Rejection),
}

/// The row of a page that has no outcome yet; missing if the fetch stage has not written one.
#[derive(Clone, Copy)]
struct RowSeen {
    version: Version,
    rejected_at: Option<Timestamp>,
}

struct NewRecord<'j> {
    number: usize,
    job: &'j PageJob,
    /// Span of the job, which lasts until its page's row is written.
    span: Span,
    seen: Option<RowSeen>,
    draft: Draft,
    content_hash: String,
}

impl Extract {
    /// Runs the job, which may have run before.
    pub async fn run(&self, job: &PageJob) -> Result<Verdict> {
        self.run_batch(std::slice::from_ref(job)).await.pop().unwrap_or(Ok(Verdict::Done))
    }

    /// Runs a batch of jobs, whose records share one segment. Returns one verdict per job, in order.
    pub async fn run_batch(&self, jobs: &[PageJob]) -> Vec<Result<Verdict>> {
        let mut batch = BatchCache::default();
        let mut verdicts: Vec<Option<Result<Verdict>>> = Vec::with_capacity(jobs.len());
        let mut kept: Vec<NewRecord<'_>> = Vec::new();
        let mut waiting: Vec<NewRecord<'_>> = Vec::new();
        for (number, job) in jobs.iter().enumerate() {
            let span = job_span(ExtractJob::NAME, &trace::of_extraction(job));
            verdicts.push(match self.make(&job.work, &mut batch).instrument(span.clone()).await {
                Ok((_, Extraction::Known)) => Some(Ok(Verdict::Done)),
                Ok((seen, Extraction::Rejected(why))) => Some(self.rejected(job, seen, why).instrument(span).await),
                Ok((seen, Extraction::Same(of))) => Some(self.same(job, seen, of).instrument(span).await),
                Ok((seen, Extraction::Record(draft, content_hash))) => {
                    let new = NewRecord { number, job, span, seen, draft: *draft, content_hash };
                    match self.awaits_image(job, &new.draft, &mut batch.pictures).await {
                        Ok(true) => {
                            waiting.push(new);
                            Some(Ok(Verdict::Defer(self.politeness.clock.now() + IMAGE_WAIT)))
                        }
                        Ok(false) => {
                            kept.push(new);
                            None
                        }
                        Err(error) => Some(Err(error)),
                    }
                }
                Err(error) => Some(Err(error)),
            });
        }
        if let Err(error) = self.image_visits(&waiting, &mut batch.pictures).await {
            // A page without a visit to its image waits for the same time, and is then judged by its text.
            tracing::warn!(%error, "images of other hosts were not asked for");
        }
        match self.store(&kept, &mut batch.pictures).await {
            Ok(locations) => {
                // Rows are written together, since a store may commit them as one.
                let rows = kept.iter().zip(locations);
                let rows = rows.map(|(kept, place)| self.accepted(kept, place).instrument(kept.span.clone()));
                for (kept, verdict) in kept.iter().zip(join_all(rows).await) {
                    verdicts[kept.number] = Some(verdict);
                }
            }
            Err(error) => {
                let what = error.to_string();
                for kept in kept.iter().skip(1) {
                    let error = PortError::Unavailable { what: what.clone(), source: None };
                    verdicts[kept.number] = Some(Err(error.into()));
                }
                if let Some(first) = kept.first() {
                    verdicts[first.number] = Some(Err(error));
                }
            }
        }
        verdicts.into_iter().map(|v| v.unwrap_or(Ok(Verdict::Done))).collect()
    }

    /// Returns true if a page has to wait for its image, which has a visit of its own and is not judged later.
    async fn awaits_image(&self, job: &PageJob, draft: &Draft, pictures: &mut Pictures) -> Result<bool> {
        let Some(ThumbnailId::Object(image)) = &draft.record.thumbnail else { return Ok(false) };
        // A second choice is fetched a day later, which is too long to wait.
        let is_called = job.work.calls_left > 0 && job.work.image.is_none();
        let may_wait = self.judge.awaits_images() && is_called && job.deferrals < IMAGE_WAITS;
        Ok(may_wait && pictures.get(self.blobs.as_ref(), image).await?.is_none())
    }

    /// Writes the segment and sends the visits to images, before any row says that its page is done.
    async fn store(&self, kept: &[NewRecord<'_>], pictures: &mut Pictures) -> Result<Vec<Location>> {
        if kept.is_empty() {
            return Ok(vec![]);
        }
        let drafts = kept.iter().map(|kept| &kept.draft);
        let locations = segment::write(self.blobs.as_ref(), drafts, self.politeness.clock.now()).await?;
        self.image_visits(kept, pictures).await?;
        Ok(locations)
    }

    async fn make(&self, job: &ExtractJob, batch: &mut BatchCache) -> Result<(Option<RowSeen>, Extraction)> {
        // An eventually consistent read is good enough, since the new row is swapped against it. A page sent without a
        // row is not looked up: a repeated job is rare, and makes a record that no row points to. But a stored body
        // would be gone by then.
        let is_looked_up = !job.is_without_row || matches!(job.body, PageBody::Stored(_));
        let row = if is_looked_up { self.pages.load_eventual(&job.page).await? } else { None };
        let seen = match row {
            Some((page, _)) if is_decided(job, &page) => return Ok((None, Extraction::Known)),
            row => row.map(|(page, version)| RowSeen { version, rejected_at: sampling::first_rejected(&page) }),
        };
        let blocked = match &mut batch.blocked {
            Some(blocked) => blocked,
            unread => unread.insert(hidden_hosts(self.blobs.as_ref()).await?),
        };
        if is_hidden(blocked, &job.url) {
            return Ok((seen, Extraction::Rejected(Rejection::Blocked)));
        }
        let body = unpack(self.blobs.as_ref(), &job.body).await?;
        let mut draft = match rejected_apart(self.draft(job, body.clone(), batch).await)? {
            Ok(draft) => draft,
            Err(why) => return Ok((seen, Extraction::Rejected(why))),
        };
        let content_hash = content_hash(&draft.record);
        // An indexed page never becomes an alias.
        if job.replaces.is_none()
            && let Some(of) = same_page(self.pages.as_ref(), job, &content_hash, self.politeness.clock.now()).await?
        {
            return Ok((seen, Extraction::Same(of)));
        }
        draft.raw = self.raw(job, body, &draft.record).await?;
        Ok((seen, Extraction::Record(Box::new(draft), content_hash)))
    }

    pub(super) async fn draft(&self, job: &ExtractJob, body: Bytes, batch: &mut BatchCache) -> Result<Draft, NotTaken> {
        let base = Url::parse(&job.final_url).map_err(|e| StageError::Job(e.to_string()))?;
        let (bytes, media, answered) = (body.len(), job.content_type.clone(), base.clone());
        let read = move || extract(&decode(&body, media.as_deref()), &answered, &Limits::default());
        // A panic fails the job, which holds no lease: as a dead letter it waits for a version that can read the page.
        let read = overrun_apart(compute(self.pool(), CpuTask::document(bytes), read).await)??;
        let article = read.map_err(|why| Rejection::Unreadable(why.to_string()))?;
        let feed = self.named_by(job, batch).await?;
        self.draft_of(job, &base, article, feed, &mut batch.pictures).await
    }

    /// Returns the raw frame of a page that is kept raw, unless the page asks not to be archived.
    async fn raw(&self, job: &ExtractJob, body: Bytes, record: &Record) -> Result<Option<Bytes>> {
        let Some(exchange) = job.exchange.clone().filter(|_| !record.no_archive) else { return Ok(None) };
        let (bytes, job) = (body.len(), job.clone());
        parsed(self.pool(), bytes, move || raw::pack(&job, &exchange, &body)).await?.ok().transpose()
    }

    fn pool(&self) -> &dyn CpuPool {
        self.politeness.pool.as_ref()
    }

    async fn draft_of(
        &self,
        job: &ExtractJob,
        answered: &Url,
        article: Article,
        feed: Option<NamedBy>,
        pictures: &mut Pictures,
    ) -> Result<Draft, NotTaken> {
        let Politeness { scope, token, .. } = self.politeness.as_ref();
        let directives = scope.directives(answered, &article.robots_meta, &job.robots_tags, token);
        if directives.noindex || directives.expired(job.fetched_at) {
            return Err(Rejection::Noindex.into());
        }
        let now = PageText { title: article.title.as_deref().unwrap_or_default(), text: &article.text };
        let announced = job.hints.title.as_deref().filter(|title| is_in_place_of(title, now));
        if let Some(title) = announced.filter(|_| job.replaces.is_none()) {
            return Err(Rejection::SoftNotFound(title.chars().take(ANNOUNCED).collect()).into());
        }
        let title = article.title.or_else(|| job.hints.title.clone()).filter(|t| !t.trim().is_empty());
        let choices = article.image.into_iter().chain(article.other_images).map(String::from).collect();
        let own_image = self.best_image(job, choices, pictures).await?;
        let feed = feed.as_ref();
        let site_image = job.site_image.clone().or_else(|| feed?.image.clone());
        let any_image = own_image.as_deref().or(site_image.as_deref());
        self.judge.validity(title.as_deref(), &article.text, any_image)?;
        let title = title.unwrap_or_default();
        let host = overrides::host_of(&job.url);
        // `noimageindex`: the page has an image, and asks not to show it.
        let own_image = own_image.filter(|_| !directives.noimageindex);
        // A page that names its site's image has none of its own.
        let image_of_site = own_image.is_none() || own_image == site_image;
        let image = own_image.or(site_image);
        let (object, beside) = match (image.as_deref().and_then(image_id_of), &job.image) {
            (Some(id), Some(tried)) if tried.id == id => (None, tried.thumbnail.clone()),
            (id, _) => (id, None),
        };
        let jpeg = match &object {
            Some(id) => pictures.get(self.blobs.as_ref(), id).await?.flatten(),
            None => beside.clone(),
        };
        let language = article.language.as_deref();
        let page = curlew_screen::Page { title: &title, text: &article.text, language, host: Some(&host) };
        let rules = self.judge.rules(self.blobs.as_ref(), self.politeness.clock.as_ref()).await?;
        let screening = overrun_apart(self.judge.page(self.pool(), &page, jpeg.as_deref()).await)??;
        let screening = with_override(screening, &rules, &job.url);
        if screening.verdict == Judged::Reject {
            let why = Screened::new(screening.rejected_for(), screening.because());
            let jpeg = jpeg.filter(|_| screening.is_rejected_for_image());
            let picture = jpeg.and_then(|jpeg| blurred(&jpeg));
            return Err(Rejection::Screened(Screened { picture, ..why }).into());
        }
        let plausible = |stated: Timestamp| dates::plausible(stated, job.fetched_at);
        let page_date = article.published.and_then(plausible).zip(article.published_by);
        let page_date = page_date.map(|(at, by)| PageDate { at, confidence: by.confidence });
        let record = Record {
            host,
            feed: feed.map(|feed| feed.url.clone()),
            site_name: article.site_name.or_else(|| feed?.title.clone()),
            title,
            simhash: fingerprint::of_text(&article.text),
            text: article.text,
            image_of_site,
            thumbnail: object.map(ThumbnailId::Object),
            image,
            language: article.language.or_else(|| feed?.language.clone()),
            published: publication::at(page_date, job.hints.published.and_then(plausible)),
            modified: article.modified.and_then(plausible),
            author: article.author.or_else(|| job.hints.author.clone()),
            tags: job.hints.tags.clone(),
            folder: job.hints.folder.clone(),
            snippet_limit: directives.snippet_limit(),
            no_archive: directives.noarchive,
            paywalled: article.is_paywalled,
            unavailable_after: directives.unavailable_after,
            preferences: job.preferences.clone(),
            replaces: job.replaces.clone(),
            ..Record::new(job.page.clone(), job.url.clone(), job.fetched_at)
        };
        Ok(Draft { record, thumbnail: beside, raw: None })
    }

    /// Returns the image that came with the page, or else the first choice whose call has not failed.
    async fn best_image(&self, job: &ExtractJob, urls: Vec<String>, pictures: &mut Pictures) -> Result<Option<String>> {
        let came = job.image.as_ref().filter(|image| image.thumbnail.is_some());
        for url in &urls {
            let Some(id) = image_id_of(url) else { continue };
            let is_best = match (came, &job.image) {
                (Some(came), _) => came.id == id,
                (None, Some(failed)) if failed.id == id => false,
                (None, _) => pictures.get(self.blobs.as_ref(), &id).await? != Some(None),
            };
            if is_best {
                return Ok(Some(url.clone()));
            }
        }
        Ok(urls.into_iter().next())
    }

    async fn named_by(&self, job: &ExtractJob, batch: &mut BatchCache) -> Result<Option<NamedBy>> {
        let Some(key) = &job.feed else { return Ok(None) };
        if let Some(told) = job.named_by.as_ref() {
            return Ok(Some(told.clone()));
        }
        if let Some(told) = batch.feeds.get(key) {
            return Ok(told.clone());
        }
        let told = match self.sources.get(key).await? {
            Some((Source::Feed(mut f), _)) => {
                // A comment feed is named after another feed of its site.
                if is_of_comments(&f) {
                    f.title = self.title_of_site(&f).await?;
                }
                Some(NamedBy { url: f.url, title: f.title, image: f.image, language: f.language })
            }
            _ => None,
        };
        batch.feeds.insert(key.clone(), told.clone());
        Ok(told)
    }

    async fn title_of_site(&self, feed: &FeedSource) -> Result<Option<String>> {
        let Some(site) = &feed.site else { return Ok(None) };
        let Some((Source::Site(site), _)) = self.sources.get(site).await? else { return Ok(None) };
        let SiteState::Working { feeds } = site.state else { return Ok(None) };
        for key in feeds.iter().filter(|key| **key != feed.key) {
            if let Some((Source::Feed(other), _)) = self.sources.get(key).await?
                && other.title.is_some()
                && !is_of_comments(&other)
            {
                return Ok(other.title);
            }
        }
        Ok(None)
    }

    async fn rejected(&self, job: &PageJob, seen: Option<RowSeen>, reason: Rejection) -> Result<Verdict> {
        if job.work.replaces.is_some() {
            tracing::info!(url = %job.work.url, %reason, "an indexed page that has changed stays as it was");
        } else if self.write(job, seen, PageState::Rejected { reason: reason.clone() }).await? {
            self.politeness.events.note(&Event::Rejected(&reason));
            tracing::debug!(url = %job.work.url, %reason, "a page is not taken in");
        }
        discard(self.blobs.as_ref(), &job.work.body).await?;
        Ok(Verdict::Done)
    }

    async fn same(&self, job: &PageJob, seen: Option<RowSeen>, of: PageId) -> Result<Verdict> {
        self.write(job, seen, PageState::Alias { of }).await?;
        discard(self.blobs.as_ref(), &job.work.body).await?;
        Ok(Verdict::Done)
    }

    async fn accepted(&self, kept: &NewRecord<'_>, location: Location) -> Result<Verdict> {
        let year = segment_year(&location).unwrap_or_default();
        let content_hash = kept.content_hash.clone();
        if self.write(kept.job, kept.seen, PageState::Accepted { year, location, content_hash }).await? {
            let is_revision = kept.job.work.replaces.is_some();
            self.politeness.events.note(if is_revision { &Event::Revised } else { &Event::Accepted });
            tracing::debug!(url = %kept.job.work.url, "a page is taken in");
        }
        discard(self.blobs.as_ref(), &kept.job.work.body).await?;
        Ok(Verdict::Done)
    }

    /// Sends visits to images that did not come with their pages, by host key: pages of a site often share an image.
    async fn image_visits(&self, kept: &[NewRecord<'_>], pictures: &mut Pictures) -> Result<()> {
        let mut images = HashSet::new();
        let now = self.politeness.clock.now();
        let mut visits: BTreeMap<(Timestamp, HostKey), Vec<VisitItem>> = BTreeMap::new();
        for NewRecord { job, draft, .. } in kept {
            let Some(ThumbnailId::Object(image)) = &draft.record.thumbnail else { continue };
            let url = draft.record.image.as_deref().and_then(|url| address::parse(url, None).ok());
            // An image that may lead to a rejection is judged for each of its pages.
            let of = self.judge.may_reject_by_image().then_some(&job.work.page);
            // The page's first image gave no thumbnail, so the second choice is fetched on another day.
            let (due, is_callable) = match &job.work.image {
                Some(MainImage { thumbnail: None, .. }) => (now + SECOND_CHOICE_AFTER, true),
                _ => (now, job.work.calls_left > 0),
            };
            let Some(url) = url.filter(|_| is_callable && images.insert((image.clone(), of))) else { continue };
            let Ok(host) = address::host_key(&url, &self.politeness.groups) else { continue };
            if pictures.get(self.blobs.as_ref(), image).await?.is_some() {
                continue;
            }
            let purpose = Purpose::Image { image: image.clone(), trace: Some(trace::of_extraction(job)) };
            let item = VisitItem { url: url.into(), page: job.work.page.clone(), purpose };
            visits.entry((due, host)).or_default().push(item);
        }
        let mut jobs = Bulk::new(self.queue.as_ref());
        for ((due, host), items) in visits {
            for visit in VisitJob::several(&host, None, &items) {
                let trace = visit.items.first().and_then(|item| item.purpose.trace().cloned());
                jobs.push(Job::new(visit).traced(trace), due).await?;
            }
        }
        Ok(jobs.send().await?)
    }

    /// Writes a page's row if it is pending, missing or names the replaced record; false if another writer was first.
    async fn write(&self, job: &PageJob, mut seen: Option<RowSeen>, state: PageState) -> Result<bool> {
        let (job, trace) = (job.work.as_ref(), job.trace.clone());
        let is_accepted = matches!(state, PageState::Accepted { .. });
        let mut row = Page {
            feed: job.feed.clone(),
            trace,
            checked_at: job.replaces.as_ref().map(|_| job.fetched_at),
            validators: if is_accepted { job.validators.clone() } else { Validators::default() },
            ..Page::new(job.page.clone(), job.url.clone(), job.host.clone(), state, self.politeness.clock.now())
        };
        for _ in 0..ROW_TRIES {
            // The batch's row is usually current. A row to replace is read again for its time of acceptance.
            if job.replaces.is_some() {
                match self.pages.get(&job.page).await? {
                    Some((page, version)) if !is_decided(job, &page) => {
                        (row.at, row.feed, row.trace) = (page.at, page.feed, page.trace);
                        seen = Some(RowSeen { version, rejected_at: None });
                    }
                    _ => return Ok(false),
                }
            }
            row.rejected_at = seen.and_then(|seen| seen.rejected_at).filter(|_| row.state.has_second_chance());
            let written = match seen {
                None => self.pages.insert(&row).await?,
                Some(seen) => swapped(self.pages.swap(seen.version, &row).await)?,
            };
            if written {
                return Ok(true);
            }
            seen = match self.pages.get(&job.page).await? {
                Some((page, _)) if is_decided(job, &page) => return Ok(false),
                row => row.map(|(page, version)| RowSeen { version, rejected_at: sampling::first_rejected(&page) }),
            };
        }
        Err(PortError::Conflict.into())
    }
}

fn is_of_comments(feed: &FeedSource) -> bool {
    Url::parse(&feed.url).is_ok_and(|url| speaks_of_comments(&url, feed.title.as_deref()))
}

pub(crate) fn with_override(screening: Screening, rules: &[Override], url: &str) -> Screening {
    if let Some(rule) = overrides::about(rules, url) { rule.apply(screening) } else { screening }
}

pub(crate) fn image_id_of(url: &str) -> Option<ImageId> {
    address::parse(url, None).ok().map(|u| address::image_id(&u))
}

/// Returns true if a row has the final outcome of its page. A row that may be taken up has none, since the fetch stage
/// sends the page before it rewrites the row. Nor has one that points to the record to replace.
fn is_decided(job: &ExtractJob, page: &Page) -> bool {
    match (&job.replaces, &page.state) {
        (Some(old), PageState::Accepted { location, .. }) => location != old,
        (Some(_), _) => true,
        (None, PageState::Pending) => false,
        (None, state) => !state.may_be_taken_up() && !sampling::may_look_again(page, job.fetched_at),
    }
}
