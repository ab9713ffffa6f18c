//! Backfills: the next document of a back catalogue, the end of a backfill, and its daily budget.
//!
//! Documents that feeds name (RFC 5005, JSON Feed `next_url`) or that have usual addresses come first. Sitemaps follow
//! if no feed leads to older entries. Links in pages are never followed.

use crate::rules::{
    BACKFILL_BARREN, BACKFILL_DEPTH, BACKFILL_DOCUMENTS, BACKFILL_PAGES, BACKFILL_PORTION, BACKFILL_TRIES, BUSY_RETRY,
    Rules,
};
use crate::{address::hash64, page::dates, politeness::window};
use curlew_model::{
    AddressList, Backfill, BackfillDocument, BackfillLine, BackfillPhase, BackfillState, DocumentKind, HostState,
    Listed, Millis, Slot, SourceKey, Timestamp,
};
use curlew_text::url::bare;
use url::Url;

/// Reason for the end of an archive that has no further document.
pub const ARCHIVE_READ: &str = "the archive was read to its end";
/// Earliest plausible date: no web page is older.
const EARLIEST: Timestamp = Timestamp::from_millis(631_152_000_000);
const REMEMBERED: usize = 64;
/// Time after its due time at which a step counts as lost.
const LOST: Millis = Millis::from_hours(1);
const DISCOVERY: Millis = Millis::from_secs(20);
const TURNED_OFF: Millis = Millis::from_days(1);

/// Work of one step of a backfill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Work {
    /// Find out which feeds the site has.
    Begin,
    /// Begin with the archive of this feed.
    Feed(SourceKey),
    /// Find out which sitemaps the site has.
    Sitemaps,
    /// Read a document.
    Document(BackfillDocument),
    /// Send pages of a list, or take the next document from it.
    Addresses(AddressList),
    /// The backfill has ended.
    End(BackfillState),
}

/// Returns the next step of a backfill.
pub fn next(backfill: &Backfill) -> Work {
    let done = |reason: &str| Work::End(BackfillState::Done { reason: reason.to_owned() });
    if backfill.sent >= backfill.limit.unwrap_or(BACKFILL_PAGES) {
        return done(&format!("the limit of {} pages is reached", backfill.sent));
    }
    if let Some(document) = &backfill.next {
        if backfill.documents >= BACKFILL_DOCUMENTS {
            let reason = format!("it has more than {BACKFILL_DOCUMENTS} feed documents and sitemaps");
            return Work::End(BackfillState::GivenUp { reason });
        }
        return Work::Document(document.clone());
    }
    if let Some(list) = backfill.lists.last() {
        return Work::Addresses(list.clone());
    }
    // A site without a feed has no documents so far.
    let wants_sitemaps = !backfill.has_archive && (backfill.asked || backfill.documents == 0);
    match &backfill.phase {
        BackfillPhase::Begin => Work::Begin,
        BackfillPhase::Feeds(feeds) => match feeds.first() {
            Some(feed) => Work::Feed(feed.clone()),
            None if wants_sitemaps => Work::Sitemaps,
            None => done(backfill.outcome.as_deref().unwrap_or(ARCHIVE_READ)),
        },
        BackfillPhase::Rest => done(backfill.outcome.as_deref().unwrap_or("its sitemaps were read")),
    }
}

/// The facts about a feed document that determine the next document.
#[derive(Clone, Debug, Default)]
pub struct FeedFacts<'a> {
    /// Dates of its entries, as stated.
    pub dates: Vec<Option<Timestamp>>,
    /// Hash of the addresses of its entries, independent of their order.
    pub content: u64,
    /// True if an entry was not known yet.
    pub has_new: bool,
    /// `fh:complete`.
    pub is_complete: bool,
    /// `prev-archive`.
    pub prev_archive: Option<&'a Url>,
    /// `next`, or `next_url`.
    pub next: Option<&'a Url>,
    /// The usual address of the next older document.
    pub usual: Option<&'a Url>,
}

/// Returns the document of a feed that follows the one at `url`, or the reason why there is none.
pub fn older(
    backfill: &Backfill,
    url: &Url,
    kind: &DocumentKind,
    facts: &FeedFacts<'_>,
    now: Timestamp,
) -> Result<BackfillDocument, String> {
    let DocumentKind::Feed { feed, number, entries, barren, oldest } = kind else {
        return Err("it is no feed".to_owned());
    };
    let bad = |why: &str| Err(why.to_owned());
    if facts.dates.is_empty() {
        return bad(ARCHIVE_READ);
    }
    if backfill.visited.contains(&facts.content) {
        return bad("the archive ended: a document has the entries of an earlier one");
    }
    if facts.is_complete {
        return bad("the feed is complete in one document");
    }
    let dates: Vec<Timestamp> = facts.dates.iter().flatten().filter_map(|stated| date(*stated, now)).collect();
    if let Some(since) = backfill.since.filter(|since| !dates.is_empty() && dates.iter().all(|date| date < since)) {
        return Err(format!("everything since {} was read", since.day()));
    }
    let oldest_here = dates.into_iter().min();
    let is_older = oldest_here.is_some_and(|here| oldest.is_none_or(|before| here < before));
    // The first document is the one that is polled, so its entries are usually known.
    let barren = if *number == 1 || facts.has_new || is_older { 0 } else { barren + 1 };
    if barren >= BACKFILL_BARREN {
        return Err(format!("the archive ended: {barren} documents in a row had nothing new and nothing older"));
    }
    // Blogger's `next` is on a host that all blogs share and whose robots.txt forbids it.
    let at_home = facts.next.filter(|next| next.host_str() == url.host_str());
    let Some(to) = facts.prev_archive.or(at_home).or(facts.usual).or(facts.next) else {
        return bad(if *number == 1 { "the feed names no older documents" } else { ARCHIVE_READ });
    };
    if backfill.visited.contains(&hash64(to.as_str())) {
        return bad("the archive ended: the links to older documents run in a circle");
    }
    let kind = DocumentKind::Feed {
        feed: feed.clone(),
        number: number.saturating_add(1),
        entries: entries.saturating_add(u32::try_from(facts.dates.len()).unwrap_or(u32::MAX)),
        barren,
        oldest: oldest_here.into_iter().chain(*oldest).min(),
    };
    Ok(BackfillDocument { url: to.to_string(), kind })
}

/// True if two URLs have the same host, with or without `www.`: a sitemap lists URLs of its own host (sitemaps.org).
pub fn is_same_host(a: &Url, b: &Url) -> bool {
    a.host_str().zip(b.host_str()).is_some_and(|(a, b)| bare(a) == bare(b))
}

/// True if an index of sitemaps at this depth may lead to further sitemaps.
pub fn may_descend(depth: u8) -> bool {
    depth < BACKFILL_DEPTH
}

/// Remembers a hash by which a document is recognized; returns false if it was known already.
pub fn visit(backfill: &mut Backfill, hash: u64) -> bool {
    if backfill.visited.contains(&hash) {
        return false;
    }
    backfill.visited.insert(0, hash);
    backfill.visited.truncate(2 * REMEMBERED);
    true
}

/// Returns a stated date if it is plausible: not in the future, and not before the first web pages.
pub fn date(stated: Timestamp, now: Timestamp) -> Option<Timestamp> {
    dates::plausible(stated, now).filter(|date| *date >= EARLIEST)
}

/// True if a page or sitemap with this date, or without a date, is wanted.
pub fn is_wanted(since: Option<Timestamp>, date: Option<Timestamp>) -> bool {
    since.zip(date).is_none_or(|(since, date)| date >= since)
}

/// Grants pages or documents of a back catalogue from a host key's budget of the day; returns the number granted.
pub fn grant(mut state: HostState, wanted: u32, rules: &Rules, now: Timestamp) -> (HostState, u32) {
    let mut today = state.backfilled.on(now);
    let granted = wanted.min(rules.backfill_per_day.saturating_sub(today.entries));
    if granted > 0 {
        today.entries += granted;
        state.backfilled = today;
    }
    (state, granted)
}

/// Returns the beginning of the next day (UTC), when the budget is renewed.
pub fn tomorrow(now: Timestamp) -> Timestamp {
    let day = Millis::from_days(1).0.cast_signed();
    Timestamp::from_millis((now.as_millis().div_euclid(day) + 1).saturating_mul(day))
}

/// Returns until when, and why, a backfill must wait: its host is on hold, or half of the time for visits is used up.
pub fn obstacle(state: &HostState, rules: &Rules, now: Timestamp) -> Option<(Timestamp, String)> {
    if let Some(hold) = state.hold.as_ref().filter(|hold| hold.until > now) {
        return Some((hold.until, format!("the host is held ({})", hold.reason.as_str())));
    }
    let more_than_half = Millis(rules.window_limit.0 / 2 + 1);
    let free_at = window::free_at(&state.visited, rules, more_than_half, now)?;
    Some((free_at, "the rest of the time on its host is for new posts".to_owned()))
}

/// Returns when to retry a step whose host is being visited, perhaps for the last portion; `None` if it is not.
pub fn while_visited(state: &HostState, rules: &Rules, now: Timestamp) -> Option<Timestamp> {
    let lease = state.lease.as_ref().filter(|lease| lease.until > now)?;
    let portion = u64::try_from(BACKFILL_PORTION).unwrap_or(u64::MAX);
    Some(lease.until.min(room_until(state, portion, rules, now)))
}

/// Schedules the next step so that pages and documents are spread over the day; at most one cycle is caught up.
pub fn pace(mut backfill: Backfill, taken: u32, rules: &Rules, now: Timestamp) -> Backfill {
    let day = Millis::from_days(1).0;
    let gap = Millis(day.saturating_mul(taken.into()) / u64::from(rules.backfill_per_day.max(1)));
    let cycle = Millis::from_mins(Slot::COUNT.into());
    // Leaves others time on the host, however much there is to catch up.
    let least = rules.min_pause.saturating_mul(taken.into());
    backfill.paced = backfill.paced.max(now - cycle) + gap;
    backfill.due = backfill.paced.max(now + least);
    backfill.failures = 0;
    backfill.note = None;
    backfill
}

/// Returns when another step may follow one with `taken` calls, so that others get as much time on the host.
pub fn room_until(state: &HostState, taken: u64, rules: &Rules, now: Timestamp) -> Timestamp {
    let pause = rules.min_pause.max(state.crawl_delay).max(state.last_response);
    now + pause.saturating_mul(taken.saturating_mul(2))
}

/// Failure of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Setback {
    /// The feeds of the site are still being discovered; contains the time of the next attempt, if it is known.
    Undiscovered(Timestamp),
    /// The site's owner has turned backfills off.
    TurnedOff,
    /// The budget of the day is used up.
    BudgetSpent,
    /// The step must wait until this instant, for a reason that does not count as a failure.
    Later(Timestamp, String),
    /// The step must wait until this instant because the host or the document is refused or fails, as described.
    Trouble(Timestamp, String),
}

/// Records that a step failed; after too many failures its document is skipped, or the backfill is given up.
pub fn set_back(mut backfill: Backfill, why: Setback, now: Timestamp) -> Backfill {
    let (due, note) = match why {
        Setback::Undiscovered(at) => (at.max(now + DISCOVERY), "its feeds are being looked for".to_owned()),
        Setback::TurnedOff => (now + TURNED_OFF, "the site's owner has turned it off".to_owned()),
        Setback::BudgetSpent => (tomorrow(now), "today's budget of the host is used up".to_owned()),
        Setback::Later(until, note) => (until, note),
        Setback::Trouble(until, note) => {
            backfill.failures = backfill.failures.saturating_add(1);
            if backfill.failures >= BACKFILL_TRIES {
                if backfill.next.is_some() {
                    return left_out(backfill, note, now);
                }
                backfill.state = BackfillState::GivenUp { reason: note };
                return backfill;
            }
            (until, note)
        }
    };
    backfill.due = due.max(now + BUSY_RETRY);
    backfill.note = Some(note);
    backfill
}

/// Records that the next document cannot be fetched: it is skipped, and the backfill continues with the others.
pub fn left_out(mut backfill: Backfill, why: String, now: Timestamp) -> Backfill {
    backfill.next = None;
    backfill.failures = 0;
    backfill.note = None;
    backfill.outcome = Some(why);
    backfill.due = now + BUSY_RETRY;
    backfill
}

/// True if a step must be sent again: it was due long ago, so its job was lost.
pub fn is_lost(backfill: &Backfill, now: Timestamp) -> bool {
    backfill.state == BackfillState::Running && backfill.due + LOST <= now
}

/// Returns the line that describes a backfill to people. While it runs, the line estimates its remaining days without
/// obstacles, or a lower bound: the length of an archive is known only at its end.
pub fn line(backfill: &Backfill, rules: &Rules) -> BackfillLine {
    let is_running = backfill.state == BackfillState::Running;
    BackfillLine {
        url: backfill.url.clone(),
        state: backfill.state.clone(),
        documents: backfill.documents,
        found: backfill.found,
        sent: backfill.sent,
        days: is_running.then(|| days_left(backfill, rules)),
        is_least: is_running && backfill.phase != BackfillPhase::Rest,
        due: backfill.due,
        note: backfill.note.clone(),
    }
}

fn days_left(backfill: &Backfill, rules: &Rules) -> u64 {
    let left = |of_documents| {
        let lists = backfill.lists.iter().filter(|list| matches!(list.of, Listed::Sitemaps(_)) == of_documents);
        lists.map(|list| u64::from(list.count.saturating_sub(list.done))).sum::<u64>()
    };
    let documents = left(true) + u64::from(backfill.next.is_some());
    let each = backfill.found / u64::from(backfill.documents.max(1));
    let room = backfill.limit.unwrap_or(BACKFILL_PAGES).saturating_sub(backfill.sent);
    let pages = left(false).saturating_add(documents.saturating_mul(each)).min(room);
    pages.saturating_add(documents).div_ceil(rules.backfill_per_day.max(1).into()).max(1)
}

#[cfg(test)]
mod tests;
