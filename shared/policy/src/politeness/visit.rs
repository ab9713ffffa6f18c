//! A visit without I/O: its next step for a URL, and the meaning of an answer. [`VisitState::next`] defines the order
//! of all checks before a call; the shell (`curlew_crawl::politeness::visit`) executes each [`Step`] until one is
//! [`Step::End`].

mod robots;

use crate::chance::mix;
use crate::politeness::outcome::{self, CallTarget, Outcome, Role, record_outcome, url_held, url_held_until};
use crate::politeness::{admission, outage, pace, redirect::Chain, window};
use crate::polling::poll_notes::NotedPoll;
use crate::rules::{BUSY_RETRY, MAX_FIRST_WAIT, Rules, VISIT_REST};
use curlew_model::{Hold, HoldReason, HostKey, HostState, Lease, Millis, Rejection, Timestamp, with_defaults};
use std::collections::HashMap;
use url::Url;

/// Resolution of the clock, which rounds down: a call may have ended up to this much later.
const CLOCK_STEP: Millis = Millis(1);
/// Age of the last read of the ledger above which it is read again before a call. The lease keeps other visits away, so
/// this only bounds how late a visit learns of a block or a hold.
pub const LOOK_EVERY: Millis = Millis::from_secs(1);
/// Replaces [`LOOK_EVERY`] where the store bills every read.
pub const LOOK_SELDOM: Millis = Millis::from_secs(5);

/// Time for which a chain of redirects is remembered after the earliest time of its next call.
const PENDING: Millis = Millis::from_hours(6);

/// A lease as it was granted.
#[derive(Clone, Debug)]
pub struct Grant {
    /// The lease.
    pub lease: Lease,
    /// State of the host in the ledger since the grant.
    pub state: HostState,
    /// Monotonic clock before the lease was requested.
    pub opened: Millis,
    /// Wall clock before the lease was requested.
    pub at: Timestamp,
    /// Duration of the lease.
    pub length: Millis,
    /// Time after which the ledger is read again before a call.
    pub look_every: Millis,
    /// Last use of the host key before this lease.
    pub used: Timestamp,
    /// Latest possible time of the last call to the host key before this lease.
    pub called: Timestamp,
    /// True if a visit of the same owner has just let its lease run out; see [`admission::repeats`].
    pub repeats: bool,
    /// Poll of this visit, if it is noted in the host's row.
    pub poll: Option<NotedPoll>,
}

with_defaults! {
    /// A visit: the lease of one host key, and the facts learned under it.
    #[derive(Clone, Debug)]
    pub struct VisitState {
        /// The host key.
        pub host: HostKey,
        /// The host's state as changed by this visit; written when the visit is closed.
        pub learned: HostState = grant.state.clone(),
        /// Number of calls so far, including those to other host keys.
        pub calls: u32 = 0,
        /// Time at which the site is expected to be called next.
        pub next_use: Timestamp = grant.at,
        /// The lease, and the facts known when it was granted.
        pub grant: Grant,
        last_call_end: Option<Timestamp> = None,
        /// Time from the request of the lease to the last read of the ledger.
        pub looked: Millis = Millis::ZERO,
        /// Hash of the last URL called, if its connection was closed as idle; the URL is called once more.
        closed_idle: Option<u32> = None,
        /// Time until which the rest of the visit waits, if one of its URLs ended the visit.
        ended_until: Option<Timestamp> = None,
        /// Times until which calls to other host keys, the targets of redirects, wait.
        guest_retry_at: HashMap<HostKey, Timestamp> = HashMap::new(),
        /// True if a note about a robots.txt is expected to be used.
        has_useful_note: bool = false,
    }

    /// Returns a visit that has just been granted its lease.
    new(host: HostKey, grant: Grant)
}

/// Verdict of robots.txt on a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permission {
    /// The URL may be called.
    Allowed,
    /// The URL must not be called.
    Forbidden,
    /// The URL must not be called: the second matcher refuses it, although our own allows it.
    Doubted,
}

/// A URL to call, and the facts known about it so far. The shell fills in the facts that a [`Step`] asks for.
#[derive(Clone, Debug)]
pub struct Attempt<'a> {
    /// Host key of the URL, or the reason why the address guard refuses it.
    pub key: Result<HostKey, String>,
    /// Host name of the URL.
    pub name: &'a str,
    /// The operator's rule that excludes the URL, if there is one.
    pub excluded: Option<String>,
    /// Verdict of robots.txt, once it is known. `Allowed` from the beginning if the URL is that of a robots.txt.
    pub permission: Option<Permission>,
    /// Hash and role of the URL.
    pub target: CallTarget,
    /// True if a longer lease was requested.
    pub has_lengthened: bool,
    /// True if the pause before this call is over.
    pub has_waited: bool,
    /// True if the ledger was read after the pause.
    pub has_confirmed: bool,
}

/// The next step for a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step<R> {
    /// Do not call the URL, for this reason.
    End(CallEnd<R>),
    /// Call the URL under a lease of its own host key, which is another one.
    OpenGuest(HostKey),
    /// Check robots.txt; sets [`Attempt::permission`].
    AskRobots,
    /// Request a longer lease, since the brief one would expire; sets [`Attempt::has_lengthened`].
    Lengthen,
    /// Wait this long; sets [`Attempt::has_waited`].
    Wait(Millis),
    /// Read the ledger and hand it to [`VisitState::confirm`]; sets [`Attempt::has_confirmed`].
    Confirm,
    /// Call the URL now, and hand the answer to [`VisitState::after_call`].
    Call,
}

/// Outcome of one call, or of a chain of redirects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallEnd<R> {
    /// An answer with any status except a followed redirect or one that puts the host key on hold. After a 403 or 5xx
    /// of this URL alone, the host key rests and the URL waits as long as [`url_held_until`] says.
    Reply(R),
    /// The URL cannot be fetched; the visit goes on.
    Rejected(Rejection),
    /// The rest of the visit waits: time is used up, a host key is in use, a URL ended the visit, or the host rests.
    Later(Timestamp),
    /// Only this URL waits: it or the host key of its redirect is on hold, or the robots.txt of its origin is
    /// unreachable.
    Elsewhere(Timestamp),
    /// The URL waits through no fault of its own: the robots.txt of its origin is refused (401, 403), or the host key
    /// that its redirect leads to rests.
    Refused(Timestamp),
    /// The host key is on hold from now on; the visit is over.
    Held(Timestamp, HoldReason),
}

/// Result of a call.
#[derive(Clone, Debug)]
pub enum Answer<R> {
    /// The server answered.
    Reply {
        /// The answer.
        reply: R,
        /// Status of the answer.
        status: u16,
        /// The instant that Retry-After names, if it names one.
        retry_after: Option<Timestamp>,
        /// True if the call was unsigned and the answer asks for a signature that the crawler can make.
        asks_signature: bool,
    },
    /// The server answered with the mark of a bot wall, of this vendor.
    Challenge(&'static str),
    /// The server was not reached.
    Unreached {
        /// True if our own network is down or this process lacks a resource; the host is not to blame.
        is_local: bool,
    },
    /// No answer came in time, or it was cut short.
    Cut {
        /// The reason.
        why: String,
        /// True if the connection was reused, and the server may have closed it as idle before the call arrived.
        was_idle: bool,
    },
    /// The answer broke a limit.
    Limit(String),
    /// The answer is not HTTP.
    Protocol(String),
}

impl<R> Answer<R> {
    /// Returns the outcome for the host's state.
    pub fn outcome(&self, target: CallTarget) -> Outcome {
        let outcome = match self {
            Answer::Reply { status, retry_after, .. } => {
                Outcome::Answered { status: *status, retry_after: *retry_after }
            }
            Answer::Challenge(vendor) => Outcome::Challenge(vendor),
            Answer::Unreached { is_local: true } => Outcome::Outage,
            Answer::Unreached { is_local: false } => Outcome::Network,
            Answer::Cut { .. } => Outcome::Cut,
            Answer::Limit(_) | Answer::Protocol(_) => Outcome::Broken,
        };
        outcome.of(target.role)
    }
}

impl VisitState {
    /// Returns the next step for a URL, `lasted` after the lease was requested; every check below precedes a call.
    pub fn next<R>(&self, attempt: &Attempt<'_>, rules: &Rules, now: Timestamp, lasted: Millis) -> Step<R> {
        let end = Step::End;
        let key = match &attempt.key {
            Ok(key) => key,
            Err(why) => return end(CallEnd::Rejected(Rejection::Address(why.clone()))),
        };
        if let Some(rule) = &attempt.excluded {
            return end(CallEnd::Rejected(Rejection::Excluded(rule.clone())));
        }
        if *key != self.host {
            let retry_at = self.guest_retry_at.get(key).filter(|until| **until > now);
            return retry_at.map_or_else(|| Step::OpenGuest(key.clone()), |until| end(CallEnd::Elsewhere(*until)));
        }
        match attempt.permission {
            None => return Step::AskRobots,
            Some(Permission::Forbidden) => return end(CallEnd::Rejected(Rejection::Robots)),
            Some(Permission::Doubted) => return end(CallEnd::Rejected(Rejection::RobotsDoubted)),
            Some(Permission::Allowed) => {}
        }
        if let Some(hold) = &self.learned.hold {
            return end(end_of_held(hold));
        }
        if let Some(until) = self.ended_until {
            return end(CallEnd::Later(until));
        }
        if !attempt.has_waited {
            if let Some(until) = url_held(&self.learned, attempt.target, now) {
                return end(CallEnd::Elsewhere(until));
            }
            let at = self.next_call_at(rules, now);
            let wait = at.since(now);
            if lasted + wait > rules.slice {
                return end(CallEnd::Later(at));
            }
            let is_brief = self.grant.length < rules.lease_length();
            let would_last = lasted + wait + rules.call_time + rules.lease_margin <= self.grant.length;
            if is_brief && !would_last && !attempt.has_lengthened {
                return Step::Lengthen;
            }
            if lasted + wait + rules.call_time > self.grant.length {
                return end(CallEnd::Later(at));
            }
            if wait > Millis::ZERO {
                return Step::Wait(wait);
            }
        }
        // So a block takes effect soon, and a visit that lost its lease stops.
        if !attempt.has_confirmed && lasted > self.looked + self.grant.look_every {
            return Step::Confirm;
        }
        if self.learned.is_blocked(self.host.as_str()) || self.learned.is_blocked(attempt.name) {
            return end(CallEnd::Rejected(Rejection::Blocked));
        }
        // A slow ledger may have used up the margin; a call must end before the lease does.
        if lasted + rules.call_time > self.grant.length { end(CallEnd::Later(now)) } else { Step::Call }
    }

    /// Compares the visit with the latest state in the ledger; returns the end of the call if it must not take place.
    pub fn confirm<R>(&mut self, latest: &HostState, now: Timestamp) -> Option<CallEnd<R>> {
        if latest.lease.as_ref().is_none_or(|lease| lease.token != self.grant.lease.token) {
            return Some(CallEnd::Later(now + BUSY_RETRY));
        }
        self.learned.blocked.clone_from(&latest.blocked);
        // The operator, or a visit that had lost its lease, may have written a hold.
        latest.hold_at(now).as_ref().map(end_of_held)
    }

    /// Records a call that has just ended, and returns its result for the URL; `None` if [`VisitState::next`] must
    /// repeat it.
    pub fn after_call<R>(
        &mut self,
        target: CallTarget,
        answer: Answer<R>,
        took: Millis,
        rules: &Rules,
        now: Timestamp,
        seed: u64,
    ) -> Option<CallEnd<R>> {
        let now = now + CLOCK_STEP;
        let was_idle = matches!(answer, Answer::Cut { was_idle: true, .. }).then_some(target.url);
        let is_tried_anew = was_idle.is_some() && was_idle != self.closed_idle;
        self.closed_idle = was_idle;
        let is_repeated = is_tried_anew || self.learn_to_sign(&answer);
        let outcome = if is_repeated { Outcome::Repeated } else { answer.outcome(target) };
        self.last_call_end = Some(now);
        if outcome != Outcome::Outage && !is_tried_anew {
            // Calls during our own outage do not count, nor do calls over a connection that was already closed.
            self.calls += 1;
        }
        self.learned = record_outcome(std::mem::take(&mut self.learned), rules, target, outcome, took, now, seed);
        let rest = now + VISIT_REST;
        if is_repeated {
            return None;
        }
        Some(match (answer, &self.learned.hold) {
            (Answer::Limit(why), _) => CallEnd::Rejected(Rejection::Limit(why)),
            (Answer::Protocol(why), _) => CallEnd::Rejected(Rejection::Transport(why)),
            (_, Some(hold)) if hold.reason != HoldReason::Rest => end_of_held(hold),
            (Answer::Unreached { is_local }, _) => {
                let until = if is_local { outage::rest(now, mix(seed)) } else { self.learned.not_before };
                self.ended_until = Some(until);
                CallEnd::Later(until)
            }
            (Answer::Cut { why, .. }, _) => {
                self.ended_until = Some(rest);
                match target.role == Role::Robots {
                    true => CallEnd::Rejected(Rejection::Transport(why)),
                    false => CallEnd::Elsewhere(url_held(&self.learned, target, now).unwrap_or(rest)),
                }
            }
            (Answer::Challenge(_), _) => CallEnd::Later(rest),
            (Answer::Reply { reply, .. }, _) => {
                if target.role == Role::Robots && url_held_until(rules, outcome, 0, now, 0).is_some() {
                    self.ended_until = Some(rest);
                }
                CallEnd::Reply(reply)
            }
        })
    }

    /// Records that a refusing host asks for signed calls. Returns true if the call is repeated, signed: once, after a
    /// 401 or 403 without Retry-After. A refused signed call counts as a refusal.
    fn learn_to_sign<R>(&mut self, answer: &Answer<R>) -> bool {
        let Answer::Reply { status, retry_after, asks_signature: true, .. } = answer else { return false };
        if self.learned.signs || !matches!(status, 401 | 403 | 429) {
            return false;
        }
        self.learned.signs = true;
        *status != 429 && retry_after.is_none()
    }

    /// Records the end of a call under another host key's lease. Trouble with that host does not end this visit.
    pub fn after_guest<R>(&mut self, guest: &VisitState, end: CallEnd<R>) -> CallEnd<R> {
        self.calls += guest.calls;
        self.guest_retry_at.extend(guest.ended_until.map(|until| (guest.host.clone(), until)));
        match end {
            CallEnd::Held(until, _) | CallEnd::Refused(until) => CallEnd::Elsewhere(until),
            CallEnd::Later(until) if guest.ended_until.is_some() => CallEnd::Elsewhere(until),
            other => other,
        }
    }

    /// Starts a chain of redirects at this URL, or continues it where an earlier visit had to stop.
    pub fn chain(&mut self, url: &Url, limit: u32, now: Timestamp) -> Chain {
        let hash = CallTarget::new(url.as_str(), Role::Document).url;
        let pending = self.learned.pending_redirect.take_if(|it| it.url == hash || it.until <= now);
        Chain::new(url.clone(), limit).resumed(pending.filter(|it| now < it.until).as_ref())
    }

    /// Records the end of a chain of redirects. If its next call must wait longer than a visit may wait, a later visit
    /// continues from there; otherwise such a URL could never be fetched.
    pub fn after_chain<R>(&mut self, chain: &Chain, end: &CallEnd<R>, now: Timestamp) {
        if let CallEnd::Later(until) = end
            && until.since(now) > MAX_FIRST_WAIT
            && let Some(pending) = chain.pending(*until + PENDING)
        {
            self.learned.pending_redirect = Some(pending);
        }
    }

    /// Records that the site's home page does not exist: the host key is on hold once the visit is closed.
    pub fn hold_not_found(&mut self, rules: &Rules, now: Timestamp, seed: u64) {
        self.learned = outcome::hold_not_found(std::mem::take(&mut self.learned), rules, now, seed);
    }

    /// Records that the lease was lengthened until this instant.
    pub fn lengthened(&mut self, until: Timestamp, rules: &Rules) {
        let by = until.since(self.grant.lease.until);
        self.grant.length = self.grant.length + by;
        self.grant.lease.until = until;
        window::charge(&mut self.learned.visited, until, by, rules);
    }

    /// Returns when the next call to this host key may begin; not before now.
    pub fn next_call_at(&self, rules: &Rules, now: Timestamp) -> Timestamp {
        pace::next_call_at(&self.learned, rules, now).max(now)
    }

    /// True if the lease may be left to expire instead of being returned (see [`admission::may_run_out`]).
    pub fn may_run_out(&self, rules: &Rules) -> bool {
        let Grant { state: granted, at, length, used, .. } = &self.grant;
        // A note that nobody will use is not worth a write.
        let robots = if self.has_useful_note { &self.learned.robots } else { &granted.robots };
        let learned = HostState { robots: robots.clone(), ..self.learned.clone() };
        *length == rules.brief_length() && admission::may_run_out(granted, &learned, rules, self.calls, *used, *at)
    }

    /// True if the host key was called by another visit after `at`, so that data read before may be out of date.
    pub fn was_called_since(&self, at: Timestamp) -> bool {
        self.grant.called > at + CLOCK_STEP
    }

    /// Removes the note of the visit's poll, which did not take place.
    pub fn undo_note_of_poll(&mut self) {
        if let Some(poll) = self.grant.poll.take() {
            poll.undo(&mut self.learned.polled);
        }
    }

    /// True if no visit has called the host key before, and no pages of it were imported.
    pub fn is_first(&self) -> bool {
        self.grant.called == Timestamp::MIN && !self.grant.state.has_imports
    }
}

/// Returns the end of a call whose host key is on hold; a rest does not count against the waiting job.
fn end_of_held<R>(hold: &Hold) -> CallEnd<R> {
    match hold.reason {
        HoldReason::Rest => CallEnd::Later(hold.until),
        reason => CallEnd::Held(hold.until, reason),
    }
}

#[cfg(test)]
mod tests;
