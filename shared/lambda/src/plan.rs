//! Order of a batch's visits, and how long one may last before it hands the rest on. Pure.
//!
//! A batch is cut into lanes: the jobs of one host key, one after the other, since two at once would only be told that
//! the host is busy. A number of lanes run side by side, the longest first, so that short ones are left for the end.
//! Pages to extract are cut into chunks instead, by the memory and the time that they take.

use curlew_crawl::feeds::first_pages::FIRST_PAGES;
use curlew_crawl::feeds::polls::POLLS_AT_ONCE;
use curlew_model::{Job, Millis, PageBody, Purpose, Way, Work};
use curlew_policy::rules::Rules;
use std::collections::HashMap;

/// No visit hands the rest on sooner than this: its messages and its lease cost less than the time they free.
pub(crate) const MIN_TURN: Millis = Millis::from_secs(20);
/// Cost of handing on the rest of a visit, in time of the whole invocation: three messages and two writes of a host's
/// row cost about as much as this time of a function with 256 MB (BENCHMARKS.md has the prices).
const HANDING_ON: Millis = Millis(750);
/// Minimum amount of work for each slot, in percent of a turn: with a quarter more, the slots are still busy when the
/// longest visits hand on, even if the estimates are a fifth too high.
const FILL: u64 = 125;
/// Assumed duration of an answer where nothing better is known.
const ANSWER: Millis = Millis(400);
/// Calls that a job costs besides those for its items: robots.txt, if the copy is old.
const CALLS_BESIDES: u64 = 1;
/// Approximate size of the pages of one chunk, unpacked. A chunk becomes one segment.
const CHUNK_BYTES: usize = 64 * 1024 * 1024;
/// Assumed ratio of an unpacked HTML document to its packed form.
const UNPACKED: usize = 8;
/// Assumed unpacked size of a document that lies in the bucket: it was too large for a message.
const STORED_BYTES: usize = 4 * 1024 * 1024;

/// A job of a batch, as far as the plan needs to know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Task {
    /// Jobs of the same lane never run at once.
    pub(crate) lane: String,
    pub(crate) length: Millis,
}

/// A batch in the order of its work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    /// Jobs that were handed out before, one at a time and before all else: one of them may have ended the process.
    pub(crate) alone: Vec<usize>,
    /// Indices of tasks: lanes with the longest first, and in each lane the tasks in their own order.
    pub(crate) lanes: Vec<Vec<usize>>,
    /// Time after which a lane begins nothing more.
    pub(crate) turn: Millis,
}

/// Estimates the duration of a job: its calls, each with its pause, or what the burst allowance makes of them.
pub(crate) fn length(job: &Job, rules: &Rules) -> Millis {
    let items = match &job.work {
        Work::Fetch(visit) => visit.items.iter().map(|item| calls(&item.purpose, rules)).sum(),
        // The first pages of a new site are mostly there to be fetched.
        Work::Discover(_) => (1 + rules.feeds_per_site + FIRST_PAGES * rules.calls_per_page as usize) as u64,
        Work::Own(own) if own.needs_look() => Way::ALL.len() as u64 - 1,
        Work::Own(_) | Work::Remove(_) | Work::TakeUp(_) => 0,
        // The polls run side by side, and a few of them are slow.
        Work::Polls(polls) => 2 + polls.polls.len() as u64 / POLLS_AT_ONCE as u64,
        Work::Poll(_) | Work::Subscribe(_) | Work::Backfill(_) | Work::Deliver(_) | Work::Extract(_) => 1,
    };
    let calls = items.saturating_add(CALLS_BESIDES);
    let paced = (pause(rules) + ANSWER).saturating_mul(calls);
    let refilled = rules.refill.saturating_mul(calls.saturating_sub(u64::from(rules.burst)));
    paced.max(refilled).min(rules.slice)
}

/// The most calls that an item costs as a rule: a new page has its main image, if that is on the same host.
fn calls(purpose: &Purpose, rules: &Rules) -> u64 {
    match purpose {
        Purpose::New { .. } => u64::from(rules.calls_per_page),
        Purpose::Recheck | Purpose::Image { .. } => 1,
    }
}

/// The mean of the pause that is drawn after a call. The mean of the larger of `m` and an exponential gap of mean `m`
/// is `m + m / e`.
fn pause(rules: &Rules) -> Millis {
    let jitter = Millis((rules.jitter.0.0 + rules.jitter.1.0) / 2);
    rules.min_pause.max(jitter) + Millis(rules.poisson_mean.0 * 10 / 27)
}

/// Plans a batch for this number of slots. A visit ends with its slice, whatever is planned.
pub(crate) fn plan(tasks: &[Task], slots: usize, slice: Millis) -> Plan {
    let mut by_lane: HashMap<&str, usize> = HashMap::new();
    let mut lanes: Vec<(Millis, Vec<usize>)> = Vec::new();
    for (n, task) in tasks.iter().enumerate() {
        let lane = *by_lane.entry(&task.lane).or_insert_with(|| {
            lanes.push((Millis::ZERO, Vec::new()));
            lanes.len() - 1
        });
        if let Some((length, members)) = lanes.get_mut(lane) {
            *length = *length + task.length;
            members.push(n);
        }
    }
    let lengths: Vec<Millis> = lanes.iter().map(|(length, _)| *length).collect();
    let turn = turn(&lengths, slots, slice);
    // Equal lengths stay in the order in which they came.
    lanes.sort_by_key(|(length, _)| std::cmp::Reverse(*length));
    Plan { alone: Vec::new(), lanes: lanes.into_iter().map(|(_, members)| members).collect(), turn }
}

/// The longest turn with which all slots have work until it ends; where there is not enough work for that, the turn
/// that costs least.
fn turn(lengths: &[Millis], slots: usize, slice: Millis) -> Millis {
    let filling = longest_filling(lengths, slots, slice);
    if filling >= MIN_TURN.min(slice) { filling } else { cheapest(lengths, slots, slice) }
}

/// The longest turn that fills the slots: with `T`, the work is the sum of the lengths, each cut at `T`. The longer the
/// turn the less it fills them, so it is found by bisection.
fn longest_filling(lengths: &[Millis], slots: usize, slice: Millis) -> Millis {
    let fills = |turn: Millis| {
        let work: u64 = lengths.iter().map(|length| length.0.min(turn.0)).sum();
        work.saturating_mul(100) >= turn.0.saturating_mul(slots as u64).saturating_mul(FILL)
    };
    if fills(slice) {
        return slice;
    }
    let (mut low, mut high) = (Millis::ZERO, slice);
    while high.0 - low.0 > 1 {
        let middle = Millis(low.0 + (high.0 - low.0) / 2);
        if fills(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

/// The turn that costs least. An invocation lasts as long as its longest visit, cut at the turn, or as all its work
/// takes on its slots; what is cut off takes its share of another one; and each visit that is cut costs its handing on.
/// A turn between the lengths of two visits cuts the same ones as the shorter length does, only later.
fn cheapest(lengths: &[Millis], slots: usize, slice: Millis) -> Millis {
    let shortest = MIN_TURN.min(slice);
    let mut lengths: Vec<u64> = lengths.iter().map(|length| length.0).collect();
    lengths.sort_unstable();
    let (total, slots) = (lengths.iter().sum::<u64>(), slots.max(1) as u64);
    let mut best = (u64::MAX, slice);
    // The sum of the lengths that are no longer than the turn in question, and how many they are.
    let (mut uncut, mut count) = (0u64, 0usize);
    let turns = lengths.iter().copied().filter(|length| *length > shortest.0 && *length < slice.0);
    for turn in std::iter::once(shortest.0).chain(turns).chain(std::iter::once(slice.0)) {
        while let Some(length) = lengths.get(count).filter(|length| **length <= turn) {
            uncut += *length;
            count += 1;
        }
        let cut = (lengths.len() - count) as u64;
        let work = uncut + turn.saturating_mul(cut);
        let longest = if cut > 0 { turn } else { lengths.last().copied().unwrap_or(0) };
        let cost = longest.max(work / slots) + (total - work) / slots + HANDING_ON.0 * cut;
        if cost <= best.0 {
            best = (cost, Millis(turn));
        }
    }
    best.1
}

/// Cuts pages of these sizes into chunks, in their order: each of at most this number of pages, and of [`CHUNK_BYTES`]
/// unless it is a single page.
pub(crate) fn chunks(sizes: &[usize], most: usize) -> Vec<Vec<usize>> {
    let mut chunks: Vec<Vec<usize>> = Vec::new();
    let mut bytes = 0;
    for (n, size) in sizes.iter().enumerate() {
        match chunks.last_mut() {
            Some(chunk) if chunk.len() < most && bytes + size <= CHUNK_BYTES => chunk.push(n),
            _ => {
                chunks.push(vec![n]);
                bytes = 0;
            }
        }
        bytes += size;
    }
    chunks
}

pub(crate) fn unpacked(job: &Job) -> usize {
    let Work::Extract(page) = &job.work else { return 0 };
    match &page.body {
        PageBody::Inline(packed) => packed.len().saturating_mul(UNPACKED),
        PageBody::Stored(_) => STORED_BYTES,
    }
}

#[cfg(test)]
mod tests;
