//! The model web as one machine sees it: a `Fetch` port that takes time, records each call, and ends with its machine.

use super::answer::{exchange, vet};
use super::late::TOO_LATE;
use super::stores::Shared;
use super::trace::{CallResult, CallSnapshot, LedgerSnapshot, RobotsSnapshot};
use crate::faults::Faults;
use async_trait::async_trait;
use curlew_model::{HostState, Millis, Source, Timestamp};
use curlew_policy::address;
use curlew_policy::chance::mix;
use curlew_ports::{Call, CallKind, Clock, Fetch, FetchError, HostLedger, Reply, RobotsStore, Sources};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use url::Url;

/// The [`Fetch`] port of one life of one machine.
pub(super) struct MachineWeb {
    pub(super) shared: Arc<Shared>,
    pub(super) faults: Arc<Faults>,
    pub(super) machine: usize,
    /// Of a thousand calls, the number during which the machine dies.
    pub(super) cuts: u64,
}

/// A call under way. Dropping it records its end.
struct UnderWay {
    shared: Arc<Shared>,
    number: usize,
    came_to: CallResult,
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        let now = self.shared.clock.now();
        let mut trace = self.shared.trace();
        let Some(call) = trace.calls.get_mut(self.number) else { return };
        call.end = now;
        call.came_to = self.came_to;
        let took = call.end.since(call.start).0;
        let line = format!("machine {} {:?} {} {:?} after {took} ms", call.machine, call.kind, call.url, self.came_to);
        trace.note(now, line);
    }
}

impl MachineWeb {
    async fn begin(&self, call: &Call) -> UnderWay {
        let now = self.shared.clock.now();
        let seen = match Url::parse(&call.url) {
            Ok(url) => self.look(call, &url).await,
            Err(_) => None,
        };
        let (host, ledger, robots) = match seen {
            Some(seen) => seen,
            // A URL without a host is no call, but the decision of the address guard is recorded.
            None => return self.record(None),
        };
        self.record(Some(CallSnapshot {
            host,
            url: call.url.clone(),
            kind: call.kind,
            machine: self.machine,
            start: now,
            end: now,
            came_to: CallResult::Open,
            ledger,
            robots,
            refused: vet(&call.url).is_err(),
            polled_at: self.polled_at(call).await,
        }))
    }

    /// Returns when the row says that the called feed was last polled. Returns `None` for a retired feed, since
    /// discovery looks for its successor, also at the same URL, and for a feed that a backfill reads, which may happen
    /// at any time.
    async fn polled_at(&self, call: &Call) -> Option<Timestamp> {
        if !self.shared.plan.hubs || call.kind != CallKind::Feed {
            return None;
        }
        let url = Url::parse(&call.url).ok()?;
        let host = address::host_key(&url, &self.shared.groups).ok()?;
        let (state, _) = self.shared.hosts.load(&host).await.ok()?;
        if state.lease.is_some_and(|lease| lease.owner.starts_with("backfill ")) {
            return None;
        }
        let key = address::source_key(&url);
        match self.shared.sources.get(&key).await.ok()? {
            Some((Source::Feed(feed), _)) if !feed.gone => Some(feed.polled_at),
            _ => None,
        }
    }

    fn record(&self, call: Option<CallSnapshot>) -> UnderWay {
        let mut trace = self.shared.trace();
        let number = trace.calls.len();
        trace.calls.extend(call);
        UnderWay { shared: self.shared.clone(), number, came_to: CallResult::Cut }
    }

    /// Returns the state of the stores, read without faults, and of robots.txt itself at this moment.
    async fn look(&self, call: &Call, url: &Url) -> Option<(curlew_model::HostKey, LedgerSnapshot, RobotsSnapshot)> {
        let host = address::host_key(url, &self.shared.groups).ok()?;
        let (state, _) = self.shared.hosts.load(&host).await.ok()?;
        let name = url.host_str().unwrap_or_default();
        let is_blocked = |state: &HostState| state.is_blocked(host.as_str()) || state.is_blocked(name);
        let is_held = |state: &HostState| state.hold.is_some();
        let before = self.shared.ledger.ago(&host, TOO_LATE);
        let ledger = LedgerSnapshot {
            lease: state.lease.as_ref().map(|lease| (lease.token, lease.until)),
            hold: state.hold.as_ref().filter(|_| before.as_ref().is_none_or(is_held)).map(|hold| hold.until),
            blocked: is_blocked(&state) && before.as_ref().is_none_or(is_blocked),
        };
        let copy = self.shared.robots.get(&address::origin(url).ok()?).await.ok()?;
        let slack = self.shared.rules.lease_length();
        let robots = RobotsSnapshot {
            asked: copy.is_some(),
            allowed: call.kind == CallKind::Robots || self.shared.world.may_call(url, self.shared.moment(), slack),
            delay: copy.map_or(Millis::ZERO, |copy| self.shared.world.delay_of(&copy.body)),
        };
        Some((host, ledger, robots))
    }
}

#[async_trait]
impl Fetch for MachineWeb {
    async fn call(&self, call: &Call) -> Result<Reply, FetchError> {
        let ended = || FetchError::Network("the machine has crashed".into());
        if self.faults.has_crashed() {
            return Err(ended());
        }
        let mut under_way = self.begin(call).await;
        vet(&call.url).map_err(FetchError::Refused)?;
        let luck = mix(self.shared.plan.seed ^ mix(self.shared.calls.fetch_add(1, Ordering::Relaxed)));
        let (answer, took) = self.shared.world.answer(call, self.shared.moment(), luck);
        if let (Ok(Reply { status: 202, .. }), Some(post)) = (&answer, &call.post) {
            self.shared.hubs.take(&self.shared.world, self.shared.moment(), (&call.url, &post.body), luck);
        }
        if mix(luck ^ 9) % 1_000 < self.cuts {
            // The machine dies somewhere between the start of the call and the moment after its end.
            let until = Millis(mix(luck ^ 10) % (took.0 + 2));
            self.shared.clock.sleep(until.min(took)).await;
            if until > took {
                under_way.came_to = came_to(&answer);
            }
            drop(under_way);
            self.faults.crash();
            return Err(ended());
        }
        self.shared.clock.sleep(took).await;
        if self.faults.has_crashed() {
            return Err(ended());
        }
        under_way.came_to = came_to(&answer);
        answer.map(|reply| {
            let is_kept = self.shared.plan.raw && call.kind == CallKind::Page;
            Reply { exchange: is_kept.then(|| exchange(call, &reply)), ..reply }
        })
    }

    fn vet(&self, url: &str) -> Result<(), String> {
        vet(url)
    }
}

fn came_to(answer: &Result<Reply, FetchError>) -> CallResult {
    match answer {
        Ok(reply) => CallResult::Status(reply.status),
        Err(FetchError::Limit(_) | FetchError::Protocol(_)) => CallResult::Status(200),
        Err(_) => CallResult::Network,
    }
}
