//! File descriptors: raises their limit, and reserves the crawler's share from callers of the pages.

use super::MAX_CONNECTIONS;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Number of descriptors to request, if the system allows that many.
const WANTED: u64 = 65_536;
/// Descriptors reserved for the store: database, log, lock, objects being read or written, standard streams.
const OF_STORE: u64 = 64;
/// Descriptors reserved for each running visit: a connection, and a DNS lookup or an object.
const OF_VISIT: u64 = 2;
/// Minimum number of connections for the pages, without which `serve` would serve nothing.
const MIN_CONNECTIONS: usize = 16;

/// Raises the soft limit of open files to [`WANTED`], or to the hard limit if that is lower.
pub(crate) fn raise() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let wanted = maximum.map_or(WANTED, |maximum| maximum.min(WANTED));
    if current.is_some_and(|current| current < wanted)
        && let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum })
    {
        tracing::debug!(%error, wanted, "the limit of open files could not be raised");
    }
}

pub(crate) fn limit() -> Option<u64> {
    getrlimit(Resource::Nofile).current
}

/// Returns the number of connections that a limit of open files leaves for the pages, given the number of visits.
pub(crate) fn connections(limit: Option<u64>, visits: usize) -> usize {
    let kept = OF_STORE.saturating_add(OF_VISIT.saturating_mul(visits as u64));
    let left = limit.map_or(usize::MAX, |limit| usize::try_from(limit.saturating_sub(kept)).unwrap_or(usize::MAX));
    left.clamp(MIN_CONNECTIONS, MAX_CONNECTIONS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pages_get_what_the_crawler_leaves() {
        assert_eq!(connections(None, 100), MAX_CONNECTIONS);
        assert_eq!(connections(Some(1_024), 100), MAX_CONNECTIONS);
        assert_eq!(connections(Some(1_024), 450), 1_024 - 64 - 900);
        assert_eq!(connections(Some(1_024), 1_000), MIN_CONNECTIONS);
        assert_eq!(connections(Some(160), 100), MIN_CONNECTIONS, "few, but some");
    }

    #[test]
    fn the_limit_is_raised_as_far_as_it_may_be() {
        let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
        setrlimit(Resource::Nofile, Rlimit { current: Some(256), maximum }).expect("a lower limit is always allowed");
        raise();
        assert_eq!(limit(), Some(maximum.map_or(WANTED, |maximum| maximum.min(WANTED))));
    }
}
