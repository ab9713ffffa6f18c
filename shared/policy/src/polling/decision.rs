//! Decisions about a poll: whether it takes place, the meaning of its result, and whether the feed's row is written.

use crate::{
    politeness::deferral, politeness::visit::CallEnd, polling::failure::Wrong, polling::schedule, rules::Rules,
};
use curlew_model::{Envelope, FeedSource, HoldReason, PollJob, Timestamp, Why};

/// Decision whether the poll of a job takes place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PollAdmission {
    /// The poll takes place now.
    Now,
    /// The poll takes place at this instant; until then the job waits, which does not count as a failure.
    At(Timestamp),
    /// The poll does not take place, for this reason; the feed's schedule sends the next one, if there is one.
    Never(&'static str),
}

/// Decides whether the poll of a job takes place.
pub fn admit(feed: &FeedSource, job: &Envelope<PollJob>, rules: &Rules, now: Timestamp) -> PollAdmission {
    if job.work.on_request {
        let is_now = !feed.gone && schedule::on_request(feed, rules, now) <= now;
        let why = "the feed was polled a moment ago, or asks to be left alone";
        return if is_now { PollAdmission::Now } else { PollAdmission::Never(why) };
    }
    if feed.gone || !schedule::is_soon(feed, rules, now) {
        return PollAdmission::Never("the feed was polled already, or polling it has stopped");
    }
    match schedule::postponed(feed, rules, now) {
        Some(at) if at > now => PollAdmission::At(at),
        Some(_) => PollAdmission::Now,
        None => PollAdmission::Never("the feed asks to be left alone until after its next slot"),
    }
}

/// Decision after the end of a poll's visit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AfterVisit {
    /// The answer must be read.
    Read,
    /// No call was made: the job waits until this instant, and the row stays as it is.
    Wait(Timestamp),
    /// The feed is not called for some time.
    PutOff(PutOff),
    /// The poll counts as a failure.
    Fail {
        /// The failure.
        wrong: Wrong,
        /// Description of the failure.
        words: String,
        /// Earliest time of the next poll, in addition to the wait that the failure causes.
        not_before: Option<Timestamp>,
    },
}

/// A feed is not called until an instant because of its host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PutOff {
    /// The end of the wait.
    pub until: Timestamp,
    /// Reason, shown to people.
    pub words: String,
    /// True if the job is sent again for that instant; otherwise the feed's schedule brings the next poll.
    pub parks: bool,
}

impl PutOff {
    /// Returns the decision to put off the poll of a job.
    pub fn new(job: &Envelope<PollJob>, until: Timestamp, why: &str, rules: &Rules) -> PutOff {
        let parks = !job.work.on_request && !deferral::is_given_up(job.deferrals, rules);
        PutOff { until, words: format!("the host is left alone: {why}"), parks }
    }

    /// Records the wait in the feed's row; otherwise each cycle until then would park another job.
    pub fn note(&self, feed: &mut FeedSource) {
        feed.not_before = self.until;
        feed.trouble = Some(self.words.clone());
        feed.polling.why = Why::Held;
    }
}

/// Returns the next step after the `end` of a poll's visit with this number of calls; `failure` describes a problem.
pub fn after_visit<R>(
    job: &Envelope<PollJob>,
    end: &CallEnd<R>,
    calls: u32,
    failure: Option<&str>,
    rules: &Rules,
    now: Timestamp,
) -> AfterVisit {
    let put_off = |until: Timestamp, why: &str| AfterVisit::PutOff(PutOff::new(job, until, why, rules));
    match end {
        CallEnd::Reply(_) => AfterVisit::Read,
        CallEnd::Later(until) if calls == 0 => AfterVisit::Wait(*until),
        // Each poll that does not end within its visit counts.
        CallEnd::Later(until) => {
            let again = now + deferral::least_wait(job.deferrals);
            put_off(again.max(*until), failure.unwrap_or("its answers take too long"))
        }
        CallEnd::Elsewhere(until) | CallEnd::Refused(until) => put_off(
            *until,
            failure.unwrap_or("the feed, its robots.txt or the target of its redirect could not be fetched"),
        ),
        // The feed itself was refused, so its schedule brings it again.
        CallEnd::Held(until, HoldReason::Forbidden) if calls > 0 => AfterVisit::Fail {
            wrong: Wrong::Refused,
            words: "the server answered 403".to_owned(),
            not_before: Some(*until),
        },
        CallEnd::Held(until, why) => {
            let detail = failure.map(|failure| format!(" ({failure})")).unwrap_or_default();
            put_off(*until, &format!("{}{detail}", why.as_str()))
        }
        CallEnd::Rejected(why) => AfterVisit::Fail { wrong: Wrong::Failed, words: why.to_string(), not_before: None },
    }
}

/// Kind of the document of a 200.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Document {
    /// A feed that lists entries or deletes some (RFC 6721).
    Feed,
    /// A feed without entries.
    Empty,
    /// The document is not a feed; contains a description.
    Other(String),
    /// The document could not be read; contains the reason.
    Unreadable(String),
}

/// The answer to a request for a feed.
#[derive(Clone, Debug)]
pub struct FeedAnswer {
    /// Status of the answer (RFC 9110 §15).
    pub status: u16,
    /// The document of a 200.
    pub document: Option<Document>,
    /// True if the request was conditional (RFC 9110 §13).
    pub conditional: bool,
    /// True if the answer came from the feed's own address, or from its permanent redirect.
    pub speaks_for_feed: bool,
}

/// Interpretation of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reading {
    /// The feed is unchanged.
    Unchanged,
    /// The document's entries must be processed.
    Entries,
    /// The answer is wrong: the kind of failure, and its description.
    Wrong(Wrong, String),
}

/// Interprets an answer for a feed.
pub fn read_answer(feed: &FeedSource, answer: &FeedAnswer) -> Reading {
    let answered = || format!("the server answered {}", answer.status);
    let (wrong, words) = match (answer.status, &answer.document) {
        (304, _) if answer.conditional => return Reading::Unchanged,
        // RFC 9110 §15.4.5: a 304 answers only a conditional request.
        (304, _) => (Wrong::Unasked, "the server answered 304 to an unconditional request".to_owned()),
        (200, Some(Document::Empty)) if !feed.seen.is_empty() => {
            (Wrong::Suspect, "the feed has lost all its entries".to_owned())
        }
        (200, Some(Document::Feed | Document::Empty)) => return Reading::Entries,
        (200, Some(Document::Other(why))) => (Wrong::Suspect, why.clone()),
        (200, Some(Document::Unreadable(why))) => (Wrong::Failed, why.clone()),
        (410, _) if answer.speaks_for_feed => (Wrong::Gone, String::new()),
        (404, _) => (Wrong::Lost, answered()),
        (500.., _) => (Wrong::ServerError, answered()),
        (401..=403 | 451, _) => (Wrong::Refused, answered()),
        _ => (Wrong::Failed, answered()),
    };
    Reading::Wrong(wrong, words)
}

/// Decision whether a poll writes the feed's row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowWrite {
    /// No: the poll was on time and nothing has changed. Up to twelve polls a day cost no write.
    None,
    /// Yes, without the time of the poll.
    Row,
    /// Yes, with the time of the poll, which was not on time: another job or slot must not come too soon.
    WithTime,
}

/// Decides whether a poll writes the feed's row, which was `before` and would become `next`; `is_noted` is true if the
/// host's row notes the time of the poll.
pub fn row_write(
    before: &FeedSource,
    next: &FeedSource,
    job: &Envelope<PollJob>,
    is_noted: bool,
    rules: &Rules,
    now: Timestamp,
) -> RowWrite {
    let is_near_floor = schedule::is_near_floor(before, rules);
    let was_put_off = job.deferrals > 0 || before.polling.why == Why::Held;
    if job.work.on_request || (is_near_floor && !is_noted) || was_put_off || !schedule::is_on_time(before, rules, now) {
        RowWrite::WithTime
    } else {
        let next_slot = schedule::next_poll(before, rules, now);
        let same = FeedSource { not_before: before.not_before, polled_at: before.polled_at, ..next.clone() };
        let says_the_same = same == *before && next_slot.is_some_and(|at| next.not_before <= at);
        match (says_the_same, is_near_floor) {
            (true, _) => RowWrite::None,
            // With another interval the note may not be read.
            (false, true) => RowWrite::WithTime,
            (false, false) => RowWrite::Row,
        }
    }
}

#[cfg(test)]
mod tests;
