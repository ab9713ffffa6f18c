//! Circuit breaker for the crawler's own network: if most hosts are unreachable at the same time, no host is blamed.

use crate::chance::between;
use crate::rules::{OUTAGE_PERCENT, OUTAGE_PROBE, OUTAGE_REST, OUTAGE_SAMPLE, OUTAGE_WINDOW, Rules};
use curlew_model::{HostKey, Millis, Timestamp};
use std::collections::VecDeque;

/// Newest outcomes of the hosts that a process called last, and the outage found in them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutageDetector {
    /// The newest outcome of each host key, oldest first.
    recent: VecDeque<Observation>,
    outage: Option<Outage>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Observation {
    host: HostKey,
    at: Timestamp,
    reached: bool,
}

/// An outage of the crawler's own network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outage {
    /// Time at which the outage was detected.
    pub since: Timestamp,
    /// Time at which the next visit is let through.
    pub probe_at: Timestamp,
}

/// The party to blame for the outcome of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The host, if anybody.
    Host,
    /// Our own network: the host's state stays as it is.
    Local,
}

impl OutageDetector {
    /// Returns the current outage, if there is one.
    pub fn outage(&self) -> Option<Outage> {
        self.outage
    }

    /// Records whether a host was reached, and returns who is to blame. A host that was reached ends an outage.
    pub fn take_in(&mut self, host: &HostKey, reached: bool, rules: &Rules, now: Timestamp) -> Fault {
        self.recent.retain(|seen| seen.host != *host && seen.at + OUTAGE_WINDOW > now);
        self.recent.push_back(Observation { host: host.clone(), at: now, reached });
        let above = self.recent.len().saturating_sub(OUTAGE_SAMPLE);
        self.recent.drain(..above);
        if reached {
            if self.outage.take().is_some() {
                // Outcomes during the outage say nothing about the hosts.
                self.recent.retain(|seen| seen.reached);
            }
            return Fault::Host;
        }
        let failed = self.recent.iter().filter(|seen| !seen.reached).count();
        let have_most_failed = failed * 100 >= self.recent.len() * OUTAGE_PERCENT as usize;
        if self.outage.is_none() && have_most_failed && self.recent.len() >= rules.outage_least {
            self.outage = Some(Outage { since: now, probe_at: now + OUTAGE_PROBE });
        }
        if self.outage.is_some() { Fault::Local } else { Fault::Host }
    }

    /// Returns until when a visit must wait; `None` if it may begin. During an outage a few visits probe the network.
    pub fn may_begin(&mut self, now: Timestamp, seed: u64) -> Option<Timestamp> {
        let outage = self.outage.as_mut()?;
        if now >= outage.probe_at {
            outage.probe_at = now + OUTAGE_PROBE;
            return None;
        }
        Some(rest(now, seed))
    }
}

/// Returns until when a visit is put off during an outage; randomized, so that visits do not all return together.
pub fn rest(now: Timestamp, seed: u64) -> Timestamp {
    now + Millis(between(seed, OUTAGE_REST.0, OUTAGE_REST.0.saturating_mul(2)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(n: usize) -> HostKey {
        HostKey::new(&format!("h{n}.example")).unwrap_or_else(|e| panic!("{e}"))
    }

    fn at(ms: u64) -> Timestamp {
        Timestamp::from_millis(1_800_000_000_000) + Millis(ms)
    }

    /// Records outcomes a second apart, and returns who was blamed for each.
    fn play(outcomes: &[(usize, bool)]) -> (OutageDetector, Vec<Fault>) {
        let mut heard = OutageDetector::default();
        let mut blamed = vec![];
        for (n, (who, reached)) in outcomes.iter().enumerate() {
            blamed.push(heard.take_in(&host(*who), *reached, &Rules::default(), at(n as u64 * 1_000)));
        }
        (heard, blamed)
    }

    #[test]
    fn when_most_hosts_fail_at_once_nobody_is_blamed_any_more() {
        let before: Vec<_> = (0..20).map(|n| (n, true)).collect();
        let after: Vec<_> = (20..40).map(|n| (n, false)).collect();
        let (heard, blamed) = play(&[before, after].concat());
        let first = blamed.iter().position(|blame| *blame == Fault::Local);
        assert_eq!(first, Some(20 + 6), "seven of the last eight");
        assert!(blamed[26..].iter().all(|blame| *blame == Fault::Local));
        assert!(heard.outage().is_some());
    }

    #[test]
    fn one_host_that_fails_again_and_again_is_one_host() {
        let (heard, blamed) = play(&[(1, false); 50]);
        assert!(heard.outage().is_none() && blamed.iter().all(|blame| *blame == Fault::Host));
    }

    #[test]
    fn half_of_all_hosts_down_is_their_own_trouble() {
        let (heard, _) = play(&(0..100).map(|n| (n, n % 2 == 0)).collect::<Vec<_>>());
        assert_eq!(heard.outage(), None);
    }

    #[test]
    fn what_was_long_ago_is_not_at_once() {
        let rules = Rules::default();
        let mut heard = OutageDetector::default();
        for n in 0..20 {
            let blame = heard.take_in(&host(n), false, &rules, at(n as u64 * OUTAGE_WINDOW.0 / 2));
            assert_eq!(blame, Fault::Host, "{n}");
        }
    }

    #[test]
    fn a_visit_now_and_then_finds_out_when_it_is_over() {
        let rules = Rules::default();
        let (heard, _) = play(&(0..8).map(|n| (n, false)).collect::<Vec<_>>());
        let since = heard.outage().map(|outage| outage.since).unwrap_or_else(|| panic!("no outage"));
        let mut let_through = 0;
        let mut heard = heard;
        for second in 0..600u64 {
            let now = since + Millis::from_secs(second);
            match heard.may_begin(now, second) {
                None => let_through += 1,
                Some(until) => {
                    assert!(until >= now + OUTAGE_REST && until <= now + Millis(2 * OUTAGE_REST.0))
                }
            }
        }
        assert_eq!(let_through, 9, "one a minute");
        let now = since + Millis::from_mins(20);
        let blame = heard.take_in(&host(3), true, &rules, now);
        assert_eq!((blame, heard.outage()), (Fault::Host, None));
        assert_eq!(heard.may_begin(now, 1), None);
        // From here on, each host is blamed for its own failures again.
        assert!(play(&[(1, true), (2, false)]).1.iter().all(|blame| *blame == Fault::Host));
    }
}
