//! Limits the daily number of suggested sites, per host key and in total, regardless of who suggests them.

use curlew_model::{HostKey, Timestamp};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Maximum number of new addresses per host key and day (UTC).
pub const PER_HOST: u32 = 5;
/// Maximum number of new addresses per day.
pub const A_DAY: u32 = 1_000;

/// Suggestions accepted today.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allowance {
    day: String,
    hosts: BTreeMap<HostKey, u32>,
}

/// Reason why an address is not accepted today.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Full {
    /// The limit of this host key is reached.
    Host,
    /// The total limit is reached.
    Day,
}

/// Charges one address of a host key to the day's allowance.
pub fn take(allowance: Allowance, host: &HostKey, now: Timestamp) -> (Allowance, Result<(), Full>) {
    let day = now.day();
    let mut today = if allowance.day == day { allowance } else { Allowance { day, ..Allowance::default() } };
    if today.hosts.values().sum::<u32>() >= A_DAY {
        return (today, Err(Full::Day));
    }
    let taken = today.hosts.get(host).copied().unwrap_or(0);
    if taken >= PER_HOST {
        return (today, Err(Full::Host));
    }
    today.hosts.insert(host.clone(), taken + 1);
    (today, Ok(()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;
    use curlew_model::Millis;

    #[test]
    fn w03_a_host_and_a_day_have_their_allowance() {
        let now = Timestamp::from_millis(1_800_000_000_000);
        let host = |n: u32| HostKey::new(&format!("site{n}.example")).unwrap();
        let mut allowance = Allowance::default();
        let mut taken = 0;
        for n in 0..1_000 {
            let (next, outcome) = take(allowance, &host(0), now);
            allowance = next;
            taken += u32::from(outcome.is_ok());
            assert_eq!(outcome.err(), (n >= PER_HOST).then_some(Full::Host));
        }
        assert_eq!(taken, PER_HOST);
        for n in 0..A_DAY - PER_HOST {
            let (next, outcome) = take(allowance, &host(1 + n), now);
            assert_eq!(outcome, Ok(()));
            allowance = next;
        }
        assert_eq!(take(allowance.clone(), &host(5_000), now).1, Err(Full::Day));
        assert_eq!(take(allowance, &host(0), now + Millis::from_days(1)).1, Ok(()));
    }
}
