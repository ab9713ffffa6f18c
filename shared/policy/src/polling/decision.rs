//! A poll from its job to its row: whether it takes place, what its end means, and whether the row is written.

use crate::{
    politeness::deferral, politeness::visit::CallEnd, polling::failure::Wrong, polling::schedule, rules::Rules,
};
use curlew_model::{Envelope, FeedSource, HoldReason, PollJob, Timestamp, Why};

/// Decision whether a job's poll takes place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PollAdmission {
    /// Now.
    Now,
    /// At this instant: the job waits, which is no failure.
    At(Timestamp),
    /// Not at all, for this reason: the feed's schedule brings the next one, if there is to be one.
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
    /// The answer is read.
    Read,
    /// Nothing was called: the job waits until then, and the row stays as it is.
    Wait(Timestamp),
    /// The feed is left alone.
    PutOff(PutOff),
    /// The poll counts as a failure.
    Fail {
        /// The failure.
        wrong: Wrong,
        /// The failure in words.
        words: String,
        /// The next poll not before this, whatever the failure says.
        not_before: Option<Timestamp>,
    },
}

/// A feed is left alone for the sake of its host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PutOff {
    /// The end of the wait.
    pub until: Timestamp,
    /// The reason, for people.
    pub words: String,
    /// True if the job is sent again for that instant; otherwise the feed's schedule brings the next poll.
    pub parks: bool,
}

impl PutOff {
    /// Puts the poll of a job off.
    pub fn new(job: &Envelope<PollJob>, until: Timestamp, why: &str, rules: &Rules) -> PutOff {
        let parks = !job.work.on_request && !deferral::is_given_up(job.deferrals, rules);
        PutOff { until, words: format!("the host is left alone: {why}"), parks }
    }

    /// Writes it into the feed's row: without that, each cycle until then would park one more job.
    pub fn note(&self, feed: &mut FeedSource) {
        feed.not_before = self.until;
        feed.trouble = Some(self.words.clone());
        feed.polling.why = Why::Held;
    }
}

/// Decides what follows from the `end` of a poll's visit with this number of calls; `failure` says what went wrong.
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
        // A poll that never ends within a visit counts.
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
    /// A feed that lists entries or takes some back (RFC 6721).
    Feed,
    /// A feed without any.
    Empty,
    /// Another thing than a feed, in words.
    Other(String),
    /// The document could not be read; contains the reason in words.
    Unreadable(String),
}

/// An answer to a call for a feed.
#[derive(Clone, Debug)]
pub struct FeedAnswer {
    /// Status of the answer (RFC 9110 §15).
    pub status: u16,
    /// The document, of a 200.
    pub document: Option<Document>,
    /// True if it was asked for by validators (RFC 9110 §13).
    pub conditional: bool,
    /// True if the answer came from the feed's own address, or where that has moved for good.
    pub speaks_for_feed: bool,
}

/// Interpretation of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reading {
    /// The feed is as it was.
    Unchanged,
    /// The document's entries are taken in.
    Entries,
    /// Something is wrong with it: what, and the same in words.
    Wrong(Wrong, String),
}

/// Decides what an answer says of a feed.
pub fn read_answer(feed: &FeedSource, answer: &FeedAnswer) -> Reading {
    let answered = || format!("the server answered {}", answer.status);
    let (wrong, words) = match (answer.status, &answer.document) {
        (304, _) if answer.conditional => return Reading::Unchanged,
        // RFC 9110 §15.4.5: nobody asked whether it was modified.
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
    /// No: the poll came in its minute and nothing has changed. Up to twelve polls a day cost no write.
    None,
    /// Yes, as it is.
    Row,
    /// Yes, with the instant of the poll, which came off its minute: another job, or slot, must not come too soon.
    WithTime,
}

/// Decides whether a poll writes the feed's row, which was `before` and is to be `next`; `is_noted` says that its host's
/// row tells its time.
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
            // With another interval nobody may ask for the note.
            (false, true) => RowWrite::WithTime,
            (false, false) => RowWrite::Row,
        }
    }
}

#[cfg(test)]
mod tests;
