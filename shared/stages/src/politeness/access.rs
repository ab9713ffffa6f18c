//! How a stage comes to call a host: nobody calls without a visit, and a visit needs the lease of its host key.

use crate::catalog::hidden::hidden_hosts;
use crate::politeness::robots_cache::KnownRobots;
use crate::politeness::visit::{Grant, Visit};
use crate::stage::StageError;
use curlew_model::{HoldReason, HostKey, HostState, Millis, Timestamp, is_at_or_below};
use curlew_policy::address::{self, BadAddress, HostGroups};
use curlew_policy::politeness::admission::admit;
use curlew_policy::politeness::admission::{self, Admission};
use curlew_policy::politeness::outage::{Blame, Heard};
use curlew_policy::politeness::scope::Scope;
use curlew_policy::rules::Rules;
use curlew_ports::{
    Blobs, Clock, CpuPool, Events, Fetch, HostLedger, RobotsStore, Seeds, Version, update_host, update_host_from,
};
use std::sync::{Arc, Mutex, PoisonError};
use url::Url;

/// What every stage that calls hosts shares: the ledger of hosts, robots copies, the HTTP adapter, time and chance.
#[derive(Clone)]
pub struct Manners {
    /// The compare-and-swap ledger of host keys.
    pub ledger: Arc<dyn HostLedger>,
    /// Copies of robots.txt.
    pub robots: Arc<dyn RobotsStore>,
    /// The HTTP adapter.
    pub fetch: Arc<dyn Fetch>,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Seeds for chance.
    pub seeds: Arc<dyn Seeds>,
    /// Who counts.
    pub events: Arc<dyn Events>,
    /// The numbers.
    pub rules: Arc<Rules>,
    /// What counts as one host.
    pub groups: Arc<HostGroups>,
    /// For the list of blocked hosts, which is read when a host key is visited for the first time.
    pub blobs: Arc<dyn Blobs>,
    /// What this process has heard of the network.
    pub weather: Arc<Weather>,
    /// The product token that robots.txt files name us by (RFC 9309 §2.2.1).
    pub token: String,
    /// What the operator excludes, and which wishes of sites are heeded.
    pub scope: Arc<Scope>,
    /// Rules of robots.txt files that this process has compiled already.
    pub known: Arc<KnownRobots>,
    /// Where documents are parsed.
    pub pool: Arc<dyn CpuPool>,
}

/// What this process has heard of the hosts that it called last, shared by all its visits.
#[derive(Debug, Default)]
pub struct Weather(Mutex<Heard>);

impl Weather {
    fn change<T>(&self, change: impl FnOnce(Heard) -> (Heard, T)) -> T {
        let mut heard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (next, answer) = change(std::mem::take(&mut *heard));
        *heard = next;
        answer
    }

    /// Whether most hosts that were called last are out of reach, so that our own network must be down.
    pub fn is_down(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).outage().is_some()
    }

    /// Takes in whether a host could be reached; says who is to blame.
    pub(crate) fn take_in(&self, host: &HostKey, reached: bool, rules: &Rules, now: Timestamp) -> Blame {
        let (before, blame, after) = self.change(|heard| {
            let before = heard.outage();
            let (heard, blame) = heard.take_in(host, reached, rules, now);
            let after = heard.outage();
            (heard, (before, blame, after))
        });
        match (before, after) {
            (None, Some(_)) => {
                tracing::warn!("most hosts are out of reach: our own network is down, and no host is held")
            }
            (Some(outage), None) => tracing::warn!(since = %outage.since, "our own network is up again"),
            _ => {}
        }
        blame
    }

    /// Until when a visit is put off, if our own network is down.
    fn put_off(&self, rules: &Rules, now: Timestamp, seed: u64) -> Option<Timestamp> {
        self.change(|heard| heard.may_begin(rules, now, seed))
    }
}

/// What became of the wish to visit a host key.
pub enum Opening<'a> {
    /// The lease is ours.
    Open(Box<Visit<'a>>),
    /// Somebody else is there, or the next call is too far away to wait for.
    Busy(Timestamp),
    /// The host key is left alone.
    Held(Timestamp, HoldReason),
    /// The host key is blocked.
    Blocked,
}

impl Manners {
    /// The host key that a URL counts under.
    ///
    /// # Errors
    /// If it has no host.
    pub fn key_of(&self, url: &Url) -> Result<HostKey, BadAddress> {
        address::host_key(url, &self.groups)
    }

    /// Asks for the lease of a host key.
    ///
    /// # Errors
    /// What the ledger says.
    pub async fn open(&self, host: &HostKey, owner: &str) -> Result<Opening<'_>, StageError> {
        self.open_for(host, owner, self.rules.lease_length()).await
    }

    /// Asks for a brief lease, which is made longer if it turns out to be too short.
    ///
    /// # Errors
    /// What the ledger says.
    pub(crate) async fn open_briefly(&self, host: &HostKey, owner: &str) -> Result<Opening<'_>, StageError> {
        self.open_for(host, owner, self.rules.brief_length()).await
    }

    async fn open_for(&self, host: &HostKey, owner: &str, length: Millis) -> Result<Opening<'_>, StageError> {
        // Taken before the lease is, so that the visit ends before the ledger thinks so.
        let opened = self.clock.monotonic();
        let now = self.clock.now();
        let seed = self.seeds.next();
        if let Some(until) = self.weather.put_off(&self.rules, now, seed) {
            return Ok(Opening::Busy(until));
        }
        let ledger = self.ledger.as_ref();
        // What is a little old costs less to read, and nothing is granted by it: the swap would fail.
        let first = ledger.glimpse(host).await?;
        let is_first_visit = first.1 == Version::ABSENT;
        let ((state, admission, used, repeats), version) = update_host_from(ledger, host, first, |state| {
            let (used, repeats) = (admission::last_use(&state), admission::repeats(&state, owner, now));
            let (next, admission) = admit(state, host, &self.rules, owner, length, now, seed);
            (next.clone(), (next, admission, used, repeats))
        })
        .await?;
        Ok(match admission {
            // Its row is there by now: whoever blocks finds it, or has written the list before.
            Admission::Granted(_) if is_first_visit && self.is_blocked_from_above(host).await? => Opening::Blocked,
            Admission::Granted(lease) => {
                let grant = Grant { lease, state, version, opened, at: now, length, used, repeats };
                Opening::Open(Box::new(Visit::new(self, host.clone(), grant)))
            }
            Admission::Busy { until } => Opening::Busy(until),
            Admission::Held { until, reason } => Opening::Held(until, reason),
            Admission::Blocked => Opening::Blocked,
        })
    }

    /// Whether a host key that was never visited lies below a name that is blocked, such as a public suffix. The block is
    /// then written into its own state, where the next call finds it.
    async fn is_blocked_from_above(&self, host: &HostKey) -> Result<bool, StageError> {
        let hidden = hidden_hosts(self.blobs.as_ref()).await?;
        let Some(name) = hidden.iter().find(|name| is_at_or_below(host.as_str(), name)) else { return Ok(false) };
        let blocked = |state| (HostState { lease: None, ..admission::block(state, name) }, ());
        update_host(self.ledger.as_ref(), host, blocked).await?;
        Ok(true)
    }

    /// Ends the lease of a visit that is known to be dead.
    ///
    /// # Errors
    /// What the ledger says.
    pub async fn break_lease(&self, host: &HostKey) -> Result<(), StageError> {
        let (now, seed) = (self.clock.now(), self.seeds.next());
        update_host(self.ledger.as_ref(), host, |s| (admission::break_lease(s, &self.rules, now, seed), ())).await?;
        Ok(())
    }
}
