//! The ports and rules of politeness, shared by all stages that call hosts.

use crate::politeness::robots_cache::KnownRobots;
use crate::politeness::signing::Signer;
use curlew_catalog::hidden::HiddenHosts;
use curlew_model::{HostKey, Millis, Timestamp, with_defaults};
use curlew_policy::address::{self, BadAddress, HostGroups};
use curlew_policy::politeness::admission;
use curlew_policy::politeness::outage::{Fault, OutageDetector};
use curlew_policy::politeness::scope::Scope;
use curlew_policy::politeness::visit::{LOOK_EVERY, LOOK_SELDOM};
use curlew_policy::rules::Rules;
use curlew_policy::skew::unless_ahead;
use curlew_ports::stage::Result;
use curlew_ports::{
    Blobs, Clock, CpuPool, Events, Fetch, HostLedger, InlinePool, Ports, RobotsCopy, RobotsStore, Seeds, update_host,
};
use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use url::Url;

/// Default maximum memory for decoding an image, in bytes: a photograph of 39 megapixels, or a progressive JPEG of 19.
pub const DECODED_BYTES: u64 = 112 * 1024 * 1024;

with_defaults! {
    /// The context shared by every stage that calls hosts: host ledger, robots cache, HTTP adapter, time and chance.
    #[derive(Clone)]
    pub struct Politeness {
        /// The compare-and-swap ledger of host keys.
        pub ledger: Arc<dyn HostLedger> = ports.ledger.clone(),
        /// Copies of robots.txt.
        pub robots: Arc<dyn RobotsStore> = ports.robots.clone(),
        /// The HTTP adapter.
        pub fetch: Arc<dyn Fetch>,
        /// Time.
        pub clock: Arc<dyn Clock>,
        /// Seeds for chance.
        pub seeds: Arc<dyn Seeds>,
        /// Receiver of metrics.
        pub events: Arc<dyn Events> = Arc::new(()),
        /// The politeness rules.
        pub rules: Arc<Rules> = Arc::default(),
        /// Groups of hosts that share one host key.
        pub groups: Arc<HostGroups> = Arc::default(),
        /// Store of the list of blocked hosts.
        pub blobs: Arc<dyn Blobs> = ports.blobs.clone(),
        /// The list of blocked hosts, which is read when a host key is visited for the first time.
        pub hidden: Arc<HiddenHosts> = Arc::default(),
        /// Outage detector of this process.
        pub outage: Arc<OutageWatch> = Arc::default(),
        /// Our product token in robots.txt files (RFC 9309 §2.2.1).
        pub token: String = "CurlewBot".to_owned(),
        /// The operator's exclusions, and the site directives to heed.
        pub scope: Arc<Scope> = Arc::default(),
        /// Rules of robots.txt files that this process has compiled already.
        pub known: Arc<KnownRobots> = Arc::default(),
        /// Pool in which documents are parsed.
        pub pool: Arc<dyn CpuPool> = Arc::new(InlinePool),
        /// Maximum memory for decoding an image, in bytes.
        pub decoded_bytes: u64 = DECODED_BYTES,
        /// Signs requests, if signing is configured.
        pub signer: Option<Arc<Signer>> = None,
        /// Time after which a visit reads the ledger again before a call.
        pub look_every: Millis = if ports.is_billed { LOOK_SELDOM } else { LOOK_EVERY },
    }

    /// Returns a context over these ports, with default rules and empty caches; callers may change its fields.
    over(ports: &Ports, fetch: Arc<dyn Fetch>, clock: Arc<dyn Clock>, seeds: Arc<dyn Seeds>)
}

/// The outage detector of this process, shared by all its visits.
#[derive(Debug, Default)]
pub struct OutageWatch(Mutex<OutageDetector>);

impl OutageWatch {
    /// Returns true if most hosts that were called last are unreachable, so that our own network must be down.
    pub fn is_down(&self) -> bool {
        self.detector().outage().is_some()
    }

    pub(crate) fn take_in(&self, host: &HostKey, reached: bool, rules: &Rules, now: Timestamp) -> Fault {
        let mut detector = self.detector();
        let before = detector.outage();
        let blame = detector.take_in(host, reached, rules, now);
        match (before, detector.outage()) {
            (None, Some(_)) => {
                tracing::warn!("most hosts are out of reach: our own network is down, and no host is held")
            }
            (Some(outage), None) => tracing::warn!(since = %outage.since, "our own network is up again"),
            _ => {}
        }
        blame
    }

    pub(crate) fn put_off(&self, now: Timestamp, seed: u64) -> Option<Timestamp> {
        self.detector().may_begin(now, seed)
    }

    fn detector(&self) -> MutexGuard<'_, OutageDetector> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Politeness {
    /// Returns the rules for a host key. A platform has no limit on the time under lease per window: its many sites
    /// share one pause already, and with one hour in eight they would get no more than 1,800 calls.
    pub(crate) fn rules_for(&self, host: &HostKey) -> Cow<'_, Rules> {
        if address::is_platform(host, &self.groups) {
            return Cow::Owned(Rules { window_limit: Millis(u64::MAX), ..Rules::clone(&self.rules) });
        }
        Cow::Borrowed(&self.rules)
    }

    /// Returns true if a stored copy of robots.txt or of a licence is used without requesting the file again.
    pub(crate) fn is_fresh(&self, copy: &RobotsCopy) -> bool {
        let now = self.clock.now();
        now < unless_ahead(copy.fresh_until, &self.rules, now)
    }

    /// Returns the host key of a URL; an error if the URL has no host.
    pub fn key_of(&self, url: &Url) -> Result<HostKey, BadAddress> {
        address::host_key(url, &self.groups)
    }

    /// Ends the lease of a visit that is known to be dead.
    pub async fn break_lease(&self, host: &HostKey) -> Result<()> {
        let (now, seed) = (self.clock.now(), self.seeds.next());
        update_host(self.ledger.as_ref(), host, |s| (admission::break_lease(s, &self.rules, now, seed), ())).await?;
        Ok(())
    }
}
