//! A visit: calls to one host key under its lease. Every call to a site is made by a visit. [`VisitState::next`]
//! decides each step; this shell carries it out.

pub(crate) mod interstitial;
mod opening;
mod refresh;
pub mod robots;

use crate::parsing::parsed;
use crate::politeness::access::Politeness;
use crate::politeness::failures;
use crate::politeness::signing::{SignatureMode, Signer};
use crate::politeness::visit::interstitial::is_html;
use curlew_article::{Limits, decode};
use curlew_model::{
    Failure, HoldReason, HostKey, HostState, Millis, Origin, Rejection, SignatureHeaders, SourceKey, Timestamp,
    Validators,
};
use curlew_policy::politeness::admission::{self, NotNow};
use curlew_policy::politeness::outage::Fault;
use curlew_policy::politeness::outcome::{CallTarget, Outcome, Role, url_held_until};
use curlew_policy::politeness::redirect::{Chain, NotFollowed, is_redirect};
use curlew_policy::politeness::visit::{self, Answer, Attempt, Grant, Permission, Step, VisitState};
use curlew_policy::politeness::{http, marks};
use curlew_policy::robots::Robots;
use curlew_policy::robots::license::LicenseTerms;
use curlew_ports::stage::Result;
use curlew_ports::{
    Call, CallKind, CpuPool, Event, FetchError, Post, Reply, Version, WaitReason, update_host, update_host_from,
};
use curlew_signature::accept::is_ours;
use futures::future::BoxFuture;
use std::collections::HashMap;
use std::sync::Arc;
use url::Url;

/// Number of attempts to write the end of a visit if the ledger fails; after that the lease expires by itself.
const CLOSE_TRIES: u32 = 3;

#[derive(Clone)]
pub(crate) struct SiteLicense {
    pub(crate) address: Url,
    pub(crate) terms: Arc<LicenseTerms>,
}

/// Outcome of one call, or of a chain of redirects.
pub type CallEnd = visit::CallEnd<Box<Reply>>;

/// A feed whose poll is recorded in the row of its host key, and that row as it was just read.
pub(crate) struct NotedFeed<'f> {
    pub(crate) feed: &'f SourceKey,
    pub(crate) ledger_row: (HostState, Version),
}

/// Outcome of a request for the lease of a host key.
pub enum LeaseOutcome {
    /// The lease is ours.
    Granted(Box<Visit>),
    /// The host key must not be called now.
    NotNow(NotNow),
    /// The host key is blocked.
    Blocked,
}

/// A visit to one host key under its lease.
pub struct Visit {
    pub(crate) politeness: Arc<Politeness>,
    pub(crate) state: VisitState,
    ledger_row: (HostState, Version),
    pub(crate) compiled: HashMap<Origin, Arc<Robots>>,
    pub(crate) licenses: HashMap<Origin, SiteLicense>,
    /// Number of pages that this visit has added to the state of the host key.
    pub(crate) remembered: usize,
    post: Option<Post>,
    /// Last failure of a call, worded for people.
    pub failure: Option<Failure>,
}

/// A document that was fetched before: its validators, and the URL that sent them, to which alone they are sent.
#[derive(Clone, Copy)]
pub(crate) struct KnownDocument<'a> {
    pub(crate) validators: &'a Validators,
    pub(crate) url: &'a Url,
}

/// Outcome of fetching a URL.
#[derive(Debug)]
pub struct Fetched {
    /// The outcome of the call.
    pub end: CallEnd,
    /// The URL that was called last.
    pub url: Url,
    /// Number of redirects that were followed.
    pub hops: usize,
    /// True if there were redirects and all of them were permanent.
    pub moved_for_good: bool,
}

impl Visit {
    fn new(politeness: Arc<Politeness>, host: HostKey, grant: Grant, version: Version) -> Visit {
        let ledger_row = (grant.state.clone(), version);
        let state = VisitState::new(host, grant);
        let (compiled, licenses) = (HashMap::new(), HashMap::new());
        let (remembered, post, failure) = (0, None, None);
        Visit { politeness, state, ledger_row, compiled, licenses, remembered, post, failure }
    }

    pub(crate) fn lasted(&self) -> Millis {
        Millis(self.politeness.clock.monotonic().0.saturating_sub(self.state.grant.opened.0))
    }

    pub(crate) fn next_call_at(&self) -> Timestamp {
        self.state.next_call_at(&self.politeness.rules, self.politeness.clock.now())
    }

    /// Gets a URL and follows redirects; checks robots.txt and keeps the pause for each hop.
    pub async fn get(&mut self, url: &Url, kind: CallKind, validators: &Validators) -> Result<Fetched> {
        self.get_unless(url, kind, KnownDocument { validators, url }).await
    }

    /// Gets a URL as [`Visit::get`] does, unless the document is known, perhaps from the target of a redirect.
    async fn get_unless(&mut self, url: &Url, kind: CallKind, known: KnownDocument<'_>) -> Result<Fetched> {
        let now = self.politeness.clock.now();
        let mut chain = self.state.chain(url, self.politeness.rules.page_redirects, now);
        let fetched = self.follow(&mut chain, kind, known).await?;
        let now = self.politeness.clock.now();
        self.state.after_chain(&chain, &fetched.end, now);
        Ok(fetched)
    }

    /// Gets the URLs of a chain of redirects, unless the document is known.
    pub(crate) async fn follow(
        &mut self,
        chain: &mut Chain,
        kind: CallKind,
        known: KnownDocument<'_>,
    ) -> Result<Fetched> {
        // Validators go only to the server that gave them, and never from https to http.
        let (mut leaves_tls, none) =
            (chain.start().scheme() == "https" && chain.current().scheme() == "http", Validators::default());
        loop {
            let here = chain.current().clone();
            let validators = if is_same_resource(&here, known.url) && !leaves_tls { known.validators } else { &none };
            let end = self.hop(&here, kind, validators, None).await?;
            let CallEnd::Reply(reply) = &end else { return Ok(fetched(end, chain)) };
            let mut refresh = None;
            if !is_redirect(reply.status) {
                let has_room =
                    kind != CallKind::Page || chain.hops() + 1 < self.politeness.rules.calls_per_page as usize;
                refresh = if has_room { self.refresh_of(reply, &here, kind).await? } else { None };
                if refresh.is_none() {
                    return Ok(fetched(end, chain));
                }
            }
            let led_on = match &refresh {
                // A refresh does not say whether it is permanent.
                Some(target) => chain.follow(302, Some(target.as_str())),
                None => chain.follow(reply.status, reply.headers.location.as_deref()),
            };
            match led_on {
                Ok(next) if here.scheme() == "https" && next.scheme() == "http" => {
                    // A feed behind TLS is not read without TLS, since anybody on the path could write it. A page is.
                    if kind == CallKind::Feed {
                        let why = Rejection::Redirect("it leads from https to http".into());
                        return Ok(fetched(CallEnd::Rejected(why), chain));
                    }
                    tracing::info!(from = %here, to = %next, "a redirect leads from https to http");
                    leaves_tls = true;
                }
                Ok(_) => {}
                // A refresh that cannot be followed leaves the document itself to be read.
                Err(_) if refresh.is_some() => return Ok(fetched(end, chain)),
                // A redirect to another scheme is rejected like any other address that must not be called.
                Err(why @ NotFollowed::BadLocation(_)) => {
                    return Ok(fetched(CallEnd::Rejected(Rejection::Address(why.to_string())), chain));
                }
                Err(why) => return Ok(fetched(CallEnd::Rejected(Rejection::Redirect(why.to_string())), chain)),
            }
        }
    }

    /// Posts a form to a hub. Follows 307 and 308, by which a hub may name another address (WebSub §5.2); no other
    /// redirect repeats a POST (RFC 9110 §15.4).
    pub(crate) async fn post(&mut self, hub: &Url, form: String) -> Result<CallEnd> {
        self.post = Some(Post::form(form));
        let mut chain = Chain::new(hub.clone(), self.politeness.rules.page_redirects);
        loop {
            let here = chain.current().clone();
            let end = self.hop(&here, CallKind::Hub, &Validators::default(), None).await?;
            let CallEnd::Reply(reply) = &end else { return Ok(end) };
            if !matches!(reply.status, 307 | 308) {
                return Ok(end);
            }
            match chain.follow(reply.status, reply.headers.location.as_deref()) {
                // The form contains the subscription's secret.
                Ok(next) if here.scheme() == "https" && next.scheme() == "http" => {
                    return Ok(CallEnd::Rejected(Rejection::Redirect("it leads from https to http".into())));
                }
                Ok(_) => {}
                Err(why) => return Ok(CallEnd::Rejected(Rejection::Redirect(why.to_string()))),
            }
        }
    }

    /// Posts matches to their receiver. Its operator has asked for the call, so robots.txt is not checked; address
    /// guard, pause and holds apply. No redirect is followed.
    pub async fn tell(&mut self, receiver: &Url, post: Post) -> Result<CallEnd> {
        self.post = Some(post);
        self.hop(receiver, CallKind::Receiver, &Validators::default(), Some(Permission::Allowed)).await
    }

    /// Makes one call, with a guest lease for a URL of another host key. Checks robots.txt if `permission` is `None`.
    pub fn hop<'b>(
        &'b mut self,
        url: &'b Url,
        kind: CallKind,
        validators: &'b Validators,
        permission: Option<Permission>,
    ) -> BoxFuture<'b, Result<CallEnd>> {
        Box::pin(async move {
            let mut attempt = Attempt { permission, ..self.attempt(url, kind) };
            loop {
                let rules = &self.politeness.rules;
                match self.state.next(&attempt, rules, self.politeness.clock.now(), self.lasted()) {
                    Step::End(end) => return Ok(end),
                    Step::OpenGuest(key) => return self.as_guest(&key, url, kind, validators, permission).await,
                    Step::AskRobots => match self.permission(url).await? {
                        Ok(permission) => attempt.permission = Some(permission),
                        Err(end) => return Ok(end),
                    },
                    Step::Lengthen => {
                        self.lengthen().await?;
                        attempt.has_lengthened = true;
                    }
                    Step::Wait(wait) => {
                        self.politeness.events.note(&Event::Waited { reason: WaitReason::Pause, time: wait });
                        self.politeness.clock.sleep(wait).await;
                        attempt.has_waited = true;
                    }
                    Step::Confirm => {
                        // The lease keeps other visits away. This read only finds blocks and holds, for which an
                        // eventually consistent read is good enough, at half the price: it lags by less than a second.
                        let lasted = self.lasted();
                        if self.politeness.ledger.load_eventual(&self.state.host).await?.1 != self.ledger_row.1 {
                            let latest = self.politeness.ledger.load(&self.state.host).await?;
                            if let Some(end) = self.state.confirm(&latest.0, self.politeness.clock.now()) {
                                return Ok(end);
                            }
                            self.ledger_row = latest;
                        }
                        self.state.looked = lasted;
                        attempt.has_confirmed = true;
                    }
                    Step::Call => match self.call(url, kind, validators).await {
                        Some(end) => return Ok(end),
                        None => attempt = Attempt { has_waited: false, has_confirmed: false, ..attempt },
                    },
                }
            }
        })
    }

    fn attempt<'u>(&self, url: &'u Url, kind: CallKind) -> Attempt<'u> {
        let key = self.politeness.fetch.vet(url.as_str());
        let key = key.and_then(|()| self.politeness.key_of(url).map_err(|why| why.to_string()));
        let is_robots = kind == CallKind::Robots;
        // A robots.txt is needed for the URLs that are not excluded, even if an exclusion covers the file itself.
        let excluded = self.politeness.scope.excludes(url).filter(|_| !(is_robots && url.path() == "/robots.txt"));
        Attempt {
            key,
            name: url.host_str().unwrap_or_default(),
            excluded: excluded.as_ref().map(ToString::to_string),
            permission: None,
            target: CallTarget::new(url.as_str(), role(kind)),
            has_lengthened: false,
            has_waited: false,
            has_confirmed: false,
        }
    }

    async fn as_guest(
        &mut self,
        key: &HostKey,
        url: &Url,
        kind: CallKind,
        validators: &Validators,
        permission: Option<Permission>,
    ) -> Result<CallEnd> {
        match self.politeness.open(key, &self.state.grant.lease.owner).await? {
            LeaseOutcome::Granted(mut guest) => {
                guest.post.clone_from(&self.post);
                let end = guest.hop(url, kind, validators, permission).await;
                self.failure = guest.failure.take().or(self.failure.take());
                let state = guest.state.clone();
                guest.close().await?;
                Ok(self.state.after_guest(&state, end?))
            }
            LeaseOutcome::NotNow(NotNow { until, why }) => Ok(match why {
                None => CallEnd::Later(until),
                Some(HoldReason::Rest) => CallEnd::Refused(until),
                Some(_) => CallEnd::Elsewhere(until),
            }),
            LeaseOutcome::Blocked => Ok(CallEnd::Rejected(Rejection::Blocked)),
        }
    }

    /// Calls a URL and applies the answer. Returns `None` to repeat the call, signed or over a new connection.
    async fn call(&mut self, url: &Url, kind: CallKind, validators: &Validators) -> Option<CallEnd> {
        let target = CallTarget::new(url.as_str(), role(kind));
        let Politeness { rules, clock, .. } = &*self.politeness;
        let post = self.post.clone().filter(|_| matches!(kind, CallKind::Hub | CallKind::Receiver));
        let (url, validators, signature) = (url.as_str().to_owned(), validators.clone(), self.signature(url).await);
        let is_signed = signature.is_some();
        let call = Call { url, kind, validators, post, signature, time: rules.call_time };
        let began = clock.monotonic();
        let answer = self.politeness.fetch.call(&call).await;
        let took = Millis(clock.monotonic().0.saturating_sub(began.0));
        let now = clock.now();
        if let Err(FetchError::Refused(why)) = answer {
            return Some(CallEnd::Rejected(Rejection::Address(why)));
        }
        let was_idle = matches!(answer, Err(FetchError::ClosedIdle));
        let asks_signature = !is_signed && self.asks_signature(&answer, now).await;
        let failure = failures::of_answer(&answer, kind);
        let (status, bytes) = answer.as_ref().map_or((None, 0), |r| (Some(r.status), r.body.len() as u64));
        let error = answer.as_ref().err().map(ToString::to_string);
        let answer = self.judged(answer, kind, asks_signature, now);
        let is_outage = answer.outcome(target) == Outcome::Outage;
        let end = self.state.after_call(target, answer, took, rules, now, self.politeness.seeds.next());
        let (host, events) = (&self.state.host, &self.politeness.events);
        if was_idle && end.is_none() {
            tracing::debug!(%host, "a connection was closed as idle: the same call is sent once more after its pause");
        } else if !is_outage {
            events.note(&Event::Called { host, kind, status, bytes });
        }
        if let Some(hold) = &self.state.learned.hold {
            events.note(&Event::Held { host, reason: hold.reason });
            tracing::info!(
                %host,
                status,
                reason = hold.reason.as_str(),
                until = %hold.until,
                error,
                "the host is held"
            );
        } else if let Some(CallEnd::Elsewhere(until)) = end {
            tracing::info!(%host, error, %until, "a URL is held");
        }
        if end.is_some() {
            self.failure = failure.or(self.failure.take());
        }
        end
    }

    async fn signature(&self, url: &Url) -> Option<SignatureHeaders> {
        let Politeness { signer, clock, seeds, .. } = &*self.politeness;
        let wants = |signer: &&Arc<Signer>| signer.mode == SignatureMode::Always || self.state.learned.signs;
        signer.as_ref().filter(wants)?.sign(url, clock.now(), seeds.next()).await
    }

    /// Returns true if the answer to an unsigned call asks for a signature that can be made.
    async fn asks_signature(&self, answer: &Result<Reply, FetchError>, now: Timestamp) -> bool {
        let asked = answer.as_ref().ok().and_then(|reply| reply.headers.accept_signature.as_deref());
        let (Some(signer), Some(asked)) = (&self.politeness.signer, asked) else { return false };
        is_ours(asked) && signer.has_key(now).await
    }

    /// Converts an answer for policy, and tells the outage detector whether the host was reached.
    fn judged(
        &self,
        answer: Result<Reply, FetchError>,
        kind: CallKind,
        asks_signature: bool,
        now: Timestamp,
    ) -> Answer<Box<Reply>> {
        let reached = !matches!(answer, Err(FetchError::Network(_)));
        let blame = match answer {
            Err(FetchError::Local(_)) => Fault::Local,
            _ => self.politeness.outage.take_in(&self.state.host, reached, &self.politeness.rules, now),
        };
        // A bot wall before images or hubs says nothing about pages. If a signature is needed, the signed call decides.
        let speaks_for_host = !asks_signature && !matches!(kind, CallKind::Image | CallKind::Hub | CallKind::Receiver);
        let marked = answer.as_ref().ok().and_then(|reply| marks::by_headers(reply.status, &reply.headers.lines));
        if let Some(vendor) = marked.filter(|_| speaks_for_host) {
            return Answer::Challenge(vendor);
        }
        match answer {
            Ok(reply) => {
                let retry_after = retry_after(&reply, now);
                Answer::Reply { status: reply.status, retry_after, asks_signature, reply: Box::new(reply) }
            }
            Err(FetchError::Network(_) | FetchError::Local(_)) => Answer::Unreached { is_local: blame == Fault::Local },
            Err(error @ FetchError::ClosedIdle) => Answer::Cut { why: error.to_string(), was_idle: true },
            Err(FetchError::Cut(why)) => Answer::Cut { why, was_idle: false },
            Err(FetchError::Limit(why)) => Answer::Limit(why),
            Err(FetchError::Protocol(why) | FetchError::Refused(why)) => Answer::Protocol(why),
        }
    }

    /// Returns the end of a page's hold if the answer concerns only this page, after this number of deferrals.
    pub(crate) fn url_held_until(&self, reply: &Reply, in_a_row: u32) -> Option<Timestamp> {
        let now = self.politeness.clock.now();
        let outcome = Outcome::Answered { status: reply.status, retry_after: retry_after(reply, now) };
        url_held_until(&self.politeness.rules, outcome, in_a_row, now, self.politeness.seeds.next())
    }

    /// Holds the host key once this visit is closed, since the site's home page does not exist.
    pub(crate) fn hold_not_found(&mut self) {
        let (now, seed) = (self.politeness.clock.now(), self.politeness.seeds.next());
        self.state.hold_not_found(&self.politeness.rules, now, seed);
        self.politeness.events.note(&Event::Held { host: &self.state.host, reason: HoldReason::NotFound });
    }

    /// Lengthens a brief lease to the usual length. Does nothing if the lease was lost.
    async fn lengthen(&mut self) -> Result<()> {
        let rules = self.politeness.rules_for(&self.state.host);
        let by = rules.lease_length().saturating_sub(self.state.grant.length);
        let token = self.state.grant.lease.token;
        let now = self.politeness.clock.now();
        let longer = |latest| admission::lengthen(latest, token, by, &rules, now);
        if let Some(until) = update_host(self.politeness.ledger.as_ref(), &self.state.host, longer).await? {
            self.state.lengthened(until, &rules);
        }
        Ok(())
    }

    /// Closes the visit, or lets its brief lease expire if there is nothing to write.
    pub(crate) async fn close_or_leave(self) -> Result<()> {
        if self.state.may_run_out(&self.politeness.rules) { Ok(()) } else { self.close().await }
    }

    /// Gives the lease back as [`Visit::close`] does; logs an error, since the visit's results are valid all the same.
    pub async fn give_back(self) {
        let host = self.state.host.clone();
        if let Err(error) = self.close().await {
            tracing::warn!(%error, %host, "a lease could not be given back");
        }
    }

    /// Gives the lease back, and writes what was learned. If the ledger cannot be reached, the lease expires by itself.
    pub async fn close(self) -> Result<()> {
        let token = self.state.grant.lease.token;
        let mut tried = 0;
        loop {
            let now = self.politeness.clock.now();
            let (ledger, host) = (self.politeness.ledger.as_ref(), &self.state.host);
            let written = update_host_from(ledger, host, self.ledger_row.clone(), |latest| {
                (admission::close(latest, self.state.learned.clone(), token, now), ())
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

fn role(kind: CallKind) -> Role {
    match kind {
        CallKind::Robots => Role::Robots,
        CallKind::Image => Role::Image,
        CallKind::Hub => Role::Hub,
        CallKind::Receiver | CallKind::Engine => Role::Receiver,
        CallKind::Home | CallKind::Proof | CallKind::Feed | CallKind::Sitemap | CallKind::Page => Role::Document,
    }
}

fn retry_after(reply: &Reply, now: Timestamp) -> Option<Timestamp> {
    reply.headers.retry_after.as_deref().and_then(|value| http::retry_after(value, now))
}

/// Returns true if two URLs differ in their queries at most, which delivery networks sign anew for each request.
fn is_same_resource(one: &Url, other: &Url) -> bool {
    one.origin() == other.origin() && one.path() == other.path()
}

fn fetched(end: CallEnd, chain: &Chain) -> Fetched {
    Fetched { end, url: chain.current().clone(), hops: chain.hops(), moved_for_good: chain.is_permanent() }
}
