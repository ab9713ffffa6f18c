//! Extract: makes records of fetched pages, many in one segment, and writes what became of each page.

use crate::body::{discard, unpack};
use crate::{Stage, StageError, Verdict, segment};
use curlew_article::{Article, Limits, decode, extract, validity};
use curlew_model::{
    ExtractJob, ImageId, Job, Location, Page, PageState, Purpose, Record, Rejection, Source, SourceKey, Timestamp,
    VisitItem, VisitJob,
};
use curlew_policy::address::{self, HostGroups, hash_hex};
use curlew_policy::directives::Directives;
use curlew_ports::{Blobs, Clock, Event, Events, Pages, PortError, Queue, Sources, Version};
use curlew_screen::{Verdict as Screened, screen};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use url::Url;

/// How often the row of a page is tried to be written while others write it.
const ROW_TRIES: u32 = 4;

/// The stage that makes records.
pub struct Extract {
    /// The rows of pages.
    pub pages: Arc<dyn Pages>,
    /// For the feed's URL and title.
    pub sources: Arc<dyn Sources>,
    /// Where segments go.
    pub blobs: Arc<dyn Blobs>,
    /// For visits to images that only the text shows.
    pub queue: Arc<dyn Queue>,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Who counts.
    pub events: Arc<dyn Events>,
    /// What counts as one host.
    pub groups: Arc<HostGroups>,
    /// The product token that meta tags name us by.
    pub token: String,
}

/// What is needed of a feed.
#[derive(Clone, Default)]
struct FeedFacts {
    url: Option<String>,
    title: Option<String>,
    image: Option<String>,
    language: Option<String>,
}

/// One job of a batch on its way.
enum Made {
    /// The page's row says already what became of it.
    Known,
    Record(Box<Record>),
    Rejected(Rejection),
}

impl Extract {
    /// Does a batch of jobs; their records share one segment. One verdict for each job, in order.
    pub async fn run_batch(&self, jobs: &[ExtractJob]) -> Vec<Result<Verdict, StageError>> {
        let mut feeds = HashMap::new();
        let mut images = HashSet::new();
        let mut verdicts: Vec<Option<Result<Verdict, StageError>>> = Vec::with_capacity(jobs.len());
        let mut kept: Vec<(usize, Record)> = Vec::new();
        for (n, job) in jobs.iter().enumerate() {
            verdicts.push(match self.make(job, &mut feeds).await {
                Ok(Made::Known) => Some(Ok(Verdict::Done)),
                Ok(Made::Rejected(why)) => Some(self.rejected(job, why).await),
                Ok(Made::Record(record)) => {
                    kept.push((n, *record));
                    None
                }
                Err(error) => Some(Err(error)),
            });
        }
        if !kept.is_empty() {
            let records: Vec<Record> = kept.iter().map(|(_, r)| r.clone()).collect();
            match segment::write(self.blobs.as_ref(), &records, self.clock.now()).await {
                Ok(locations) => {
                    for ((n, record), location) in kept.iter().zip(locations) {
                        verdicts[*n] = Some(self.accepted(&jobs[*n], record, location, &mut images).await);
                    }
                }
                Err(error) => {
                    let text = error.to_string();
                    let mut first = Some(error);
                    for (n, _) in &kept {
                        let error = first
                            .take()
                            .unwrap_or_else(|| PortError::Unavailable { what: text.clone(), source: None }.into());
                        verdicts[*n] = Some(Err(error));
                    }
                }
            }
        }
        verdicts.into_iter().map(|v| v.unwrap_or(Ok(Verdict::Done))).collect()
    }

    async fn make(&self, job: &ExtractJob, feeds: &mut HashMap<SourceKey, FeedFacts>) -> Result<Made, StageError> {
        if let Some((page, _)) = self.pages.get(&job.page).await?
            && page.state != PageState::Pending
        {
            return Ok(Made::Known);
        }
        let body = unpack(self.blobs.as_ref(), &job.body).await?;
        let html = decode(&body, job.content_type.as_deref());
        let base = Url::parse(&job.final_url).map_err(|e| StageError::Job(e.to_string()))?;
        let article = match extract(&html, &base, &Limits::default()) {
            Ok(article) => article,
            Err(why) => return Ok(Made::Rejected(Rejection::Unreadable(why.to_string()))),
        };
        let feed = self.feed_facts(job.feed.as_ref(), feeds).await?;
        Ok(self.record(job, article, feed))
    }

    fn record(&self, job: &ExtractJob, article: Article, feed: FeedFacts) -> Made {
        let directives = Directives::gather(&article.robots_meta, &job.robots_tags, &self.token);
        if directives.noindex || directives.expired(job.fetched_at) {
            return Made::Rejected(Rejection::Noindex);
        }
        let title = article.title.or_else(|| job.hints.title.clone()).filter(|t| !t.trim().is_empty());
        let own_image = article.image.map(String::from);
        let site_image = job.site_image.clone().or(feed.image);
        let any_image = own_image.as_deref().or(site_image.as_deref());
        if let Err(why) = validity(title.as_deref(), &article.text, any_image) {
            return Made::Rejected(why);
        }
        let title = title.unwrap_or_default();
        let screening = screen(&title, &article.text, article.language.as_deref());
        if screening.verdict == Screened::Reject {
            return Made::Rejected(Rejection::Screened(screening.rejected_for()));
        }
        // `noimageindex`: the page has an image, and asks that it is not shown.
        let own_image = own_image.filter(|_| !directives.noimageindex);
        let image = own_image.clone().or(site_image);
        let not_future = |at: Timestamp| at.min(job.fetched_at);
        let host = Url::parse(&job.url).ok().and_then(|u| u.host_str().map(str::to_owned)).unwrap_or_default();
        Made::Record(Box::new(Record {
            id: job.page.clone(),
            url: job.url.clone(),
            host,
            feed: feed.url,
            site_name: article.site_name.or(feed.title),
            title,
            text: article.text,
            image_of_site: own_image.is_none(),
            thumbnail: image.as_deref().and_then(image_id_of),
            image,
            language: article.language.or(feed.language),
            published: article.published.or(job.hints.published).map(not_future),
            modified: article.modified.map(not_future),
            author: article.author.or_else(|| job.hints.author.clone()),
            fetched_at: job.fetched_at,
            snippet_limit: directives.snippet_limit(),
            no_archive: directives.noarchive,
            unavailable_after: directives.unavailable_after,
        }))
    }

    async fn feed_facts(
        &self,
        key: Option<&SourceKey>,
        known: &mut HashMap<SourceKey, FeedFacts>,
    ) -> Result<FeedFacts, StageError> {
        let Some(key) = key else { return Ok(FeedFacts::default()) };
        if let Some(facts) = known.get(key) {
            return Ok(facts.clone());
        }
        let facts = match self.sources.get(key).await? {
            Some((Source::Feed(f), _)) => {
                FeedFacts { url: Some(f.url), title: f.title, image: f.image, language: f.language }
            }
            _ => FeedFacts::default(),
        };
        known.insert(key.clone(), facts.clone());
        Ok(facts)
    }

    async fn rejected(&self, job: &ExtractJob, reason: Rejection) -> Result<Verdict, StageError> {
        if self.write(job, PageState::Rejected { reason: reason.clone() }).await? {
            self.events.note(&Event::Rejected(&reason));
        }
        discard(self.blobs.as_ref(), &job.body).await?;
        Ok(Verdict::Done)
    }

    async fn accepted(
        &self,
        job: &ExtractJob,
        record: &Record,
        location: Location,
        images: &mut HashSet<ImageId>,
    ) -> Result<Verdict, StageError> {
        let year = segment_year(&location);
        let content_hash = hash_hex(format!("{}\n{}", record.title, record.text).as_bytes())[..16].to_owned();
        // Pages of one site often share its image: one visit a batch is enough.
        if job.calls_left > 0 && record.thumbnail.as_ref().is_some_and(|image| images.insert(image.clone())) {
            self.image_visit(job, record).await?;
        }
        if self.write(job, PageState::Accepted { year, location, content_hash }).await? {
            self.events.note(&Event::Accepted);
        }
        discard(self.blobs.as_ref(), &job.body).await?;
        Ok(Verdict::Done)
    }

    /// An image that the head of the page did not name was not fetched with it; it gets a visit of its own.
    async fn image_visit(&self, job: &ExtractJob, record: &Record) -> Result<(), StageError> {
        let Some((image, url)) = record.thumbnail.as_ref().zip(record.image.as_deref()) else { return Ok(()) };
        if crate::image::was_tried(self.blobs.as_ref(), image).await? {
            return Ok(());
        }
        let Ok(url) = address::parse(url, None) else { return Ok(()) };
        let Ok(host) = address::host_key(&url, &self.groups) else { return Ok(()) };
        let item =
            VisitItem { url: url.into(), page: job.page.clone(), purpose: Purpose::Image { image: image.clone() } };
        let visit = VisitJob { host, feed: None, site_image: None, items: vec![item], deferrals: 0 };
        self.queue.send(&[(Job::Fetch(visit), self.clock.now())]).await?;
        Ok(())
    }

    /// Writes the row of a page that is still pending, or has no row since the fetcher crashed before it wrote one;
    /// says whether it was written. Whoever is first decides.
    async fn write(&self, job: &ExtractJob, state: PageState) -> Result<bool, StageError> {
        let row = Page {
            id: job.page.clone(),
            url: job.url.clone(),
            host: job.host.clone(),
            feed: job.feed.clone(),
            state,
            at: self.clock.now(),
            checked_at: None,
        };
        for _ in 0..ROW_TRIES {
            let seen: Version = match self.pages.get(&job.page).await? {
                None if self.pages.insert(&row).await? => return Ok(true),
                None => continue,
                Some((page, _)) if page.state != PageState::Pending => return Ok(false),
                Some((_, seen)) => seen,
            };
            match self.pages.swap(seen, &row).await {
                Ok(_) => return Ok(true),
                Err(PortError::Conflict) => {}
                Err(other) => return Err(other.into()),
            }
        }
        Err(PortError::Conflict.into())
    }
}

fn image_id_of(url: &str) -> Option<ImageId> {
    address::parse(url, None).ok().map(|u| address::image_id(&u))
}

fn segment_year(location: &Location) -> curlew_model::Year {
    segment::segment_day(&location.segment).get(..4).and_then(|y| y.parse().ok()).unwrap_or(0)
}

impl Stage for Extract {
    const NAME: &'static str = "extract";
    type Job = ExtractJob;

    async fn run(&self, job: &ExtractJob) -> Result<Verdict, StageError> {
        self.run_batch(std::slice::from_ref(job)).await.pop().unwrap_or(Ok(Verdict::Done))
    }
}
