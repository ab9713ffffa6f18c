//! Resolves names to addresses and checks them in the same step: connections are made only to addresses that passed.
//!
//! The hosts file is read first, as by any other program, and then the system's resolver is used, which works in every
//! network and needs no further crates. It is asked for the absolute name, so search domains are not used. A look-up
//! cannot be cancelled: a thread stays busy until the system gives up, so the number of look-ups is limited.

use crate::guard::{self, Guard, Refusal};
use crate::hosts_file;
use async_trait::async_trait;
use curlew_ports::FetchError;
use parking_lot::Mutex;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;

/// Maximum time of a look-up; the rest of the connect timeout is for connecting.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum number of concurrent look-ups, including abandoned ones: each occupies a thread.
const MAX_LOOKUPS: usize = 128;
/// Number of names above which names that were not used lately are forgotten.
const MAX_REMEMBERED: usize = 4_096;
/// Time for which a name is remembered after its last use: longer than any idle connection or call lasts.
const REMEMBER_FOR: Duration = Duration::from_secs(300);

/// The error type of the HTTP library's resolvers; the cause is found in its chain.
type BoxError = Box<dyn std::error::Error + Send + Sync>;

#[async_trait]
pub(crate) trait Lookup: Send + Sync {
    /// Returns all IPv4 and IPv6 addresses of a name.
    async fn addresses(&self, name: &str) -> io::Result<Vec<IpAddr>>;
}

pub(crate) struct SystemLookup {
    slots: Arc<Semaphore>,
    hosts_file: PathBuf,
}

impl SystemLookup {
    pub(crate) fn new() -> SystemLookup {
        SystemLookup::with_hosts_file(hosts_file::PATH)
    }

    pub(crate) fn with_hosts_file(path: impl Into<PathBuf>) -> SystemLookup {
        SystemLookup { slots: Arc::new(Semaphore::new(MAX_LOOKUPS)), hosts_file: path.into() }
    }
}

#[async_trait]
impl Lookup for SystemLookup {
    async fn addresses(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let slot = self.slots.clone().acquire_owned().await.map_err(io::Error::other)?;
        let (name, absolute, path) = (name.to_owned(), format!("{name}."), self.hosts_file.clone());
        // A separate task, so that the slot is released when the look-up ends and not when its caller gives up.
        let lookup = tokio::spawn(async move {
            let _slot = slot;
            let listed = tokio::task::spawn_blocking(move || hosts_file::look_up(&path, &name));
            let mut listed = listed.await.map_err(io::Error::other)??;
            if !listed.is_empty() {
                listed.truncate(guard::MAX_ADDRESSES + 1);
                return Ok(listed);
            }
            let found = tokio::net::lookup_host((absolute, 0)).await?;
            Ok(found.map(|address| address.ip()).take(guard::MAX_ADDRESSES + 1).collect())
        });
        lookup.await.map_err(io::Error::other)?
    }
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum LookupFailed {
    #[error("the name '{0}' could not be looked up")]
    Failed(String),
    #[error("the name '{0}' was not looked up in time")]
    TimedOut(String),
}

#[derive(Clone)]
pub(crate) struct VettingResolver {
    guard: Arc<Guard>,
    lookup: Arc<dyn Lookup>,
    vetted: Arc<Mutex<HashMap<String, Vetted>>>,
}

struct Vetted {
    addresses: Vec<IpAddr>,
    used: Instant,
}

impl VettingResolver {
    pub(crate) fn new(guard: Arc<Guard>, lookup: Arc<dyn Lookup>) -> VettingResolver {
        VettingResolver { guard, lookup, vetted: Arc::default() }
    }

    /// Checks that the address that answered for a name is one of those that passed.
    pub(crate) fn check_peer(&self, name: &str, peer: Option<SocketAddr>) -> Result<(), FetchError> {
        let mut vetted = self.vetted.lock();
        let known = vetted.get_mut(name).filter(|v| peer.is_some_and(|peer| v.addresses.contains(&peer.ip())));
        let unknown = || FetchError::Refused("an address answered that was not vetted".into());
        known.ok_or_else(unknown)?.used = Instant::now();
        Ok(())
    }

    async fn vetted_addresses(&self, name: &str) -> Result<Vec<SocketAddr>, BoxError> {
        if let Some(rule) = self.guard.rule_for(name) {
            self.remember(name, &[rule.addr]);
            return Ok(vec![SocketAddr::new(rule.addr, rule.port.unwrap_or(0))]);
        }
        let found = tokio::time::timeout(LOOKUP_TIMEOUT, self.lookup.addresses(name)).await;
        let found = found.map_err(|_| LookupFailed::TimedOut(name.into()))?;
        let addresses = found.map_err(|_| LookupFailed::Failed(name.into()))?;
        match guard::vet_addresses(name, &addresses, &self.guard) {
            // An empty answer is a network failure, like a failed look-up; nothing is sent in both cases.
            Err(Refusal::NoAddress(_)) => return Err(LookupFailed::Failed(name.into()).into()),
            vetted => vetted?,
        }
        self.remember(name, &addresses);
        // Port 0 stands for the port of the URL.
        Ok(addresses.into_iter().map(|ip| SocketAddr::new(ip, 0)).collect())
    }

    fn remember(&self, name: &str, addresses: &[IpAddr]) {
        let now = Instant::now();
        let mut vetted = self.vetted.lock();
        if vetted.len() >= MAX_REMEMBERED {
            vetted.retain(|_, v| now.duration_since(v.used) < REMEMBER_FOR);
        }
        let entry = vetted.entry(name.into()).or_insert_with(|| Vetted { addresses: Vec::new(), used: now });
        entry.used = now;
        // An open connection may still use an address of an earlier answer; the newest addresses come first.
        entry.addresses.retain(|old| !addresses.contains(old));
        entry.addresses.splice(0..0, addresses.iter().copied());
        entry.addresses.truncate(2 * guard::MAX_ADDRESSES);
    }
}

impl Resolve for VettingResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let this = self.clone();
        Box::pin(async move {
            let addresses = this.vetted_addresses(name.as_str()).await?;
            Ok(Box::new(addresses.into_iter()) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot be set up has to fail")]
    use super::*;
    use crate::tests::server::FakeLookup;

    fn peer(text: &str) -> Option<SocketAddr> {
        Some(text.parse().unwrap())
    }

    #[tokio::test]
    async fn u19_only_the_addresses_that_were_vetted_for_a_name_may_answer_for_it() {
        let lookup = FakeLookup::answering(&[&["93.184.216.34"], &["93.184.216.35"], &["127.0.0.1"]]);
        let resolver = VettingResolver::new(Arc::default(), lookup);
        assert!(resolver.check_peer("a.example", peer("93.184.216.34:80")).is_err(), "never looked up");
        let found = resolver.vetted_addresses("a.example").await.unwrap();
        assert_eq!(found, [peer("93.184.216.34:0").unwrap()]);
        assert!(resolver.check_peer("a.example", peer("93.184.216.34:80")).is_ok());
        assert!(resolver.check_peer("a.example", peer("93.184.216.35:80")).is_err());
        assert!(resolver.check_peer("b.example", peer("93.184.216.34:80")).is_err());
        assert!(resolver.check_peer("a.example", None).is_err());
        // A connection that is still open uses the address of the previous answer.
        resolver.vetted_addresses("a.example").await.unwrap();
        assert!(resolver.check_peer("a.example", peer("93.184.216.34:80")).is_ok());
        assert!(resolver.check_peer("a.example", peer("93.184.216.35:80")).is_ok());
        assert!(resolver.vetted_addresses("a.example").await.is_err());
        assert!(resolver.check_peer("a.example", peer("127.0.0.1:80")).is_err());
    }

    #[tokio::test]
    async fn what_is_remembered_is_bounded() {
        let resolver = VettingResolver::new(Arc::default(), FakeLookup::answering(&[&["93.184.216.34"]]));
        let old = Instant::now().checked_sub(2 * REMEMBER_FOR);
        for i in 0..2 * MAX_REMEMBERED {
            let name = format!("n{i}.example");
            resolver.vetted_addresses(&name).await.unwrap();
            if let Some(old) = old {
                resolver.vetted.lock().get_mut(&name).unwrap().used = old;
            }
        }
        assert!(old.is_none() || resolver.vetted.lock().len() <= MAX_REMEMBERED);
    }

    #[tokio::test]
    async fn u16_the_systems_resolver_is_asked_for_the_absolute_name_and_fails_closed() {
        // RFC 6761 §6.4: names below invalid do not exist; a search domain with a wildcard would make one exist.
        let found = SystemLookup::new().addresses("no-such-name.invalid").await;
        assert!(found.is_err(), "{found:?}");
    }
}
