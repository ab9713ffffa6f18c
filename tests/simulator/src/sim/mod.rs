//! The deterministic simulator: the real stages on several machines that crash, over ports that fail, against a model
//! web with bad times, in simulated time. Everything follows from one seed.
//!
//! A run has three parts. In the first, everything that can go wrong does. In the second, faults are switched off and
//! the machines go on polling feeds. In the third, nothing new is scheduled, and the run ends when no job is left. A
//! [`Trace`] records the run, and [`invariants`] are functions over it.
//!
//! For determinism the simulator uses a current-thread runtime with a paused clock, ordered maps, no threads, and no
//! randomness but the seed's. `select!` is always `biased`, since its fair form draws random numbers of its own.

mod answer;
mod delivery;
mod dice;
mod history;
mod hub;
pub mod invariants;
mod late;
mod machine;
mod mutant;
mod outsiders;
mod owner;
mod people;
mod raw;
mod stores;
mod trace;
mod web;
mod witness;
mod world;

pub use invariants::Violation;
pub use mutant::LastWriterWins;
pub use trace::Trace;

use crate::bad_time::{HOUR, MINUTE, Moment};
use crate::faults::Rates;
use answer::REVISED_WORD;
use curlew_catalog::segment::RecordReader;
use curlew_catalog::thumbnails::thumbnail;
use curlew_crawl::feeds::websub::{SECRET_BYTES, WEB_SECRET};
use curlew_model::{
    Backfill, BackfillJob, BackfillState, FeedSource, Job, Location, Millis, Page, PageState, Source, ThumbnailId,
    Timestamp,
};
use curlew_policy::address::{self, hash64};
use curlew_policy::rules::Rules;
use curlew_ports::{Blobs, Clock, Inbox, Pages, Sources};
use dice::Dice;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use stores::Shared;
use tokio::task::JoinSet;
use trace::{End, EntrySnapshot, HistorySnapshot};
use url::Url;
use world::{Page as Shown, Route};

/// Start of every run: 2026-03-02T00:00:00Z.
const START: i64 = 1_772_409_600_000;
/// Time for which feeds are polled after faults are switched off: a little more than a whole cycle.
const CALM: Moment = 9 * HOUR;
/// Maximum length of a run. Work that is left then is parked.
const LONGEST: Moment = 40 * 24 * HOUR;
/// Secret of the web routes, in a run with hubs.
static SECRET: [u8; SECRET_BYTES] = [7; SECRET_BYTES];
/// Number of rows that are read at a time at the end; higher than the number of rows.
const ROWS: usize = 10_000;
/// Fault rates that a machine may have.
const MACHINE_RATES: [Rates; 4] = [
    Rates { crash: 1, ..Rates::NONE },
    Rates { refuse: 6, throttle: 3, lose_answer: 3, delay: 40, crash: 1, ..Rates::NONE },
    Rates { refuse: 3, lose_answer: 5, delay: 20, crash: 3, ..Rates::NONE },
    Rates { refuse: 2, lose_answer: 2, delay: 200, crash: 2, ..Rates::NONE },
];

/// Description of one simulated run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scenario {
    /// Seed that determines the whole run.
    pub seed: u64,
    /// True if the web has no bad times, and answers do not depend on the time.
    pub steady: bool,
    /// True if machines crash and ports fail.
    pub faults: bool,
    /// True if jobs are delivered twice.
    pub duplicates: bool,
    /// True if some pages make extraction panic, until faults are switched off.
    pub panics: bool,
    /// True if the index is published and searched.
    pub index: bool,
    /// True if feeds name hubs, which verify subscriptions, deliver, and lie.
    pub hubs: bool,
    /// True if people claim sites and make owners' requests.
    pub owners: bool,
    /// True if feeds have archives and hosts have sitemaps, which people request.
    pub history: bool,
    /// True if pages are also kept as they were fetched. This needs an index, since publishing cleans up after crashes.
    pub raw: bool,
    /// True if polls that fall due together are one job, and rows are read less often, as on AWS.
    pub is_billed: bool,
    /// The rule that is taken out of the program.
    pub mutation: Option<Mutation>,
}

impl Scenario {
    /// Returns the usual run of a seed, in which everything goes wrong. Every sixth has an index, two thirds of these
    /// keep raw pages, every seventh has panics, every fourth has hubs, nearly every third has owners, and just over a
    /// quarter have back catalogues.
    pub fn of(seed: u64) -> Scenario {
        let owners = matches!(seed % 8, 6 | 7) || seed % 16 == 10;
        Scenario {
            seed,
            steady: false,
            faults: true,
            duplicates: true,
            panics: seed % 7 == 5,
            index: seed.is_multiple_of(6),
            hubs: matches!(seed % 8, 2 | 5),
            owners,
            history: matches!(seed % 5, 2 | 4),
            raw: matches!(seed % 18, 6 | 12),
            is_billed: seed % 3 != 1,
            mutation: None,
        }
    }

    /// Returns the run of a seed over a steady web.
    pub fn steady(seed: u64, faults: bool) -> Scenario {
        let of = Scenario { panics: false, index: false, hubs: false, owners: false, ..Scenario::of(seed) };
        Scenario { steady: true, faults, duplicates: faults, history: false, raw: false, ..of }
    }

    /// Returns the plan with this rule taken out.
    #[must_use]
    pub fn without(self, mutation: Mutation) -> Scenario {
        Scenario { mutation: Some(mutation), ..self }
    }

    /// Returns the rules of this run: those of the program, with shorter times so that more events coincide.
    pub fn rules(&self) -> Rules {
        let mut dice = Dice::new(self.seed, "rules");
        let call_time = Millis::from_secs(*dice.pick(&[4, 10, 30]));
        let mut past = Dice::new(self.seed, "rules of history");
        Rules {
            backfill: self.history && past.percent(20),
            backfill_per_day: *past.pick(&[6, 20, 60, 500]),
            call_time,
            // Where outcomes are compared, no job may be given up for lack of time.
            slice: Millis::from_secs(if self.steady { 150 } else { *dice.pick(&[20, 60, 120]) }),
            lease_margin: Millis(*dice.pick(&[0, 500, 5_000])),
            brief_lease: call_time + Millis::from_secs(*dice.pick(&[6, 12, 30])),
            hold_refused: Millis::from_hours(3),
            hold_server_error: Millis::from_hours(2),
            hold_network: Millis::from_hours(1),
            hold_hostile: Millis::from_hours(1),
            hold_not_found: Millis::from_hours(2),
            hold_cap: Millis::from_hours(12),
            recheck_after: Millis::from_hours(2),
            ..Rules::default()
        }
    }
}

/// A rule that politeness or safety depends on, taken out to check that the simulator notices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutation {
    /// The ledger writes without comparing versions.
    NoCompareAndSwap,
    /// No pause after a lease that has run out.
    NoPauseAfterLease,
    /// A job is acknowledged before it is done, and so before its remainder is sent on.
    AckFirst,
    /// A job that waits is acknowledged before it is sent again.
    AckBeforeSend,
    /// A job that has failed is acknowledged and never tried again.
    FailureAcknowledged,
    /// A job that is given up is acknowledged instead of being kept with its error.
    DeadLetterDropped,
    /// A port's request to slow down counts as a failure of the job.
    ThrottlingCounts,
    /// The worker does not wait for as long as a port asks.
    ThrottlingIgnored,
    /// Pages that are extracted together with one that panics are acknowledged, instead of being run one by one.
    PanicLosesBatch,
    /// A host that should be left alone is not blocked in the ledger.
    StopIgnored,
    /// The rest of a host after a refusal or a server error of one URL is not recorded.
    RestForgotten,
    /// The call of a home page is not recorded.
    HomeLookForgotten,
    /// Removals are not sent.
    RemovalsUnsent,
    /// Removals are acknowledged and not done.
    RemovalsUndone,
    /// Records of removed pages are not erased.
    RecordsKept,
    /// Raw pages of removed pages are not erased.
    RawPagesKept,
    /// Every claimant of a site is believed.
    ClaimantBelieved,
    /// A host that is allowed again stays blocked.
    UnblockDropped,
    /// Entries that a hub delivers are visited.
    DeliveryBelieved,
    /// A feed may be polled as soon as there is a reason.
    PollFloorIgnored,
    /// Polls of blocked feeds do nothing, so their subscriptions at hubs are not ended.
    HubNotTold,
    /// The budget of a host's back catalogue has no effect.
    HistoryBudgetIgnored,
    /// Steps of a backfill follow each other at once.
    HistoryUnpaced,
    /// Lists of older pages are lost.
    HistoryListsDropped,
}

/// Runs a plan.
///
/// # Panics
/// Panics if tokio cannot make a runtime, or the simulator itself has a fault.
pub fn run(plan: Scenario) -> Trace {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    let runtime = runtime.unwrap_or_else(|error| panic!("no runtime: {error}"));
    runtime.block_on(simulate(plan))
}

async fn simulate(plan: Scenario) -> Trace {
    let mut world = world::make(plan.seed, plan.steady);
    if plan.history {
        history::join(&mut world, plan.seed);
    }
    if plan.hubs {
        hub::join(&mut world, plan.seed);
    }
    if plan.owners {
        owner::join(&mut world, plan.seed);
    }
    let (documents, pages) = (world.history.documents.clone(), world.history.pages.clone());
    let shared = Arc::new(Shared::new(plan, world, plan.rules(), Timestamp::from_millis(START)));
    shared.trace().history = HistorySnapshot { documents, pages };
    tokio::select! {
        biased;
        () = shared.overrun.notified() => {}
        () = run_all(&shared) => {}
    }
    std::mem::take(&mut *shared.trace())
}

/// Runs the three parts, and looks at what is left.
async fn run_all(shared: &Arc<Shared>) {
    let plan = shared.plan;
    let mut dice = Dice::new(plan.seed, "run");
    let machines = usize::try_from(dice.between(2, 3)).unwrap_or(2);
    let workers = usize::try_from(dice.between(2, 4)).unwrap_or(2);
    let length = *dice.pick(&[3 * HOUR, 8 * HOUR, 26 * HOUR]);

    let mut hubs = JoinSet::new();
    if plan.hubs && shared.blobs.put(WEB_SECRET, SECRET.as_slice().into()).await.is_ok() {
        hubs.spawn(delivery::serve(shared.clone()));
    }
    let mut people = JoinSet::new();
    people.spawn(people::follow_script(shared.clone(), length));
    let running = start(shared, machines, workers);
    shared.clock.sleep(Millis(length)).await;

    // No faults occur from here on.
    drop(running);
    shared.calm.store(true, Ordering::Relaxed);
    shared.note("from here on nothing goes wrong");
    while let Some(done) = people.join_next().await {
        if let Err(error) = done {
            shared.trace().panics.push(error.to_string());
        }
    }
    if plan.steady {
        redrive(shared).await;
    }
    let running = start(shared, machines, workers);
    shared.hubs.deliver_once_more(shared.moment());
    shared.clock.sleep(Millis(CALM)).await;
    shared.no_more_ticks.store(true, Ordering::Relaxed);
    until_nothing_is_left(shared).await;
    drop((running, hubs));
    end(shared).await;
    if plan.owners {
        owner::ask_too_late(shared).await;
    }
    if plan.raw {
        match raw::look(shared).await {
            Ok(left) => shared.trace().end.raw = Some(left),
            Err(error) => shared.trace().panics.push(format!("raw pages: {error}")),
        }
    }
}

fn start(shared: &Arc<Shared>, machines: usize, workers: usize) -> JoinSet<()> {
    let mut running = JoinSet::new();
    for number in 0..machines {
        running.spawn(machine::live(shared.clone(), number, workers));
    }
    running
}

/// Requeues the jobs that were given up, as an operator would after fixing the cause.
async fn redrive(shared: &Shared) {
    let now = shared.clock.now();
    for dead in shared.jobs.dead(ROWS).await.unwrap_or_default() {
        if shared.jobs.redrive(&dead.receipt, now).await.is_err() {
            shared.note("a dead job could not be taken up again");
        }
    }
}

async fn until_nothing_is_left(shared: &Shared) {
    while shared.moment() < LONGEST && !shared.jobs.left().is_empty() {
        let now = shared.clock.now();
        let due = shared.jobs.next_due().await.ok().flatten();
        let wait = due.map_or(Millis::ZERO, |due| due.since(now));
        shared.clock.sleep(wait.max(Millis(MINUTE))).await;
    }
}

/// Reads the stores, without faults, into the end of the trace.
async fn end(shared: &Arc<Shared>) {
    let found = if shared.plan.index { Some(people::publish_and_search(shared).await) } else { None };
    let pages = shared.pages.list(None, ROWS).await.unwrap_or_default();
    let (mut unreadable, mut unrevised) = (vec![], vec![]);
    for page in &pages {
        let PageState::Accepted { location, .. } = &page.state else { continue };
        if is_outdated(shared, page, location).await {
            unrevised.push(page.clone());
        }
        if !is_whole(shared, page, location).await {
            unreadable.push(page.url.clone());
        }
    }
    let dead = shared.jobs.dead(ROWS).await.unwrap_or_default();
    let dead = dead.into_iter().filter_map(|d| Some((Job::from_message(&d.message).ok()?, d.error)));
    let dead: Vec<(Job, String)> = dead.collect();
    let (forgotten, not_allowed) = owner::look(shared, &dead).await;
    let (entries, backfills) = entries(shared).await;
    let left = shared.jobs.left();
    shared.trace().sends = shared.queue.take_sends();
    shared.trace().removals = shared.queue.take_removals();
    let end = End {
        at: shared.clock.now(),
        entries,
        backfills,
        waiting: left.iter().filter_map(|(_, message)| Job::from_message(message).ok()).collect(),
        dead,
        pages,
        found,
        unreadable,
        unrevised,
        forgotten,
        not_allowed,
        raw: None,
    };
    shared.trace().end = end;
}

/// Returns true if a page was revised before its last re-check began and its record does not show it.
async fn is_outdated(shared: &Shared, page: &Page, location: &Location) -> bool {
    let Some(Route::Page(Shown { revised_from: Some(from), .. })) = shared.world.routes.get(&page.url) else {
        return false;
    };
    let known_from = Timestamp::from_millis(START) + Millis(*from) + shared.plan.rules().lease_length();
    let is_late = page.checked_at.is_some_and(|at| at > known_from);
    let record = RecordReader(shared.blobs.as_ref()).read(location).await;
    is_late && record.is_ok_and(|record| record.is_some_and(|record| !record.text.contains(REVISED_WORD)))
}

/// Returns true if the record of a page can be read, and its thumbnail too if it has one.
async fn is_whole(shared: &Shared, page: &Page, location: &Location) -> bool {
    let blobs = shared.blobs.as_ref();
    let record = match RecordReader(blobs).read(location).await {
        Ok(Some(record)) if record.id == page.id => record,
        _ => return false,
    };
    match &record.thumbnail {
        Some(id @ ThumbnailId::Frame(_)) => matches!(thumbnail(blobs, id).await, Ok(Some(_))),
        _ => true,
    }
}

/// Returns the entries that the feeds' rows remember as seen and those of documents that backfills have read, and the
/// next steps of backfills.
async fn entries(shared: &Shared) -> (Vec<EntrySnapshot>, Vec<BackfillJob>) {
    let (mut seen, mut backfills) = (vec![], vec![]);
    for source in shared.sources.list(None, ROWS).await.unwrap_or_default() {
        match source {
            Source::Feed(feed) => seen.extend(seen_by(shared, &feed)),
            Source::Backfill(row) => {
                seen.extend(read_by(shared, &row));
                if row.state == BackfillState::Running {
                    backfills.push(BackfillJob { backfill: row.key, url: row.url, step: row.step });
                }
            }
            Source::Site(_) | Source::Extra(_) => {}
        }
    }
    (seen, backfills)
}

fn seen_by(shared: &Shared, feed: &FeedSource) -> Vec<EntrySnapshot> {
    let (Some(text), Ok(url)) = (shared.world.feed(&feed.url, Moment::MAX), Url::parse(&feed.url)) else {
        return vec![];
    };
    let Ok(parsed) = curlew_feed::parse(text.as_bytes(), None, &url, &curlew_feed::Limits::default()) else {
        return vec![];
    };
    let entries = parsed.entries.iter().filter(|entry| feed.seen.contains(&entry.key()));
    entries.filter_map(|entry| entry_in(&feed.url, entry.link.as_deref()?)).collect()
}

/// Returns the entries of the documents that a backfill has read. Entries that still wait for their turn, or that a
/// limit or an early end leaves out, are not included.
fn read_by(shared: &Shared, row: &Backfill) -> Vec<EntrySnapshot> {
    let is_limited = row.limit.is_some_and(|limit| row.sent >= limit);
    let has_sent = row.lists.is_empty() && !matches!(row.state, BackfillState::GivenUp { .. }) && !is_limited;
    let Ok(home) = Url::parse(&row.url) else { return vec![] };
    let documents = shared.world.history.documents.iter().filter(|url| has_sent && row.visited.contains(&hash64(url)));
    let entries =
        documents.flat_map(|url| shared.world.older_links(url, &home).into_iter().map(move |link| (url, link)));
    entries.filter_map(|(url, link)| entry_in(url, link)).collect()
}

fn entry_in(document: &str, link: &str) -> Option<EntrySnapshot> {
    let page = address::page_id(&address::canonical(&address::parse(link, None).ok()?));
    Some(EntrySnapshot { feed: document.to_owned(), link: link.to_owned(), page })
}
