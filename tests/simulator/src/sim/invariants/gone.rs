//! The invariant about pages that are gone or hidden.

use super::{Violation, is_on, violated};
use crate::sim::trace::{CallResult, RemovalSnapshot, Trace};
use curlew_model::{IndexChange, Job, Millis, Page, PageId, PageState, RemovalJob, Work};
use curlew_ports::CallKind;
use std::collections::BTreeMap;

const NAME: &str = "5 nothing gone is found";
/// A page that was judged gone is removed within this time despite crashes and retries, unless its job is given up.
const REMOVED_WITHIN: Millis = Millis::from_hours(4);

/// 5. A page that is gone, blocked or noindexed is not found once it is removed, and it is removed soon after the
///    judgement. An accepted page is found once everything is published.
pub(super) fn nothing_gone_is_found(trace: &Trace) -> Result<(), Violation> {
    for query in &trace.queries {
        let rows: BTreeMap<&str, &Page> = query.rows.iter().map(|page| (page.url.as_str(), page)).collect();
        for hit in &query.hits {
            let row = rows.get(hit.as_str());
            let Some(row) = row.filter(|row| is_accepted(row)) else {
                let state = row.map(|row| &row.state);
                return violated(NAME, query.at, format!("{hit} was found, but its row says {state:?}"));
            };
            if query.blocked.iter().any(|host| is_on(hit, host)) {
                return violated(NAME, query.at, format!("{hit} was found, but its host is blocked"));
            }
            let done = trace.removed.iter().find(|(at, job)| *at < query.at && is_against(job, row));
            if let Some((at, job)) = done {
                return violated(NAME, query.at, format!("{hit} was found, but removed at {at}: {job:?}"));
            }
            let is_late = |sent: &&RemovalSnapshot| sent.due + REMOVED_WITHIN < query.at;
            let late = trace.removals.iter().filter(is_late).find(|sent| is_against(&sent.job, row));
            if let Some(late) = late.filter(|late| !is_given_up(trace, &late.job)) {
                return violated(NAME, query.at, format!("{hit} was found, long after the judgement: {late:?}"));
            }
        }
    }
    all_is_removed(trace)?;
    let Some(found) = &trace.end.found else { return Ok(()) };
    let accepted = trace.end.pages.iter().filter(|page| is_accepted(page));
    for page in accepted.filter(|page| !may_be_blocked(trace).any(|host| is_on(&page.url, host))) {
        if !found.contains(&page.url) {
            return violated(NAME, trace.end.at, format!("{} is accepted and published, but not found", page.url));
        }
    }
    Ok(())
}

/// Checks that at the end no page is left whose removal was sent, or that was last judged gone, unless a job was given
/// up.
fn all_is_removed(trace: &Trace) -> Result<(), Violation> {
    let rows: BTreeMap<&PageId, &Page> = trace.end.pages.iter().map(|page| (&page.id, page)).collect();
    for sent in &trace.removals {
        if sent.due != sent.job.judged_at {
            return violated(NAME, sent.due, format!("a removal is put off: {:?}", sent.job));
        }
        let is_left = rows.get(&sent.job.page).is_some_and(|row| is_against(&sent.job, row));
        if is_left && !is_given_up(trace, &sent.job) {
            return violated(NAME, trace.end.at, format!("a removal was sent and is lost: {:?}", sent.job));
        }
    }
    for page in trace.end.pages.iter().filter(|page| is_accepted(page)) {
        let mut calls = trace.calls.iter().filter(|call| call.kind == CallKind::Page && call.url == page.url);
        let Some(last) = calls.next_back() else { continue };
        let is_gone = matches!(last.came_to, CallResult::Status(404 | 410));
        if is_gone && !given_up_for(trace, &page.id) {
            return violated(
                NAME,
                trace.end.at,
                format!("{} was gone at {}, and is still accepted", page.url, last.end),
            );
        }
    }
    Ok(())
}

fn is_accepted(page: &Page) -> bool {
    matches!(page.state, PageState::Accepted { .. })
}

/// Returns true if a page is still accepted although this removal judged its current version.
fn is_against(job: &RemovalJob, row: &Page) -> bool {
    let is_removal = matches!(job.change, IndexChange::Remove { .. });
    let is_older = row.at <= job.judged_at && row.checked_at.is_none_or(|at| at <= job.judged_at);
    is_removal && job.page == row.id && is_accepted(row) && is_older
}

/// Returns true if the removal of this page was given up.
fn is_given_up(trace: &Trace, job: &RemovalJob) -> bool {
    trace.end.dead.iter().any(|(dead, _)| matches!(dead, Job { work: Work::Remove(dead), .. } if dead.page == job.page))
}

/// Returns true if a visit to a page, or its removal, was given up.
fn given_up_for(trace: &Trace, page: &PageId) -> bool {
    trace.end.dead.iter().any(|(dead, _)| match &dead.work {
        Work::Fetch(visit) => visit.items.iter().any(|item| item.page == *page),
        Work::Remove(job) => job.page == *page,
        _ => false,
    })
}

/// Returns the hosts that may be blocked at the end, because somebody requested it or a request of the owner is
/// undecided.
fn may_be_blocked(trace: &Trace) -> impl Iterator<Item = &str> {
    let stopped = trace.stops.iter().filter(|stop| stop.until.is_none()).map(|stop| stop.host.as_str());
    let open = trace.requests.iter().filter(|request| request.outcome.is_none()).map(|request| request.host.as_str());
    let given_up = trace.end.dead.iter().filter_map(|(job, _)| match &job.work {
        Work::Own(job) => Some(job.host.as_str()),
        _ => None,
    });
    stopped.chain(open).chain(given_up)
}
