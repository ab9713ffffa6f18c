//! How a stage comes to call a host: nobody calls without a visit, and a visit needs the lease of its host key.

use crate::visit::{Grant, Visit};
use crate::{KnownRobots, StageError};
use curlew_model::{HoldReason, HostKey, Millis, Timestamp};
use curlew_policy::address::{self, BadAddress, HostGroups};
use curlew_policy::admission::{self, Admission};
use curlew_policy::scope::Scope;
use curlew_policy::{Rules, admit};
use curlew_ports::{Clock, Events, Fetch, HostLedger, RobotsStore, Seeds, update_host, update_host_from};
use std::sync::Arc;
use url::Url;

/// What every stage that calls hosts shares: the ledger of hosts, robots copies, the HTTP adapter, time and chance.
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
    /// The product token that robots.txt files name us by (RFC 9309 §2.2.1).
    pub token: String,
    /// What the operator excludes, and which wishes of sites are heeded.
    pub scope: Arc<Scope>,
    /// Rules of robots.txt files that this process has compiled already.
    pub known: Arc<KnownRobots>,
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
        let ledger = self.ledger.as_ref();
        // What is a little old costs less to read, and nothing is granted by it: the swap would fail.
        let first = ledger.glimpse(host).await?;
        let ((state, admission, used), version) = update_host_from(ledger, host, first, |state| {
            let used = admission::last_use(&state);
            let (next, admission) = admit(state, host, &self.rules, owner, length, now, seed);
            (next.clone(), (next, admission, used))
        })
        .await?;
        Ok(match admission {
            Admission::Granted(lease) => {
                let grant = Grant { lease, state, version, opened, at: now, length, used };
                Opening::Open(Box::new(Visit::new(self, host.clone(), grant)))
            }
            Admission::Busy { until } => Opening::Busy(until),
            Admission::Held { until, reason } => Opening::Held(until, reason),
            Admission::Blocked => Opening::Blocked,
        })
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
