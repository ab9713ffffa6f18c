//! A visit: the lease of one host key in use. Every call to a site goes through [`Visit::get`].

use crate::politeness::access::{Manners, Opening};
use crate::politeness::failures;
use crate::politeness::robots::Permission;
use crate::stage::StageError;
use curlew_model::{
    Failure, HoldReason, HostKey, HostState, Lease, Millis, Origin, PageId, Rejection, Timestamp, Validators,
};
use curlew_policy::politeness::admission;
use curlew_policy::politeness::outage::{self, Blame};
use curlew_policy::politeness::outcome::{Asked, Outcome, record_outcome, url_held, url_held_until};
use curlew_policy::politeness::redirect::{Chain, NotFollowed, is_redirect};
use curlew_policy::politeness::{http, pace};
use curlew_policy::robots::Robots;
use curlew_ports::{Call, CallKind, Event, FetchError, Reply, Version, update_host, update_host_from};
use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use url::Url;

/// How often the end of a visit is tried to be written, should the ledger falter; the lease runs out by itself.
const CLOSE_TRIES: u32 = 3;
/// The clock counts in steps of this length and rounds down, so what ended now may have ended up to one step later.
const CLOCK_STEP: Millis = Millis(1);
/// A call that begins so soon after its lease was asked for needs no second look at the ledger.
const FRESH: Millis = Millis::from_secs(1);

/// A lease as it was granted.
pub(crate) struct Grant {
    pub(crate) lease: Lease,
    /// The state that the ledger has since then, and its version.
    pub(crate) state: HostState,
    pub(crate) version: Version,
    /// The monotonic clock before the lease was asked for.
    pub(crate) opened: Millis,
    /// The wall clock at the same moment.
    pub(crate) at: Timestamp,
    /// How long it lasts.
    pub(crate) length: Millis,
    /// When the host key was last in use before that.
    pub(crate) used: Timestamp,
    /// The same owner was here a moment ago.
    pub(crate) repeats: bool,
}

/// The lease of one host key in use.
pub struct Visit<'a> {
    pub(crate) manners: &'a Manners,
    pub(crate) host: HostKey,
    pub(crate) state: HostState,
    grant: Grant,
    /// What the ledger was seen to hold last, under this lease.
    seen: (HostState, Version),
    pub(crate) last_call_end: Option<Timestamp>,
    pub(crate) compiled: HashMap<Origin, Arc<Robots>>,
    /// One of its URLs ended the visit: nothing more is called, and what is left waits until then.
    over: Option<Timestamp>,
    /// The same of visits to other host keys that redirects led to.
    guests_over: HashMap<HostKey, Timestamp>,
    /// Calls so far, those to other host keys included.
    pub calls: u32,
    /// What is posted to a hub.
    form: Option<String>,
    /// Why the last call that failed did, for people.
    pub(crate) failure: Option<Failure>,
}

/// How one call, or a chain of them, ended.
#[derive(Debug)]
pub enum End {
    /// There is an answer: any status but a redirect that was followed, or one that holds the host key. After a 403 or 5xx
    /// that speaks for its URL alone, the visit makes no further call, and the URL is left alone as
    /// [`Visit::url_held_until`] says.
    Reply(Box<Reply>),
    /// This URL is not to be had; the visit goes on.
    Rejected(Rejection),
    /// Not now: the slice or the lease is used up, another visit holds the host key that a redirect leads to, or one of the
    /// visit's URLs has ended it.
    Later(Timestamp),
    /// This URL has to wait, and others of the visit need not for its sake: it is left alone itself, the host key that its
    /// redirect leads to is held, or the robots.txt of its origin is out of reach.
    Elsewhere(Timestamp),
    /// The host key is left alone from now on; the visit is over.
    Held(Timestamp, HoldReason),
}

/// What came of a URL.
#[derive(Debug)]
pub struct Got {
    /// How it ended.
    pub end: End,
    /// The URL that was called last.
    pub url: Url,
    /// Redirects that were followed.
    pub hops: usize,
    /// Whether there were redirects and all of them were permanent.
    pub moved_for_good: bool,
}

impl<'a> Visit<'a> {
    pub(crate) fn new(manners: &'a Manners, host: HostKey, grant: Grant) -> Visit<'a> {
        let state = grant.state.clone();
        let seen = (state.clone(), grant.version);
        Visit {
            manners,
            host,
            state,
            grant,
            seen,
            last_call_end: None,
            compiled: HashMap::new(),
            over: None,
            guests_over: HashMap::new(),
            calls: 0,
            form: None,
            failure: None,
        }
    }

    /// Whether this page was sent to extraction lately.
    pub(crate) fn has_sent(&self, page: &PageId) -> bool {
        self.state.sent.contains(page)
    }

    /// Remembers with the host key, once the visit is closed, that this page was sent to extraction.
    pub(crate) fn remember(&mut self, page: &PageId, most: usize) {
        self.state.sent.add(page, most);
    }

    /// How long ago the lease was asked for.
    pub(crate) fn lasted(&self) -> Millis {
        Millis(self.manners.clock.monotonic().0.saturating_sub(self.grant.opened.0))
    }

    /// When the next call to this host key may begin; not before now.
    pub(crate) fn next_call_at(&self) -> Timestamp {
        let now = self.manners.clock.now();
        pace::next_call_at(&self.state, &self.manners.rules, now).max(now)
    }

    /// Whether a visit of the same owner ended here a moment ago, and nobody was told.
    pub(crate) fn repeats(&self) -> bool {
        self.grant.repeats
    }

    /// Gets a URL: robots.txt is asked, the pause is kept, and redirects are followed, for each hop anew.
    ///
    /// # Errors
    /// What the ports say.
    pub async fn get(&mut self, url: &Url, kind: CallKind, validators: &Validators) -> Result<Got, StageError> {
        let mut chain = Chain::new(url.clone(), self.manners.rules.page_redirects);
        let mut validators = validators.clone();
        loop {
            let here = chain.current().clone();
            let end = self.hop(&here, kind, &validators, true).await?;
            let End::Reply(reply) = &end else { return Ok(got(end, chain)) };
            if !is_redirect(reply.status) {
                return Ok(got(end, chain));
            }
            match chain.follow(reply.status, reply.headers.location.as_deref()) {
                Ok(next) if here.scheme() == "https" && next.scheme() == "http" => {
                    // A feed that was had by TLS is not read without it: whoever listens could write it. A page is,
                    // but without validators, which are no secret only to the server that gave them.
                    if kind == CallKind::Feed {
                        let why = Rejection::Redirect("it leads from https to http".into());
                        return Ok(got(End::Rejected(why), chain));
                    }
                    tracing::info!(from = %here, to = %next, "a redirect leads from https to http");
                    validators = Validators::default();
                }
                Ok(_) => {}
                // A hop to another scheme is refused as any address that may not be called.
                Err(why @ NotFollowed::BadLocation(_)) => {
                    return Ok(got(End::Rejected(Rejection::Address(why.to_string())), chain));
                }
                Err(why) => return Ok(got(End::Rejected(Rejection::Redirect(why.to_string())), chain)),
            }
        }
    }

    /// Posts a form to a hub: with robots.txt, pause and guard as for every call. A hub may say that it lives elsewhere
    /// (307 and 308, WebSub §5.2), and no other redirect repeats a POST (RFC 9110 §15.4).
    ///
    /// # Errors
    /// What the ports say.
    pub(crate) async fn post(&mut self, hub: &Url, form: &str) -> Result<End, StageError> {
        self.form = Some(form.to_owned());
        let mut chain = Chain::new(hub.clone(), self.manners.rules.page_redirects);
        loop {
            let here = chain.current().clone();
            let end = self.hop(&here, CallKind::Hub, &Validators::default(), true).await?;
            let End::Reply(reply) = &end else { return Ok(end) };
            if !matches!(reply.status, 307 | 308) {
                return Ok(end);
            }
            match chain.follow(reply.status, reply.headers.location.as_deref()) {
                // The secret goes with it.
                Ok(next) if here.scheme() == "https" && next.scheme() == "http" => {
                    return Ok(End::Rejected(Rejection::Redirect("it leads from https to http".into())));
                }
                Ok(_) => {}
                Err(why) => return Ok(End::Rejected(Rejection::Redirect(why.to_string()))),
            }
        }
    }

    /// One call wherever the URL leads: under this lease, or under a lease of its own for another host key.
    pub(crate) fn hop<'b>(
        &'b mut self,
        url: &'b Url,
        kind: CallKind,
        validators: &'b Validators,
        ask_robots: bool,
    ) -> Pin<Box<dyn Future<Output = Result<End, StageError>> + Send + 'b>> {
        Box::pin(async move {
            if let Err(why) = self.manners.fetch.vet(url.as_str()) {
                return Ok(End::Rejected(Rejection::Address(why)));
            }
            // Of a robots.txt the rules are needed for the URLs that are not excluded.
            let is_robots = kind == CallKind::Robots && url.path() == "/robots.txt";
            if let Some(rule) = self.manners.scope.excludes(url).filter(|_| !is_robots) {
                return Ok(End::Rejected(Rejection::Excluded(rule.to_string())));
            }
            let key = match self.manners.key_of(url) {
                Ok(key) => key,
                Err(why) => return Ok(End::Rejected(Rejection::Address(why.to_string()))),
            };
            if key != self.host {
                return self.as_guest(&key, url, kind, validators, ask_robots).await;
            }
            if ask_robots {
                match self.permission(url).await? {
                    Permission::Allowed => {}
                    Permission::Forbidden => return Ok(End::Rejected(Rejection::Robots)),
                    Permission::Unknown(end) => return Ok(end),
                }
            }
            self.call(url, kind, validators).await
        })
    }

    async fn as_guest(
        &mut self,
        key: &HostKey,
        url: &Url,
        kind: CallKind,
        validators: &Validators,
        ask_robots: bool,
    ) -> Result<End, StageError> {
        let now = self.manners.clock.now();
        if let Some(until) = self.guests_over.get(key).filter(|until| **until > now) {
            return Ok(End::Elsewhere(*until));
        }
        match self.manners.open(key, &self.grant.lease.owner).await? {
            Opening::Open(mut guest) => {
                guest.form.clone_from(&self.form);
                let end = guest.hop(url, kind, validators, ask_robots).await;
                self.calls += guest.calls;
                let over = guest.over;
                self.failure = guest.failure.take().or(self.failure.take());
                self.guests_over.extend(over.map(|until| (key.clone(), until)));
                guest.close().await?;
                // Trouble with the other host key is no reason to leave this one.
                match end? {
                    End::Held(until, _) => Ok(End::Elsewhere(until)),
                    End::Later(until) if over.is_some() => Ok(End::Elsewhere(until)),
                    other => Ok(other),
                }
            }
            Opening::Busy(until) => Ok(End::Later(until)),
            Opening::Held(until, _) => Ok(End::Elsewhere(until)),
            Opening::Blocked => Ok(End::Rejected(Rejection::Blocked)),
        }
    }

    /// One call under this lease: waits for its time, looks whether it is still allowed, calls, settles.
    async fn call(&mut self, url: &Url, kind: CallKind, validators: &Validators) -> Result<End, StageError> {
        if let Some(hold) = &self.state.hold {
            return Ok(End::Held(hold.until, hold.reason));
        }
        if let Some(until) = self.over {
            return Ok(End::Later(until));
        }
        let rules = &self.manners.rules;
        let clock = &self.manners.clock;
        let now = clock.now();
        let asked = Asked::of(url.as_str(), kind == CallKind::Robots);
        if let Some(until) = url_held(&self.state, asked, now) {
            return Ok(End::Elsewhere(until));
        }
        let at = pace::next_call_at(&self.state, rules, now);
        let wait = at.since(now);
        if self.lasted() + wait > rules.slice {
            return Ok(End::Later(at.max(now)));
        }
        let is_brief = self.grant.length < rules.lease_length();
        if is_brief && self.lasted() + wait + rules.call_time + rules.lease_margin > self.grant.length {
            // A lease that was lost shows below, as ever.
            self.lengthen().await?;
        }
        if wait > Millis::ZERO {
            clock.sleep(wait).await;
        }
        if let Some(end) = self.still_ours(url).await? {
            return Ok(end);
        }
        // A slow ledger may have eaten the margin: a call must end before the lease does.
        if self.lasted() + rules.call_time > self.grant.length {
            return Ok(End::Later(clock.now()));
        }
        let form = self.form.clone().filter(|_| kind == CallKind::Hub);
        let (url, validators) = (url.as_str().to_owned(), validators.clone());
        let call = Call { url, kind, validators, form, time: rules.call_time };
        let began = clock.monotonic();
        let answer = self.manners.fetch.call(&call).await;
        let took = Millis(clock.monotonic().0.saturating_sub(began.0));
        Ok(self.settled(asked, kind, answer, took))
    }

    /// Reads the ledger once before each call, so that a block takes effect with the next call and a visit
    /// that lost its lease falls silent. The first call of a visit needs no such look if the ledger was just read for its
    /// lease.
    async fn still_ours(&mut self, url: &Url) -> Result<Option<End>, StageError> {
        if self.lasted() > FRESH {
            let (latest, version) = self.manners.ledger.load(&self.host).await?;
            if latest.lease.as_ref().is_none_or(|l| l.token != self.grant.lease.token) {
                return Ok(Some(End::Later(self.manners.clock.now() + self.manners.rules.busy_retry)));
            }
            // Whoever lost this lease before may have learned late that the host is to be left alone.
            let now = self.manners.clock.now();
            let held = latest.hold.as_ref().filter(|hold| hold.until > now).map(|hold| (hold.until, hold.reason));
            self.state.blocked.clone_from(&latest.blocked);
            self.seen = (latest, version);
            if let Some((until, reason)) = held {
                return Ok(Some(End::Held(until, reason)));
            }
        }
        let blocked =
            self.state.is_blocked(self.host.as_str()) || url.host_str().is_some_and(|h| self.state.is_blocked(h));
        Ok(blocked.then_some(End::Rejected(Rejection::Blocked)))
    }

    fn settled(&mut self, asked: Asked, kind: CallKind, answer: Result<Reply, FetchError>, took: Millis) -> End {
        let now = self.manners.clock.now() + CLOCK_STEP;
        let status = answer.as_ref().ok().map(|r| r.status);
        if let Err(FetchError::Refused(why)) = answer {
            return End::Rejected(Rejection::Address(why));
        }
        let rules = &self.manners.rules;
        let reached = !matches!(answer, Err(FetchError::Network(_)));
        let blame = match answer {
            Err(FetchError::Local(_)) => Blame::Ourselves,
            _ => self.manners.weather.take_in(&self.host, reached, rules, now),
        };
        let outcome = outcome(&answer, blame, now);
        let outcome = if asked.is_robots { outcome.of_robots() } else { outcome };
        self.failure = failures::of_answer(&answer, kind).or(self.failure.take());
        self.last_call_end = Some(now);
        if outcome != Outcome::Outage {
            // A call that nobody could have answered is no try.
            self.calls += 1;
            let bytes = answer.as_ref().map_or(0, |r| r.body.len() as u64);
            self.manners.events.note(&Event::Called { host: &self.host, kind, status, bytes });
        }
        let state = std::mem::take(&mut self.state);
        self.state = record_outcome(state, rules, asked, outcome, took, now, self.manners.seeds.next());
        if let Some(hold) = &self.state.hold {
            self.manners.events.note(&Event::Held { host: &self.host, reason: hold.reason });
            tracing::info!(host = %self.host, status, reason = hold.reason.as_str(), until = %hold.until,
                error = answer.as_ref().err().map(tracing::field::display), "the host is held");
        }
        match (answer, &self.state.hold) {
            (Err(FetchError::Limit(why)), _) => End::Rejected(Rejection::Limit(why)),
            (Err(FetchError::Protocol(why)), _) => End::Rejected(Rejection::Transport(why)),
            (_, Some(hold)) => End::Held(hold.until, hold.reason),
            (Err(FetchError::Network(_) | FetchError::Local(_)), None) => {
                let until = match outcome {
                    Outcome::Outage => outage::rest(rules, now, self.manners.seeds.next()),
                    _ => self.state.not_before,
                };
                self.over = Some(until);
                End::Later(until)
            }
            (Err(error), None) => {
                self.over = Some(now + rules.visit_rest);
                let until = url_held(&self.state, asked, now).unwrap_or(now + rules.visit_rest);
                tracing::info!(host = %self.host, %error, %until, "a URL is left alone");
                if asked.is_robots {
                    End::Rejected(Rejection::Transport(error.to_string()))
                } else {
                    End::Elsewhere(until)
                }
            }
            (Ok(reply), None) => {
                if url_held_until(rules, outcome, 0, now, 0).is_some() {
                    self.over = Some(now + rules.visit_rest);
                }
                End::Reply(Box::new(reply))
            }
        }
    }

    /// Until when a page is left alone whose answer refuses it or tells of trouble, and speaks for this page alone; put off
    /// so often before.
    pub(crate) fn url_held_until(&self, reply: &Reply, in_a_row: u32) -> Option<Timestamp> {
        let now = self.manners.clock.now();
        url_held_until(&self.manners.rules, answered(reply, now), in_a_row, now, self.manners.seeds.next())
    }

    /// Nothing is where the site's home page should be: the host key is left alone once this visit is closed.
    pub(crate) fn hold_not_found(&mut self) {
        let (now, seed) = (self.manners.clock.now(), self.manners.seeds.next());
        let state = std::mem::take(&mut self.state);
        self.state = curlew_policy::politeness::outcome::hold_not_found(state, &self.manners.rules, now, seed);
        self.manners.events.note(&Event::Held { host: &self.host, reason: HoldReason::NotFound });
    }

    /// Makes a brief lease as long as others are.
    async fn lengthen(&mut self) -> Result<(), StageError> {
        let by = self.manners.rules.lease_length().saturating_sub(self.grant.length);
        let (token, now) = (self.grant.lease.token, self.manners.clock.now());
        let until =
            update_host(self.manners.ledger.as_ref(), &self.host, |latest| admission::lengthen(latest, token, by, now))
                .await?;
        if let Some(until) = until {
            self.grant.length = self.grant.length + by;
            self.grant.lease.until = until;
            self.state.window.spent = self.state.window.spent + by;
        }
        Ok(())
    }

    /// Ends a visit that leaves no work behind: if nobody has to be told anything, its brief lease runs out by itself.
    ///
    /// # Errors
    /// What the ledger says; the lease then runs out by itself.
    pub(crate) async fn close_or_leave(self) -> Result<(), StageError> {
        let Grant { state: granted, at, length, used, .. } = &self.grant;
        let rules = &self.manners.rules;
        let is_brief = *length == rules.brief_length();
        if is_brief && admission::may_run_out(granted, &self.state, rules, self.calls, *used, *at) {
            return Ok(());
        }
        self.close().await
    }

    /// Gives the lease back, with all that was learned.
    ///
    /// # Errors
    /// What the ledger says; the lease then runs out by itself.
    pub async fn close(self) -> Result<(), StageError> {
        let token = self.grant.lease.token;
        let mut tried = 0;
        loop {
            let now = self.manners.clock.now();
            let written = update_host_from(self.manners.ledger.as_ref(), &self.host, self.seen.clone(), |latest| {
                (admission::close(latest, self.state.clone(), token, now), ())
            })
            .await;
            tried += 1;
            match written {
                Err(e) if e.is_transient() && tried < CLOSE_TRIES => {}
                other => return Ok(other.map(|_| ())?),
            }
        }
    }
}

fn outcome(answer: &Result<Reply, FetchError>, blame: Blame, now: Timestamp) -> Outcome {
    match answer {
        Ok(reply) => answered(reply, now),
        Err(FetchError::Network(_) | FetchError::Local(_)) if blame == Blame::Ourselves => Outcome::Outage,
        Err(FetchError::Network(_)) => Outcome::Network,
        Err(FetchError::Cut(_)) => Outcome::Cut,
        Err(_) => Outcome::Broken,
    }
}

fn answered(reply: &Reply, now: Timestamp) -> Outcome {
    let retry_after = reply.headers.retry_after.as_deref().and_then(|v| http::retry_after(v, now));
    Outcome::Answered { status: reply.status, retry_after }
}

fn got(end: End, chain: Chain) -> Got {
    Got { end, url: chain.current().clone(), hops: chain.hops(), moved_for_good: chain.is_permanent() }
}
