//! Plans the order of a batch's visits, and how long a visit may last before the rest is sent again. Pure.
//!
//! A batch is divided into lanes. A lane has the jobs of one host key, which run one after another, since a second
//! concurrent one would only find the host busy. Several lanes run concurrently, the longest first, so that short ones
//! fill the end. Pages to extract are divided into chunks instead, by their memory and time.

use curlew_crawl::feeds::first_pages::FIRST_PAGES;
use curlew_crawl::feeds::polls::POLLS_AT_ONCE;
use curlew_model::{Job, Millis, PageBody, Purpose, Way, Work};
use curlew_policy::rules::Rules;
use std::collections::HashMap;

/// Minimum turn: a shorter one would free less time than the extra messages and leases cost.
pub(crate) const MIN_TURN: Millis = Millis::from_secs(20);
/// Cost of sending the rest of a visit again, as time of the whole invocation: three messages and two writes of a
/// host's row cost about as much as this time of a function with 256 MB (prices are in BENCHMARKS.md).
const HANDING_ON: Millis = Millis(750);
/// Minimum work of each slot, in percent of a turn: with 125, the slots are still busy when the longest visits reach
/// the end of their turn, even if the estimates are a fifth too high.
const FILL: u64 = 125;
/// Assumed duration of a call if nothing better is known.
const ANSWER: Millis = Millis(400);
/// Number of calls of a job in addition to those for its items: robots.txt, if the stored copy is stale.
const CALLS_BESIDES: u64 = 1;
/// Approximate uncompressed size of the pages of one chunk. A chunk becomes one segment.
const CHUNK_BYTES: usize = 64 * 1024 * 1024;
/// Assumed ratio of an HTML document's uncompressed size to its compressed size.
const UNPACKED: usize = 8;
/// Assumed uncompressed size of a document in the bucket, which was too large for a message.
const STORED_BYTES: usize = 4 * 1024 * 1024;

/// Properties of a job that matter for the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Task {
    /// Jobs in the same lane never run concurrently.
    pub(crate) lane: String,
    pub(crate) length: Millis,
}

/// The order of a batch's work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    /// Jobs that were delivered before. They run first and one at a time, since one of them may have killed its
    /// process.
    pub(crate) alone: Vec<usize>,
    /// Indices of tasks by lane: the longest lane first, the tasks of a lane in their own order.
    pub(crate) lanes: Vec<Vec<usize>>,
    /// Time after which a lane starts no further job.
    pub(crate) turn: Millis,
}

/// Estimates the duration of a job: its calls with their pauses, or longer if the burst allowance delays them.
pub(crate) fn length(job: &Job, rules: &Rules) -> Millis {
    let items = match &job.work {
        Work::Fetch(visit) => visit.items.iter().map(|item| calls(&item.purpose, rules)).sum(),
        // Most of these calls are for the first pages of a new site.
        Work::Discover(_) => (1 + rules.feeds_per_site + FIRST_PAGES * rules.calls_per_page as usize) as u64,
        Work::Own(own) if own.needs_look() => Way::ALL.len() as u64 - 1,
        Work::Own(_) | Work::Remove(_) | Work::TakeUp(_) => 0,
        // Polls run concurrently, and a few of them are slow.
        Work::Polls(polls) => 2 + polls.polls.len() as u64 / POLLS_AT_ONCE as u64,
        Work::Poll(_) | Work::Subscribe(_) | Work::Backfill(_) | Work::Deliver(_) | Work::Extract(_) => 1,
    };
    let calls = items.saturating_add(CALLS_BESIDES);
    let paced = (pause(rules) + ANSWER).saturating_mul(calls);
    let refilled = rules.refill.saturating_mul(calls.saturating_sub(u64::from(rules.burst)));
    paced.max(refilled).min(rules.slice)
}

/// Returns the usual maximum of calls for an item: a new page includes its main image if that is on the same host.
fn calls(purpose: &Purpose, rules: &Rules) -> u64 {
    match purpose {
        Purpose::New { .. } => u64::from(rules.calls_per_page),
        Purpose::Recheck | Purpose::Image { .. } => 1,
    }
}

/// Returns the mean pause after a call. The mean of the larger of `m` and an exponential gap with mean `m` is
/// `m + m / e`.
fn pause(rules: &Rules) -> Millis {
    let jitter = Millis((rules.jitter.0.0 + rules.jitter.1.0) / 2);
    rules.min_pause.max(jitter) + Millis(rules.poisson_mean.0 * 10 / 27)
}

/// Plans a batch for a number of slots. The turn is never longer than a visit's time slice.
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
    // The sort is stable: lanes of equal length keep their order.
    lanes.sort_by_key(|(length, _)| std::cmp::Reverse(*length));
    Plan { alone: Vec::new(), lanes: lanes.into_iter().map(|(_, members)| members).collect(), turn }
}

/// Returns the longest turn for which all slots have work until its end; if there is not enough work for that, the
/// cheapest turn.
fn turn(lengths: &[Millis], slots: usize, slice: Millis) -> Millis {
    let filling = longest_filling(lengths, slots, slice);
    if filling >= MIN_TURN.min(slice) { filling } else { cheapest(lengths, slots, slice) }
}

/// Returns the longest turn that fills the slots. With a turn `T`, the work is the sum of all lengths, each limited to
/// `T`. Longer turns fill the slots less, so bisection works.
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

/// Returns the cheapest turn. An invocation lasts as long as its longest visit within the turn, or as its whole work
/// divided by the slots; the work that is cut off takes its share of another invocation; and each cut has a fixed cost.
/// A turn between the lengths of two visits only delays the cuts of the shorter length.
fn cheapest(lengths: &[Millis], slots: usize, slice: Millis) -> Millis {
    let shortest = MIN_TURN.min(slice);
    let mut lengths: Vec<u64> = lengths.iter().map(|length| length.0).collect();
    lengths.sort_unstable();
    let (total, slots) = (lengths.iter().sum::<u64>(), slots.max(1) as u64);
    let mut best = (u64::MAX, slice);
    // Sum and number of the lengths that are not longer than the current turn.
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

/// Divides pages into chunks, in order. A chunk has at most `most` pages, and at most [`CHUNK_BYTES`] unless it is a
/// single page.
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
