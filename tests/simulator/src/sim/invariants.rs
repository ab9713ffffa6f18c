//! Invariants: one plain function for each, over the trace of a run.

mod gone;
mod outside;
mod past;

use gone::nothing_gone_is_found;
use outside::{
    allowed_again, forgotten_is_gone, left_alone_when_told, no_entry_by_delivery, no_poll_below_the_floor,
    only_owners_are_heard, subscriptions_end,
};
use past::{new_posts_come_first, the_past_has_a_budget};

use super::trace::{CallResult, CallSnapshot, JobEnd, RawSnapshot, SettledAs, Trace};
use curlew_model::{BackfillJob, HostKey, Job, Millis, Page, PageId, PageState, Purpose, Timestamp, Work};
use curlew_policy::rules::Rules;
use curlew_ports::CallKind;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// A job is given up after this many failures. The number is deliberately written here a second time instead of being
/// taken from the policy.
const TRIES: u32 = 5;
/// Aliases lead to a page within this many steps.
const ALIAS_STEPS: usize = 4;

/// An invariant that did not hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Violation {
    /// Name of the invariant.
    pub invariant: &'static str,
    /// Instant in the time of the run.
    pub at: Timestamp,
    /// Description of the observation that breaks the invariant.
    pub what: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}: {}", self.invariant, self.at, self.what)
    }
}

fn violated(invariant: &'static str, at: Timestamp, what: String) -> Result<(), Violation> {
    Err(Violation { invariant, at, what })
}

/// Checks every invariant of a single run.
///
/// # Errors
/// Returns the first invariant that does not hold.
pub fn all(trace: &Trace, rules: &Rules) -> Result<(), Violation> {
    no_overlap_no_hurry(trace, rules)?;
    nothing_forbidden(trace)?;
    nothing_private(trace)?;
    nothing_vanishes(trace)?;
    nothing_gone_is_found(trace)?;
    everything_once(trace)?;
    edits_arrive(trace)?;
    settled_as_it_ended(trace)?;
    left_alone_when_told(trace)?;
    forgotten_is_gone(trace)?;
    only_owners_are_heard(trace)?;
    allowed_again(trace)?;
    no_entry_by_delivery(trace)?;
    no_poll_below_the_floor(trace, rules)?;
    subscriptions_end(trace)?;
    the_past_has_a_budget(trace, rules)?;
    new_posts_come_first(trace)?;
    raw_pages_go_with_their_pages(trace)?;
    hosts_rest(trace)?;
    home_pages_are_looked_at_once_a_day(trace)?;
    it_comes_to_rest(trace)?;
    nobody_panics(trace)
}

/// 1. Two calls to one host key never overlap, and they are never closer than the pause or the known Crawl-delay,
///    across all stages and machines. No call outlasts the lease that it is made under.
fn no_overlap_no_hurry(trace: &Trace, rules: &Rules) -> Result<(), Violation> {
    const NAME: &str = "1 no overlap, no hurry";
    let mut last: BTreeMap<&HostKey, &CallSnapshot> = BTreeMap::new();
    for call in &trace.calls {
        if let Some(before) = last.get(&call.host) {
            if call.start < before.end {
                return violated(NAME, call.start, format!("{} began while {} went on", call.url, before.url));
            }
            // A call of robots.txt cannot obey the Crawl-delay that it is about to learn.
            let asked = if call.kind == CallKind::Robots { Millis::ZERO } else { call.robots.delay };
            let pause = rules.min_pause.max(asked.min(rules.crawl_delay_cap));
            let gap = call.start.since(before.end);
            if gap < pause {
                let what = format!("{} began {} ms after {}, not {} ms", call.url, gap.0, before.url, pause.0);
                return violated(NAME, call.start, what);
            }
        }
        match call.ledger.lease {
            Some((_, until)) if call.end <= until => {}
            Some((_, until)) => return violated(NAME, call.end, format!("{} outlasted its lease {until}", call.url)),
            None => return violated(NAME, call.start, format!("{} was called without a lease", call.url)),
        }
        if last.get(&call.host).is_none_or(|before| before.end <= call.end) {
            last.insert(&call.host, call);
        }
    }
    Ok(())
}

/// 2. No call is made that robots.txt, a hold, a block or an exclusion forbids. A visit that was refused makes no
///    further calls.
fn nothing_forbidden(trace: &Trace) -> Result<(), Violation> {
    const NAME: &str = "2 nothing forbidden";
    let mut ended: BTreeMap<(&HostKey, u64), &str> = BTreeMap::new();
    for call in &trace.calls {
        let forbidden = |why: String| violated(NAME, call.start, format!("{} was called although {why}", call.url));
        if call.ledger.blocked {
            return forbidden("its host is blocked".into());
        }
        if let Some(until) = call.ledger.hold.filter(|until| *until > call.start) {
            return forbidden(format!("its host key is held until {until}"));
        }
        if call.kind != CallKind::Robots {
            if !call.robots.asked {
                return forbidden("robots.txt was never asked".into());
            }
            if !call.robots.allowed {
                return forbidden("robots.txt forbids it".into());
            }
        }
        let Some((token, _)) = call.ledger.lease else { continue };
        if let Some(url) = ended.get(&(&call.host, token)) {
            return forbidden(format!("the same visit was refused at {url}"));
        }
        if call.came_to.ends_the_visit() {
            ended.insert((&call.host, token), &call.url);
        }
    }
    Ok(())
}

/// 3. No connection is made to an address that is not public.
fn nothing_private(trace: &Trace) -> Result<(), Violation> {
    match trace.calls.iter().find(|call| call.refused) {
        Some(call) => violated("3 nothing private", call.start, format!("{} was called", call.url)),
        None => Ok(()),
    }
}

/// 4. Nothing vanishes. An entry that was seen in a feed, or in a document that a backfill has read, ends in exactly
///    one of: accepted (or gone since), rejected with a reason, an alias of another page, parked, dead-lettered with
///    its error. A backfill that has not ended has a job.
fn nothing_vanishes(trace: &Trace) -> Result<(), Violation> {
    const NAME: &str = "4 nothing vanishes";
    let end = &trace.end;
    let rows: BTreeMap<&PageId, &Page> = end.pages.iter().map(|page| (&page.id, page)).collect();
    let jobs = end.waiting.iter().chain(end.dead.iter().map(|(job, _)| job));
    let carried: BTreeSet<&PageId> = jobs.flat_map(pages_of).collect();
    let rest = end.entries.iter().map(|entry| (&entry.page, entry.link.as_str()));
    let pending = end.pages.iter().filter(|page| page.state == PageState::Pending);
    for (id, url) in rest.chain(pending.map(|page| (&page.id, page.url.as_str()))) {
        let mut at = id;
        for _ in 0..ALIAS_STEPS {
            match rows.get(at).map(|row| &row.state) {
                Some(PageState::Alias { of }) => at = of,
                _ => break,
            }
        }
        let settled = match rows.get(at).map(|row| &row.state) {
            Some(PageState::Accepted { .. } | PageState::Rejected { .. } | PageState::Gone { .. }) => true,
            Some(PageState::Alias { .. }) => false,
            Some(PageState::Pending) | None => carried.contains(at),
        };
        if !settled {
            let state = rows.get(at).map(|row| &row.state);
            return violated(NAME, end.at, format!("{url} was seen, its row says {state:?}, and no job carries it"));
        }
    }
    let jobs: Vec<&Job> = end.waiting.iter().chain(end.dead.iter().map(|(job, _)| job)).collect();
    let is_lost =
        |step: &&BackfillJob| !jobs.iter().any(|job| matches!(&job.work, Work::Backfill(job) if job == *step));
    match end.backfills.iter().find(is_lost) {
        Some(step) => violated(NAME, end.at, format!("step {} of the backfill of {} has no job", step.step, step.url)),
        None => Ok(()),
    }
}

/// Returns the pages whose rows a job will write.
fn pages_of(job: &Job) -> Vec<&PageId> {
    match &job.work {
        Work::Fetch(visit) => {
            let new = visit.items.iter().filter(|item| matches!(item.purpose, Purpose::New { .. }));
            new.map(|item| &item.page).collect()
        }
        Work::Extract(job) => vec![&job.page],
        Work::Discover(_)
        | Work::Own(_)
        | Work::Poll(_)
        | Work::Polls(_)
        | Work::Subscribe(_)
        | Work::Backfill(_)
        | Work::Deliver(_)
        | Work::Remove(_)
        | Work::TakeUp(_) => vec![],
    }
}

fn is_on(url: &str, host: &str) -> bool {
    let name = url.split('/').nth(2).unwrap_or_default();
    name == host || name.strip_suffix(host).is_some_and(|rest| rest.ends_with('.'))
}

/// 6, for one run: no page is found twice, and every accepted page has its record, with the thumbnail beside it.
fn everything_once(trace: &Trace) -> Result<(), Violation> {
    const NAME: &str = "6 everything once";
    for query in &trace.queries {
        let mut seen = BTreeSet::new();
        if let Some(twice) = query.hits.iter().find(|hit| !seen.insert(*hit)) {
            return violated(NAME, query.at, format!("{twice} was found twice"));
        }
    }
    match trace.end.unreadable.first() {
        Some(url) => violated(NAME, trace.end.at, format!("the record of {url} cannot be read")),
        None => Ok(()),
    }
}

/// 7. A page's record shows what its last re-check saw, unless the job that writes it was given up.
fn edits_arrive(trace: &Trace) -> Result<(), Violation> {
    let given_up = |page: &PageId| trace.end.dead.iter().any(|(job, _)| pages_of(job).contains(&page));
    match trace.end.unrevised.iter().find(|page| !given_up(&page.id)) {
        Some(page) => {
            let what = format!("{} was revised before its re-check, and its record was not", page.url);
            violated("7 edits arrive", trace.end.at, what)
        }
        None => Ok(()),
    }
}

/// 8. A worker settles a job according to the end of its run. A job that is done is acknowledged. A job that waits, or
///    that a port asks to slow down, waits that long and counts as no failure. A job that failed is tried again later,
///    four times, and is then given up.
fn settled_as_it_ended(trace: &Trace) -> Result<(), Violation> {
    for run in &trace.runs {
        let is_last = run.receives >= TRIES;
        let fits = match (run.end, run.settled) {
            (Some(JobEnd::Done), SettledAs::Done) | (Some(JobEnd::Hopeless), SettledAs::DeadLetter) => true,
            (Some(JobEnd::Waits(until)), SettledAs::Deferred(at)) => at == until,
            (Some(JobEnd::Throttled(asked)), SettledAs::Deferred(at)) => at >= run.at + asked,
            (Some(JobEnd::Failed), SettledAs::Retried(at)) => !is_last && at > run.at,
            // A job whose process died each time has no end of a run.
            (Some(JobEnd::Failed), SettledAs::DeadLetter) => is_last,
            (None, SettledAs::DeadLetter) => run.receives > TRIES,
            _ => false,
        };
        if !fits {
            let what = format!("{} (handed out {} times) {:?}: {:?}", run.job, run.receives, run.end, run.settled);
            return violated("8 settled as it ended", run.at, what);
        }
    }
    Ok(())
}

/// 6. A job that runs twice has the same effect as a job that runs once: two runs over the same steady web, one of them
///    with duplicates, crashes and failing ports, end with the same pages, apart from times and places.
///
/// # Errors
/// Returns the first page that differs.
pub fn twice_is_once(troubled: &Trace, calm: &Trace) -> Result<(), Violation> {
    let outcomes = |trace: &Trace| -> BTreeMap<String, String> {
        trace.end.pages.iter().map(|page| (page.url.clone(), outcome(&page.state))).collect()
    };
    let (troubled_by, calm_by) = (outcomes(troubled), outcomes(calm));
    let urls: BTreeSet<&String> = troubled_by.keys().chain(calm_by.keys()).collect();
    for url in urls {
        let (a, b) = (troubled_by.get(url), calm_by.get(url));
        if a != b {
            let what = format!("{url} came to {a:?}, but to {b:?} in a calm run");
            return violated("6 twice is once", troubled.end.at, what);
        }
    }
    Ok(())
}

/// Describes the end of a page without the time and the place.
fn outcome(state: &PageState) -> String {
    match state {
        PageState::Accepted { content_hash, .. } => format!("accepted as {content_hash}"),
        other => format!("{other:?}"),
    }
}

/// 18. Where raw pages are kept, each accepted page is kept once, and no byte of any other page is left after
///     everything was published and the remains of crashes were swept.
fn raw_pages_go_with_their_pages(trace: &Trace) -> Result<(), Violation> {
    const NAME: &str = "18 raw pages go with their pages";
    let Some(raw) = &trace.end.raw else { return Ok(()) };
    let mut kept: BTreeMap<&PageId, &str> = BTreeMap::new();
    for RawSnapshot { key, page, state } in raw {
        if !matches!(state, Some(PageState::Accepted { .. })) {
            return violated(NAME, trace.end.at, format!("{page} is kept in {key}, but its row says {state:?}"));
        }
        if let Some(other) = kept.insert(page, key) {
            return violated(NAME, trace.end.at, format!("{page} is kept in {other} and in {key}"));
        }
    }
    let mut accepted = trace.end.pages.iter().filter(|page| matches!(page.state, PageState::Accepted { .. }));
    match accepted.find(|page| !kept.contains_key(&page.id)) {
        Some(page) => violated(NAME, trace.end.at, format!("{} is accepted, and not kept", page.url)),
        None => Ok(()),
    }
}

/// 19. After a refusal or a server error nobody calls the host key for an hour. robots.txt has a rule of its own. A
///     visit that died, or could not reach the ledger, could not record the refusal: its lease has run out by then.
fn hosts_rest(trace: &Trace) -> Result<(), Violation> {
    const REST: Millis = Millis::from_hours(1);
    let mut refused: BTreeMap<&HostKey, &CallSnapshot> = BTreeMap::new();
    for call in &trace.calls {
        if let Some(before) = refused.get(&call.host)
            && call.start < before.end + REST
            && before.ledger.lease.is_some_and(|(_, until)| call.start < until)
        {
            let after = call.start.since(before.end).0;
            let what = format!("{} was called {after} ms after {} {:?}", call.url, before.url, before.came_to);
            return violated("19 hosts rest", call.start, what);
        }
        let is_refused = matches!(call.came_to, CallResult::Status(202 | 402 | 403 | 429 | 451 | 500..));
        if is_refused && !matches!(call.kind, CallKind::Robots | CallKind::Hub) {
            refused.insert(&call.host, call);
        }
    }
    Ok(())
}

/// 20. One home page of a host key is called once a day, to compare another page with it. A visit that died could not
///     record its call.
fn home_pages_are_looked_at_once_a_day(trace: &Trace) -> Result<(), Violation> {
    let mut looked: BTreeMap<&HostKey, &CallSnapshot> = BTreeMap::new();
    let is_home = |call: &&CallSnapshot| call.kind == CallKind::Page && call.url.matches('/').count() == 3;
    for call in trace.calls.iter().filter(is_home).filter(|call| call.url.ends_with('/')) {
        if let Some(before) = looked.get(&call.host)
            && call.start < before.end + Millis::from_hours(24)
            && before.ledger.lease.is_some_and(|(_, until)| call.start < until)
        {
            let what = format!("{} was called after {}", call.url, before.url);
            return violated("20 home pages are looked at once a day", call.start, what);
        }
        if matches!(call.came_to, CallResult::Status(200)) {
            looked.insert(&call.host, call);
        }
    }
    Ok(())
}

/// The run comes to rest: work ends, is put off for longer each time, or is given up.
fn it_comes_to_rest(trace: &Trace) -> Result<(), Violation> {
    match trace.log.last() {
        Some((at, line)) if trace.restless => violated("it comes to rest", *at, format!("and goes on with: {line}")),
        _ => Ok(()),
    }
}

fn nobody_panics(trace: &Trace) -> Result<(), Violation> {
    match trace.panics.first() {
        Some(what) => violated("nobody panics", trace.end.at, what.clone()),
        None => Ok(()),
    }
}
