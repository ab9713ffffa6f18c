//! Backfill: reads the back catalogue of a site, one step at a time. A step reads at most one document and sends at
//! most one visit of new pages. Its row is written after the visits and the job of the next step are in the queue: a
//! step that dies is repeated, and pages that are sent twice are called once.

mod document;
mod lists;

use crate::feeds::intake::{Intake, visit_jobs};
use crate::politeness::visit::{CallEnd, LeaseOutcome, Visit};
use curlew_catalog::hidden::{Hidden, hidden};
use curlew_feed::Entry;
use curlew_model::{
    AddressList, Backfill, BackfillDocument, BackfillJob, BackfillPhase, BackfillState, DocumentKind, FeedSource,
    HoldReason, HostKey, Job, Listed, SiteState, Source, SourceKey, Timestamp, VisitItem,
};
use curlew_policy::politeness::admission::NotNow;
use curlew_policy::polling::backfill::{self, Setback, Work};
use curlew_policy::robots::sitemaps;
use curlew_policy::rules::{BACKFILL_PORTION, BUSY_RETRY};
use curlew_policy::{address, trace};
use curlew_ports::stage::{Result, StageError, Verdict};
use curlew_ports::{Version, update_host};
use lists::PageAddress;
use std::collections::BTreeMap;
use std::sync::Arc;
use url::Url;

/// Maximum number of turns in one step. A turn may make no call, for instance at the end of a list.
const TURNS: usize = 8;
/// Maximum number of addresses that one step looks up, of which most may be known.
const LOOKED_UP: usize = 200;
const USUAL_SITEMAPS: [&str; 2] = ["/sitemap.xml", "/sitemap_index.xml"];

/// The stage that reads back catalogues.
#[derive(Clone)]
pub struct Backfills {
    /// Looks up entries and sends their visits.
    pub intake: Arc<Intake>,
}

/// A request for a backfill, by a person or a setting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BackfillRequest {
    /// Earliest date of wanted pages.
    pub since: Option<Timestamp>,
    /// Maximum number of pages.
    pub limit: Option<u64>,
    /// True if a person asks, and not a setting.
    pub asked: bool,
    /// True to restart a backfill that has ended, which a person's request always does.
    pub again: bool,
}

/// The site of a backfill, as loaded for one step.
struct Site {
    home: Url,
    host: HostKey,
    hidden: Hidden,
}

enum Turn {
    /// The step continues with this row.
    Next(Backfill),
    /// The step ends with this row.
    End(Backfill),
    /// The step is tried again at this instant.
    Again(Timestamp),
}

impl Backfills {
    /// Runs the job, which may have run before.
    pub async fn run(&self, job: &BackfillJob) -> Result<Verdict> {
        let Some((Source::Backfill(row), seen)) = self.intake.sources.get(&job.backfill).await? else {
            self.erase_lists(&job.backfill).await?;
            return Ok(Verdict::Drop("the backfill is not known".into()));
        };
        if row.state != BackfillState::Running {
            // A step that ran while the backfill ended may have written one more list.
            self.erase_lists(&row.key).await?;
            return Ok(Verdict::Drop("the backfill has ended".into()));
        }
        if row.step > job.step {
            return Ok(Verdict::Drop("the backfill has come further".into()));
        }
        if row.step < job.step && !backfill::is_lost(&row, self.now()) {
            // The row is written after the job of the next step is sent, so it may not be there yet.
            return Ok(Verdict::Defer(self.now() + BUSY_RETRY));
        }
        if self.now() < row.due {
            return Ok(Verdict::Defer(row.due));
        }
        let before = objects(&row);
        if backfill::is_lost(&row, self.now()) {
            // The step's job was late or lost, which counts as a failure: a document may kill the process.
            let why = Setback::Trouble(self.now(), "its last step was lost".to_owned());
            self.keep(backfill::set_back(row, why, self.now()), seen, &before).await?;
            return Ok(Verdict::Done);
        }
        match self.step(row).await? {
            Err(until) => Ok(Verdict::Defer(until)),
            Ok(next) => {
                self.keep(next, seen, &before).await?;
                Ok(Verdict::Done)
            }
        }
    }

    fn now(&self) -> Timestamp {
        self.intake.politeness.clock.now()
    }

    /// Begins or continues the backfill of a known site or feed; returns false if there is no such row.
    pub async fn begin(&self, of: &SourceKey, request: BackfillRequest) -> Result<bool> {
        let Some((row, _)) = self.intake.sources.get(of).await? else { return Ok(false) };
        if !matches!(row, Source::Site(_) | Source::Feed(_)) {
            return Ok(false);
        }
        let key = key_of(of)?;
        let new = Backfill::new(key.clone(), address::slot(&key), of.clone(), row.url().to_owned(), self.now());
        let with = |row: Backfill| {
            let (since, limit) = (request.since.or(row.since), request.limit.or(row.limit));
            Backfill { since, limit, asked: row.asked || request.asked, ..row }
        };
        let row = match self.intake.sources.get(&key).await? {
            Some((Source::Backfill(known), seen)) if request.asked || request.again => {
                let is_over = known.state != BackfillState::Running;
                let row = if is_over { Backfill { step: known.step.saturating_add(1), ..new } } else { known };
                let row = with(row);
                self.intake.sources.swap(seen, &Source::Backfill(row.clone())).await?;
                row
            }
            Some((Source::Backfill(known), _)) => known,
            _ => {
                let row = with(new);
                self.intake.sources.insert(&Source::Backfill(row.clone())).await?;
                row
            }
        };
        if row.state == BackfillState::Running {
            self.intake.queue.send(&[job(&row)]).await?;
        }
        Ok(true)
    }

    /// Begins the backfill of a new site or feed, if the settings ask for one.
    pub(crate) async fn begin_by_rule(&self, of: &SourceKey) -> Result<()> {
        if self.intake.politeness.rules.backfill {
            self.begin(of, BackfillRequest::default()).await?;
        }
        Ok(())
    }

    /// Begins or restarts the backfill of a site without feeds, which reads its sitemaps.
    pub(crate) async fn read_sitemaps(&self, site: &SourceKey) -> Result<()> {
        self.begin(site, BackfillRequest { again: true, ..BackfillRequest::default() }).await.map(drop)
    }

    /// Ends a backfill for this reason, and erases its lists.
    pub async fn erase(&self, key: &SourceKey, why: &str) -> Result<()> {
        let Some((Source::Backfill(row), seen)) = self.intake.sources.get(key).await? else {
            return self.erase_lists(key).await;
        };
        let (next, visited, phase) = (None, vec![], BackfillPhase::Rest);
        let row = Backfill { next, visited, phase, ..given_up(row, why) };
        self.keep(row, seen, &[]).await
    }

    /// Sends the job of the next step, then writes the row and erases the lists that are used up.
    async fn keep(&self, mut row: Backfill, seen: Version, before: &[String]) -> Result<()> {
        row.step = row.step.saturating_add(1);
        if row.state == BackfillState::Running {
            self.intake.queue.send(&[job(&row)]).await?;
        } else {
            row.lists.clear();
            tracing::info!(url = %row.url, state = ?row.state, pages = row.sent, "a backfill has ended");
        }
        let (key, left, is_over) = (row.key.clone(), objects(&row), row.state != BackfillState::Running);
        self.intake.sources.swap(seen, &Source::Backfill(row)).await?;
        if is_over {
            return self.erase_lists(&key).await;
        }
        for object in before.iter().filter(|object| !left.contains(object)) {
            self.intake.politeness.blobs.delete(object).await?;
        }
        Ok(())
    }

    /// Runs one step; the error is the time of the next attempt.
    async fn step(&self, mut row: Backfill) -> Result<Result<Backfill, Timestamp>> {
        let politeness = self.intake.politeness.as_ref();
        let home = address::parse(&row.url, None).map_err(|e| StageError::Job(e.to_string()))?;
        let host = politeness.key_of(&home).map_err(|e| StageError::Job(e.to_string()))?;
        let hidden = hidden(politeness.blobs.as_ref()).await?;
        let (state, _) = politeness.ledger.load_eventual(&host).await?;
        if state.is_blocked(host.as_str()) || home.host_str().is_some_and(|name| state.is_blocked(name)) {
            return Ok(Ok(given_up(row, "the host is blocked")));
        }
        if hidden.is_without_history(&row.url) {
            return Ok(Ok(backfill::set_back(row, Setback::TurnedOff, self.now())));
        }
        if let Some((until, why)) = backfill::obstacle(&state, &politeness.rules, self.now()) {
            return Ok(Ok(backfill::set_back(row, Setback::Later(until, why), self.now())));
        }
        if let Some(until) = backfill::while_visited(&state, &politeness.rules, self.now()) {
            // The row stays the same: the visit may belong to another delivery of this job.
            return Ok(Err(until));
        }
        let (sent, documents, site) = (row.sent, row.documents, Site { home, host, hidden });
        for _ in 0..TURNS {
            let turn = match backfill::next(&row) {
                Work::End(state) => Turn::End(Backfill { state, note: None, ..row }),
                Work::Begin => self.feeds(row).await?,
                Work::Feed(feed) => Turn::Next(self.feed(row, &feed).await?),
                Work::Sitemaps => self.sitemaps(row, &site).await?,
                Work::Document(document) => self.document(row, document, &site).await?,
                Work::Addresses(list) => self.addresses(row, list, &site).await?,
            };
            row = match turn {
                Turn::Next(row) => row,
                Turn::End(row) => {
                    let taken = (row.sent - sent) + u64::from(row.documents - documents);
                    let room = backfill::room_until(&state, taken, &politeness.rules, self.now());
                    return Ok(Ok(Backfill { due: row.due.max(room), ..row }));
                }
                Turn::Again(until) => return Ok(Err(until)),
            };
        }
        Ok(Ok(backfill::pace(row, 0, &politeness.rules, self.now())))
    }

    async fn feeds(&self, row: Backfill) -> Result<Turn> {
        let feeds = match self.intake.sources.get(&row.of).await? {
            Some((Source::Feed(feed), _)) => vec![feed.key],
            Some((Source::Site(site), _)) => match site.state {
                SiteState::Working { feeds } => feeds,
                SiteState::Feedless { .. } => vec![],
                SiteState::Refused { reason } => return Ok(Turn::End(given_up(row, &reason))),
                SiteState::Replaced { by } => {
                    return Ok(Turn::End(given_up(row, &format!("{by} was named in its place"))));
                }
                SiteState::Waiting => {
                    let why = Setback::Undiscovered(site.not_before);
                    return Ok(Turn::End(backfill::set_back(row, why, self.now())));
                }
            },
            _ => return Ok(Turn::End(given_up(row, "its site or feed is not known any more"))),
        };
        Ok(Turn::Next(Backfill { phase: BackfillPhase::Feeds(feeds), ..row }))
    }

    async fn feed(&self, mut row: Backfill, key: &SourceKey) -> Result<Backfill> {
        if let BackfillPhase::Feeds(feeds) = &mut row.phase {
            feeds.retain(|feed| feed != key);
        }
        let Some(feed) = self.feed_row(key).await? else { return Ok(row) };
        let kind = DocumentKind::Feed { feed: feed.key.clone(), number: 1, entries: 0, barren: 0, oldest: None };
        Ok(Backfill { next: Some(BackfillDocument { url: feed.url, kind }), ..row })
    }

    async fn feed_row(&self, key: &SourceKey) -> Result<Option<FeedSource>> {
        let Some((Source::Feed(feed), _)) = self.intake.sources.get(key).await? else { return Ok(None) };
        let heir = feed.moved.as_ref().filter(|_| feed.gone).and_then(|(to, _)| Url::parse(to).ok());
        let Some(heir) = heir else { return Ok(Some(feed).filter(|feed| !feed.gone)) };
        let heir = self.intake.sources.get(&address::source_key(&heir)).await?;
        Ok(heir.and_then(|(row, _)| if let Source::Feed(heir) = row { Some(heir) } else { None }))
    }

    async fn sitemaps(&self, row: Backfill, site: &Site) -> Result<Turn> {
        let (politeness, home) = (self.intake.politeness.as_ref(), &site.home);
        let mut visit = match self.open(&row, site, &site.host, home.as_str()).await? {
            Ok(visit) => visit,
            Err(turn) => return Ok(turn),
        };
        let asked = visit.permission(home).await;
        visit.close().await?;
        if let Err(end) = asked? {
            return Ok(match waits(&end) {
                Some((until, why)) => Turn::End(backfill::set_back(row, Setback::Trouble(until, why), self.now())),
                None => Turn::End(given_up(row, "its robots.txt cannot be read")),
            });
        }
        let origin = address::origin(home).map_err(|e| StageError::Job(e.to_string()))?;
        let copy = politeness.robots.get(&origin).await?;
        let mut named = copy.map(|copy| sitemaps(&copy.body)).unwrap_or_default();
        if named.is_empty() {
            named.extend(USUAL_SITEMAPS.map(str::to_owned));
        }
        let named = named.iter().filter_map(|text| address::parse(text, Some(home)).ok());
        let named = named.map(|url| PageAddress { url: url.into(), ..PageAddress::default() }).collect();
        let row = Backfill { phase: BackfillPhase::Rest, ..row };
        // A used-up list is erased only if the row was stored with it, so the step ends here.
        let row = self.list(row, named, &Listed::Sitemaps(0), None).await?;
        Ok(Turn::End(self.progress(row, 0, 0)))
    }

    /// Opens a visit, or returns the end of the step. Trouble at another host costs at most one document.
    async fn open(&self, row: &Backfill, site: &Site, host: &HostKey, url: &str) -> Result<Result<Box<Visit>, Turn>> {
        let is_own = *host == site.host;
        let set_back = |why| Turn::End(backfill::set_back(row.clone(), why, self.now()));
        Ok(Err(match self.intake.politeness.open(host, &format!("backfill {}", row.key)).await? {
            LeaseOutcome::Granted(visit) => return Ok(Ok(visit)),
            LeaseOutcome::NotNow(NotNow { until, why: None }) => Turn::Again(until),
            LeaseOutcome::NotNow(NotNow { until, why: Some(why) }) if is_own || why == HoldReason::Rest => {
                set_back(Setback::Later(until, format!("the host is held ({})", why.as_str())))
            }
            LeaseOutcome::NotNow(NotNow { until, why: Some(why) }) => {
                set_back(Setback::Trouble(until, format!("the host of {url} is held ({})", why.as_str())))
            }
            LeaseOutcome::Blocked if is_own => Turn::End(given_up(row.clone(), "the host is blocked")),
            LeaseOutcome::Blocked => {
                let why = format!("{url}: its host is blocked");
                Turn::End(backfill::left_out(row.clone(), why, self.now()))
            }
        }))
    }

    async fn addresses(&self, mut row: Backfill, list: AddressList, site: &Site) -> Result<Turn> {
        let Some(left) = self.listed(&list).await? else {
            row.lists.pop();
            let (next, outcome) = (list.then, Some("a list of its addresses is lost".to_owned()));
            return Ok(Turn::Next(Backfill { next, outcome, ..row }));
        };
        if let Listed::Sitemaps(depth) = list.of {
            let url = left.first().map(|first| first.url.clone());
            advance(&mut row, 1);
            row.next = url.map(|url| BackfillDocument { url, kind: DocumentKind::Sitemap { depth } });
            return Ok(Turn::Next(row));
        }
        let Listed::Pages(feed) = &list.of else { return Ok(Turn::Next(row)) };
        let source = self.source(&row, feed.as_ref()).await?;
        let portion = self.portion(&row, &source, &left, site).await?;
        if portion.done == 0 {
            // The budget of the first page's host is used up.
            return Ok(Turn::End(backfill::set_back(row, Setback::BudgetSpent, self.now())));
        }
        advance(&mut row, portion.done);
        Ok(Turn::End(self.progress(row, portion.sent, 0)))
    }

    fn progress(&self, row: Backfill, pages: u32, documents: u32) -> Backfill {
        let taken = pages.saturating_add(documents);
        let row = Backfill { sent: row.sent.saturating_add(pages.into()), ..row };
        backfill::pace(row, taken, &self.intake.politeness.rules, self.now())
    }

    /// Returns the feed that lists pages, or a substitute made from the backfill's row.
    async fn source(&self, row: &Backfill, feed: Option<&SourceKey>) -> Result<FeedSource> {
        if let Some(key) = feed
            && let Some(feed) = self.feed_row(key).await?
        {
            return Ok(feed);
        }
        let image = match self.intake.sources.get(&row.of).await? {
            Some((Source::Site(site), _)) => site.image,
            _ => None,
        };
        Ok(FeedSource { image, ..FeedSource::new(row.key.clone(), row.slot, row.url.clone()) })
    }

    /// Sends visits of the first new pages of a list, as far as the budgets of their hosts allow.
    async fn portion(&self, row: &Backfill, feed: &FeedSource, pages: &[PageAddress], site: &Site) -> Result<Portion> {
        let (politeness, now) = (self.intake.politeness.as_ref(), self.now());
        let room =
            row.limit.map_or(usize::MAX, |limit| usize::try_from(limit.saturating_sub(row.sent)).unwrap_or(usize::MAX));
        let (mut done, mut chosen): (usize, Vec<(usize, HostKey, VisitItem)>) = (0, vec![]);
        for page in pages.iter().take(LOOKED_UP) {
            if chosen.len() >= BACKFILL_PORTION.min(room) {
                break;
            }
            if !site.hidden.is_without_history(&page.url)
                && let Some((host, item)) = self.intake.item(feed, &page.entry(), None, now).await?
            {
                chosen.push((done, host, item));
            }
            done += 1;
        }
        let mut left: BTreeMap<HostKey, u32> = BTreeMap::new();
        for (_, host, _) in &chosen {
            *left.entry(host.clone()).or_default() += 1;
        }
        for (host, count) in &mut left {
            let grant = |state| backfill::grant(state, *count, &politeness.rules, now);
            *count = update_host(politeness.ledger.as_ref(), host, grant).await?;
        }
        let (mut visits, mut sent): (BTreeMap<HostKey, Vec<VisitItem>>, u32) = (BTreeMap::new(), 0);
        for (n, host, item) in chosen {
            match left.get_mut(&host).filter(|count| **count > 0) {
                Some(count) => *count -= 1,
                None => {
                    done = n;
                    break;
                }
            }
            sent += 1;
            visits.entry(host).or_default().push(item);
        }
        let trace = trace::of_backfill(&row.key, row.step);
        let visits = visits.into_iter().flat_map(|(host, items)| visit_jobs(feed, host, items, Some(&trace)));
        self.intake.send(visits.collect()).await?;
        Ok(Portion { done, sent })
    }
}

struct Portion {
    /// Number of processed addresses, including known ones.
    done: usize,
    sent: u32,
}

fn advance(row: &mut Backfill, done: usize) {
    let Some(mut list) = row.lists.pop() else { return };
    list.done = list.done.saturating_add(u32::try_from(done).unwrap_or(u32::MAX));
    if list.done < list.count {
        row.lists.push(list);
    } else if list.then.is_some() {
        row.next = list.then;
    }
}

fn objects(row: &Backfill) -> Vec<String> {
    row.lists.iter().map(|list| list.object.clone()).collect()
}

fn given_up(row: Backfill, reason: &str) -> Backfill {
    Backfill { state: BackfillState::GivenUp { reason: reason.to_owned() }, ..row }
}

/// Returns the time until which an unanswered call waits, and why; `None` if it was rejected or answered.
fn waits(end: &CallEnd) -> Option<(Timestamp, String)> {
    match end {
        CallEnd::Later(until) => Some((*until, "the visit's time was used up".to_owned())),
        CallEnd::Elsewhere(until) | CallEnd::Refused(until) => {
            Some((*until, "an address or its robots.txt is out of reach".to_owned()))
        }
        CallEnd::Held(until, why) => Some((*until, format!("the host is held ({})", why.as_str()))),
        CallEnd::Reply(_) | CallEnd::Rejected(_) => None,
    }
}

/// Returns the key of the backfill of a site or feed.
pub fn key_of(of: &SourceKey) -> Result<SourceKey> {
    let hash = address::hash_hex(format!("backfill {of}").as_bytes());
    SourceKey::new(&hash[..32]).map_err(|e| StageError::Job(e.to_string()))
}

fn job(row: &Backfill) -> (Job, Timestamp) {
    (Job::new(BackfillJob { backfill: row.key.clone(), url: row.url.clone(), step: row.step }), row.due)
}
