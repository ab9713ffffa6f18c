//! Fetches a list of URLs of one host key. New pages go to extraction; re-checks may remove pages.

mod ending;
mod images;
mod interstitial;
mod outcome;
mod recheck;
mod revision;

use crate::bulk::Bulk;
use crate::pages::body::pack;
use crate::pages::judge::{Judge, REMEMBERED_IMAGES};
use crate::pages::{NotTaken, overrides, rejected_apart, scanned};
use crate::politeness::access::Politeness;
use crate::politeness::usage_preferences::StatedUsage;
use crate::politeness::visit::interstitial::{html_of, key_of, read_article};
use crate::politeness::visit::{CallEnd, Fetched, LeaseOutcome, Visit};
use bytes::Bytes;
use curlew_article::{Article, HeadScan};
use curlew_catalog::segment::RecordReader;
use curlew_model::{
    EntryHints, Envelope, ExtractJob, Gone, HostKey, ImageId, Job, MainImage, Millis, Page, PageId, PageState, Purpose,
    Record, Rejection, RemovalJob, StatedPreferences, Timestamp, TraceId, Validators, VisitItem, VisitJob,
    with_defaults,
};
use curlew_policy::address;
use curlew_policy::page::directives::{Directives, robots_tag_lines};
use curlew_policy::page::sampling;
use curlew_policy::page::soft404::is_one_article;
use curlew_policy::politeness::admission::NotNow;
use curlew_policy::politeness::deferral::{ItemWait, Remainder};
use curlew_policy::politeness::marks;
use curlew_policy::politeness::outcome::{CallTarget, Role, is_refusal, url_held};
use curlew_policy::polling::conditional;
use curlew_ports::stage::{Result, Verdict};
use curlew_ports::{Blobs, CallKind, Event, Pages, Ports, Queue, Reply, swapped};
use curlew_screen::{Override, Verdict as Judged};
use interstitial::{MOST_SUSPECTS, Sight, Suspicion};
use lru::LruCache;
use parking_lot::Mutex;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use url::Url;

const KEPT_DOCUMENTS: usize = 2 << 20;

type Thumbnails = Mutex<LruCache<ImageId, Option<Bytes>>>;

with_defaults! {
    /// The stage that fetches new pages and re-checks indexed ones.
    #[derive(Clone)]
    pub struct Fetch {
        politeness: Arc<Politeness>,
        pages: Arc<dyn Pages> = ports.pages.clone(),
        queue: Arc<dyn Queue> = ports.queue.clone(),
        blobs: Arc<dyn Blobs> = ports.blobs.clone(),
        /// The default judge classifies no images.
        pub(crate) judge: Arc<Judge> = Arc::default(),
        /// Thumbnails of recently fetched main images, since pages of one site often share one.
        images: Arc<Thumbnails> = Arc::new(Mutex::new(LruCache::sparse(REMEMBERED_IMAGES))),
        /// Duration after which a visit begins no further item; without it, only the slice is the limit.
        turn: Option<Millis> = None,
        /// Maximum number of sent pages that a host key's state remembers; any other page gets a row at once.
        remembered: usize = 0,
    }

    /// Creates the stage over these ports.
    new(politeness: Arc<Politeness>, ports: &Ports)
}

enum Item {
    Done,
    /// This item waits until then, for this reason; the visit goes on with the next one.
    Apart(Timestamp, ItemWait),
    /// The visit ends here; this item and those after it wait until then.
    Later(NotNow),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Row {
    None,
    /// The page was given up for a reason that may have passed, or gets a second look.
    MayBeTakenUp,
    /// The outcome for the page is decided, or about to be.
    Decided,
}

struct Round<'j> {
    job: &'j Envelope<VisitJob>,
    visit: &'j mut Visit,
    /// Items that wait while the visit goes on, keyed by the end and the reason of their wait.
    apart: BTreeMap<(Timestamp, ItemWait), Vec<VisitItem>>,
    suspects: Vec<(NewPage, Suspicion)>,
    canonical: Option<(Url, Option<String>)>,
    /// Documents of the pages that were sent last, [`KEPT_DOCUMENTS`] bytes: a canonical link to one needs no call.
    sent: VecDeque<SentDocument>,
}

struct SentDocument {
    page: PageId,
    url: Url,
    html: String,
}

/// A new page that was called.
struct NewPage {
    item: VisitItem,
    before: Row,
    got: Fetched,
    seen: Result<ScannedPage, Rejection>,
    /// Number of calls that the page may still cost.
    calls_left: u32,
}

/// Waiting items of a visit, to be sent by [`Fetch::leave`] once the visit's lease is given back.
pub(crate) struct VisitRest {
    apart: BTreeMap<(Timestamp, ItemWait), Vec<VisitItem>>,
    rest: Option<Remainder>,
}

impl Fetch {
    /// Sets a soft limit on visits: after `turn` a visit begins no further item, and the rest waits in the queue. Each
    /// visit finishes at least one item.
    #[must_use]
    pub fn with_time_slice(self, turn: Millis) -> Fetch {
        Fetch { turn: Some(turn), ..self }
    }

    /// Configures the stage for stores where a row costs more than a repeated call: the state of a host key remembers
    /// up to `most` pages that were sent, until extraction writes their rows. When a visit that died is repeated, pages
    /// that are not extracted yet are called once more.
    #[must_use]
    pub fn remember_sent_in_host_state(self, most: usize) -> Fetch {
        Fetch { remembered: most, ..self }
    }

    /// Runs the job, which may have run before.
    pub async fn run(&self, job: &Envelope<VisitJob>) -> Result<Verdict> {
        let owner = match job.work.items.first() {
            Some(item) => format!("fetch {}", item.page),
            None => return Ok(Verdict::Done),
        };
        let mut visit = match self.politeness.open(&job.work.host, &owner).await? {
            LeaseOutcome::Granted(visit) => visit,
            LeaseOutcome::NotNow(not_now) => return self.put_off(job, not_now).await,
            LeaseOutcome::Blocked => {
                // A blocked page is hidden from queries already; the removal erases its text, too.
                let (now, mut removals) = (self.politeness.clock.now(), Bulk::new(self.queue.as_ref()));
                for item in &job.work.items {
                    if item.purpose == Purpose::Recheck {
                        let removal = RemovalJob::remove(item.page.clone(), item.url.clone(), Gone::Blocked, now);
                        removals.push(Job::new(removal).traced(job.trace.clone()), now).await?;
                    } else {
                        self.write_rejection(job, item, Rejection::Blocked).await?;
                    }
                }
                removals.send().await?;
                return Ok(Verdict::Done);
            }
        };
        let left = self.under(&mut visit, job).await;
        let closed = visit.close().await;
        self.leave(job, left?).await?;
        closed?;
        Ok(Verdict::Done)
    }

    /// Runs the items of a job under a lease; returns those that wait. A second run skips finished items.
    pub(crate) async fn under(&self, visit: &mut Visit, job: &Envelope<VisitJob>) -> Result<VisitRest> {
        let calls_before = visit.state.calls;
        let (apart, suspects) = (BTreeMap::new(), Vec::new());
        let mut round = Round { job, visit, apart, suspects, canonical: None, sent: VecDeque::new() };
        let mut done = 0;
        let mut end = Ok(None);
        for item in &job.work.items {
            let is_over = done > 0 && self.turn.is_some_and(|turn| round.visit.lasted() >= turn);
            let ended = match is_over {
                true => Ok(Item::Later(NotNow::busy(round.visit.next_call_at()))),
                false => self.item(&mut round, item).await,
            };
            match ended {
                Ok(Item::Done) => done += 1,
                Ok(Item::Apart(until, wait)) => {
                    done += 1;
                    round.apart.entry((until, wait)).or_default().push(item.clone());
                }
                Ok(Item::Later(not_now)) => {
                    end = Ok(Some(not_now));
                    break;
                }
                Err(error) => {
                    end = Err(error);
                    break;
                }
            }
        }
        for (page, suspicion) in std::mem::take(&mut round.suspects) {
            let item = page.item.clone();
            match self.resolve(&mut round, page, suspicion).await {
                Ok(Item::Done) => {}
                Ok(Item::Apart(until, wait)) => round.apart.entry((until, wait)).or_default().push(item),
                Ok(Item::Later(NotNow { until, why })) => {
                    round.apart.entry((until, ItemWait::of_host(why))).or_default().push(item);
                }
                Err(error) => end = Err(error),
            }
        }
        let Round { visit, apart, .. } = round;
        let calls = visit.state.calls - calls_before;
        let rest = end?.map(|not_now| Remainder { done, calls, not_now });
        Ok(VisitRest { apart, rest })
    }

    async fn item(&self, round: &mut Round<'_>, item: &VisitItem) -> Result<Item> {
        let Ok(url) = address::parse(&item.url, None) else { return Ok(Item::Done) };
        match &item.purpose {
            Purpose::New { .. } => self.new_page(round, item, &url).await,
            Purpose::Recheck => self.recheck(round, item, &url).await,
            Purpose::Image { image, .. } => self.image(round, item, &url, image).await,
        }
    }

    async fn new_page(&self, round: &mut Round<'_>, item: &VisitItem, url: &Url) -> Result<Item> {
        let before = self.row_of(round.visit, &item.page, url).await?;
        if before == Row::Decided {
            return Ok(Item::Done);
        }
        if self.politeness.scope.excludes(url).is_none()
            && let Some(end) = round.visit.ask_site_files(url).await?
            && let Some(waits) = waits(&end)
        {
            return Ok(waits);
        }
        let got = round.visit.get(url, CallKind::Page, &Validators::default()).await?;
        let reply = match &got.end {
            CallEnd::Reply(reply) => reply,
            CallEnd::Rejected(why) => return self.reject(round, item, why.clone()).await,
            end => return Ok(waits(end).unwrap_or(Item::Done)),
        };
        if let Some(until) = round.visit.url_held_until(reply, round.job.deferrals) {
            let is_ours = self.politeness.key_of(&got.url).is_ok_and(|key| key == round.visit.state.host);
            if !(is_ours && is_refusal(reply.status) && round.visit.refused(&item.page)) {
                return Ok(Item::Apart(until, ItemWait::Own));
            }
            let target = CallTarget::new(got.url.as_str(), Role::Document);
            let held = url_held(&round.visit.state.learned, target, self.politeness.clock.now());
            return Ok(Item::Apart(held.map_or(until, |held| held.max(until)), ItemWait::Refused));
        }
        let seen = rejected_apart(self.look(reply, &got.url).await)?;
        let calls_left = self.calls_left(&got);
        let mut page = NewPage { item: item.clone(), before, got, seen, calls_left };
        match self.sight(round, &mut page).await? {
            Sight::Interstitial(waits) => Ok(waits),
            Sight::Suspicious(suspicion) if round.suspects.len() < MOST_SUSPECTS => {
                round.suspects.push((page, suspicion));
                Ok(Item::Done)
            }
            Sight::Suspicious(_) | Sight::Itself => self.take_in(round, page).await,
        }
    }

    async fn take_in(&self, round: &mut Round<'_>, page: NewPage) -> Result<Item> {
        let NewPage { item, before, got, seen, calls_left } = page;
        let (item, got) = (&item, &got);
        let (CallEnd::Reply(reply), Purpose::New { hints }) = (&got.end, &item.purpose) else { return Ok(Item::Done) };
        let seen = match seen {
            Ok(seen) => seen,
            Err(why) => return self.reject(round, item, why).await,
        };
        let preferences = match round.visit.stated(&got.url, reply, Some(&seen.glance)).await? {
            StatedUsage::MayBeFound(preferences) => preferences,
            StatedUsage::Refused(why) => return self.reject(round, item, Rejection::Preference(why)).await,
            StatedUsage::Unknown(end) => return Ok(waits(&end).unwrap_or(Item::Done)),
        };
        self.politeness.events.note(&Event::PageFetched);
        tracing::debug!(url = %got.url, status = reply.status, "a page was fetched");
        let known_as = self.known_as(round, &item.url, got, &seen).await?;
        let id = address::page_id(&known_as);
        let before = if id == item.page { before } else { self.row_of(round.visit, &id, &known_as).await? };
        if before == Row::Decided {
            return self.alias(round, item, id).await;
        }
        // A redirect may have led to another host key than the visit's, which re-checks then call directly.
        let host = self.politeness.key_of(&known_as).unwrap_or_else(|_| round.job.work.host.clone());
        // The page is sent with or without its image. After a crash before that, the calls are repeated.
        let image = self.main_image(round, &seen.glance, calls_left).await;
        let calls_left = calls_left.saturating_sub(u32::from(image.is_some()));
        let found = PageFacts { got, reply, seen: &seen, preferences, image, calls_left };
        let has_room = round.visit.remembered < self.remembered && before == Row::None;
        let is_without_row = has_room && host == round.visit.state.host;
        let job = self.extract_job(found, id.clone(), known_as.as_str(), &host).await?;
        let VisitJob { feed, named_by, site_image, .. } = round.job.work.clone();
        let job = ExtractJob { feed, named_by, hints: hints.clone(), site_image, is_without_row, ..job };
        let now = job.fetched_at;
        self.send(job, now, round.job.trace.as_ref()).await?;
        if is_without_row {
            round.visit.state.learned.sent.add(&id, self.remembered);
            round.visit.remembered += 1;
        } else {
            self.write_row(round.job, &id, &known_as, &host, PageState::Pending).await?;
        }
        round.sent.push_back(SentDocument { page: id.clone(), url: got.url.clone(), html: seen.html });
        while round.sent.iter().map(|kept| kept.html.len()).sum::<usize>() > KEPT_DOCUMENTS {
            round.sent.pop_front();
        }
        if id == item.page { Ok(Item::Done) } else { self.alias(round, item, id).await }
    }

    async fn row_of(&self, visit: &Visit, page: &PageId, url: &Url) -> Result<Row> {
        let is_own = || self.politeness.key_of(url).is_ok_and(|key| key == visit.state.host);
        let row = match self.remembered {
            0 => self.pages.get(page).await?,
            // No visit has fetched a page of this host key yet.
            _ if visit.state.is_first() && is_own() => None,
            // The host key's state has its recent pages; other pages have older rows, which extraction wrote.
            _ => self.pages.load_eventual(page).await?,
        };
        Ok(match row {
            // The page was sent to extraction, and its row is not written or not visible yet.
            None if visit.state.learned.sent.contains(page) => Row::Decided,
            None => Row::None,
            Some((row, _)) if row.state.may_be_taken_up() => Row::MayBeTakenUp,
            Some((row, _)) if sampling::may_look_again(&row, self.politeness.clock.now()) => Row::MayBeTakenUp,
            Some(_) => Row::Decided,
        })
    }

    async fn look(&self, reply: &Reply, url: &Url) -> Result<ScannedPage, NotTaken> {
        if reply.status != 200 {
            return Err(Rejection::Status(reply.status).into());
        }
        // The header applies to every kind of document, including those that are not read.
        if self.directives(&[], reply, url).noindex {
            return Err(Rejection::Noindex.into());
        }
        let media = reply.headers.content_type.clone();
        if reply.body_skipped {
            let media = media.as_deref().unwrap_or("of an unknown type");
            return Err(Rejection::MediaType(media.chars().take(60).collect()).into());
        }
        let pool = self.politeness.pool.as_ref();
        let (html, mut glance) = scanned(pool, reply.body.clone(), media, url).await?;
        let directives = self.directives(&glance.robots_meta, reply, url);
        if directives.noindex {
            return Err(Rejection::Noindex.into());
        }
        if directives.noimageindex {
            glance.image = None;
            glance.other_images.clear();
        }
        Ok(ScannedPage { html, glance, directives })
    }

    async fn override_of(&self, url: &str) -> Result<Option<Override>> {
        let rules = self.judge.rules(self.blobs.as_ref(), self.politeness.clock.as_ref()).await?;
        Ok(overrides::about(&rules, url).cloned())
    }

    fn directives(&self, meta: &[(String, String)], reply: &Reply, url: &Url) -> Directives {
        let Politeness { scope, token, .. } = &*self.politeness;
        let robots_tags = robots_tags(reply);
        let heeded = scope.directives(url, meta, &robots_tags, token);
        if scope.meta_ignored.contains(url) {
            let said = Directives::gather(meta, &robots_tags, token).names();
            if !said.is_empty() {
                tracing::warn!(
                    %url,
                    ?said,
                    "the directives of the page are not heeded: the settings say that it is the operator's own"
                );
            }
        }
        heeded
    }

    /// Returns the URL under which a page is stored: its canonical link (RFC 6596 §3, a hint) if that has the same host
    /// key, may be called, and shows the same text; otherwise the URL that answered.
    async fn known_as(&self, round: &mut Round<'_>, called: &str, got: &Fetched, seen: &ScannedPage) -> Result<Url> {
        let answered = address::canonical(&got.url);
        let link = canonical_link(&self.politeness, &answered, seen.glance.canonical.as_ref());
        let Some(link) = link else { return Ok(answered) };
        // A forbidden URL must not be indexed, and a hint is not worth a call for another robots.txt.
        let ours = self.politeness.key_of(&link).ok().as_ref() == Some(&round.visit.state.host);
        if !ours || !round.visit.is_allowed_without_call(&link).await? {
            return Ok(answered);
        }
        let is_right = link.as_str() == called
            || (address::drops_only_extras(&link, &answered)
                && self.row_of(round.visit, &address::page_id(&link), &link).await? != Row::Decided)
            || (link.host_str() == answered.host_str() && self.shows_text(round, &link, got, seen).await?);
        Ok(if is_right { link } else { answered })
    }

    /// Returns true if a canonical link shows the page's text, according to its record, its document in this visit, or
    /// one call for all pages that name it. A link that cannot be called now is believed.
    async fn shows_text(&self, round: &mut Round<'_>, link: &Url, got: &Fetched, seen: &ScannedPage) -> Result<bool> {
        if round.canonical.as_ref().is_none_or(|(known, _)| known != link) {
            let page = address::page_id(link);
            let row = self.pages.load_eventual(&page).await?.map(|(row, _)| row.state);
            let text = if let Some(PageState::Accepted { location, .. }) = row {
                RecordReader(self.blobs.as_ref()).read(&location).await?.map(|record| record.text)
            } else if let Some(sent) = round.sent.iter().find(|kept| kept.page == page) {
                let read = read_article(self.politeness.pool.as_ref(), sent.html.clone(), &sent.url).await?;
                read.map(|(_, article)| article.text)
            } else {
                let answer = round.visit.get(link, CallKind::Page, &Validators::default()).await?;
                if !matches!(answer.end, CallEnd::Reply(_) | CallEnd::Rejected(_)) {
                    return Ok(true);
                }
                self.shown_article(&answer).await?.map(|article| article.text)
            };
            round.canonical = Some((link.clone(), text));
        }
        let Some((_, Some(text))) = &round.canonical else { return Ok(false) };
        let own = read_article(self.politeness.pool.as_ref(), seen.html.clone(), &got.url).await?;
        Ok(own.is_some_and(|(_, article)| is_one_article(text, &article.text)))
    }

    async fn shown_article(&self, answer: &Fetched) -> Result<Option<Article>> {
        let CallEnd::Reply(reply) = &answer.end else { return Ok(None) };
        if reply.status != 200 || reply.body_skipped {
            return Ok(None);
        }
        let read = read_article(self.politeness.pool.as_ref(), html_of(reply), &answer.url).await?;
        Ok(read.map(|(_, article)| article))
    }

    /// Returns the number of calls that a fetched page may still cost; each redirect was one.
    fn calls_left(&self, got: &Fetched) -> u32 {
        let used = u32::try_from(got.hops).unwrap_or(u32::MAX).saturating_add(1);
        self.politeness.rules.calls_per_page.saturating_sub(used)
    }

    async fn extract_job(&self, found: PageFacts<'_>, page: PageId, url: &str, host: &HostKey) -> Result<ExtractJob> {
        let now = self.politeness.clock.now();
        let PageFacts { got, reply, seen, preferences, image, calls_left } = found;
        let exchange = reply.exchange.clone().filter(|_| !seen.directives.noarchive);
        let told = seen.glance.without_programs(&seen.html);
        // A page that is kept raw is sent unchanged; all others are sent as UTF-8.
        let (document, content_type) = match &exchange {
            Some(_) => (reply.body.as_ref(), reply.headers.content_type.clone()),
            None => (told.as_bytes(), Some("text/html; charset=utf-8".into())),
        };
        let thumbnail = image.as_ref().and_then(|image| image.thumbnail.as_ref()).map_or(0, Bytes::len);
        let heads = exchange.as_ref().map_or(0, |heads| heads.request.len() + heads.response.len());
        let body = pack(self.blobs.as_ref(), &page, document, thumbnail + heads, now).await?;
        let (url, final_url) = (url.to_owned(), got.url.as_str().to_owned());
        let robots_tags = robots_tags(reply);
        let validators = conditional::for_page(&reply.headers.validators);
        let job = ExtractJob::new(page, host.clone(), url, final_url, body, now);
        Ok(ExtractJob { content_type, robots_tags, preferences, image, calls_left, validators, exchange, ..job })
    }
}

/// Returns a page's canonical link if it is plausible: another URL of its host key that the guard allows.
pub(crate) fn canonical_link(politeness: &Politeness, answered: &Url, link: Option<&Url>) -> Option<Url> {
    let link = address::canonical(&address::parse(link?.as_str(), None).ok()?);
    let same_host = politeness.key_of(&link).ok() == politeness.key_of(answered).ok();
    let is_home = link.path() == "/" && link.query().is_none();
    // A canonical link to the home page on every page is a common mistake of templates.
    let plausible =
        link != *answered && same_host && (!is_home || answered.path() == "/") && !address::is_leftover_address(&link);
    (plausible && politeness.fetch.vet(link.as_str()).is_ok()).then_some(link)
}

struct PageFacts<'a> {
    got: &'a Fetched,
    reply: &'a Reply,
    seen: &'a ScannedPage,
    preferences: StatedPreferences,
    image: Option<MainImage>,
    calls_left: u32,
}

fn robots_tags(reply: &Reply) -> Vec<String> {
    [reply.headers.robots_tags.clone(), robots_tag_lines(&reply.headers.structured_robots_tags)].concat()
}

struct ScannedPage {
    html: String,
    glance: HeadScan,
    directives: Directives,
}

/// Returns the outcome of an item whose call was not answered; `None` if it was answered or rejected.
fn waits(end: &CallEnd) -> Option<Item> {
    match end {
        CallEnd::Elsewhere(until) => Some(Item::Apart(*until, ItemWait::Own)),
        CallEnd::Refused(until) => Some(Item::Apart(*until, ItemWait::Refused)),
        CallEnd::Later(until) => Some(Item::Later(NotNow::busy(*until))),
        CallEnd::Held(until, why) => Some(Item::Later(NotNow::held(*until, *why))),
        CallEnd::Reply(_) | CallEnd::Rejected(_) => None,
    }
}
