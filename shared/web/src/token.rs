//! Tokens of forms: the signed time at which a form was issued, bound to its purpose. A form that is sent at once or
//! after more than an hour is refused, and no form is accepted twice. Neither a cookie nor a store is needed.

use crate::secret::Signed;
use curlew_model::{Millis, Timestamp};
use std::collections::{BTreeSet, VecDeque};

/// Minimum age of a form: people need longer to type an address.
pub(crate) const MIN_AGE: Millis = Millis::from_secs(3);
/// Maximum age of a form; an older one has to be loaded again.
pub(crate) const MAX_AGE: Millis = Millis::from_hours(1);
/// Maximum number of used tokens that are remembered. Beyond it, the oldest may be used again until they expire.
const MAX_SPENT: usize = 8_192;
/// The label separates this use of the secret from all others.
const TOKEN: Signed = Signed(b"curlew form 1", 32);

/// Content of a genuine token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Ticket {
    /// Time at which the token was issued, in milliseconds since the epoch.
    at: i64,
    /// Number that distinguishes tokens issued in the same millisecond.
    serial: u64,
}

impl Ticket {
    pub(crate) fn age(self, now: Timestamp) -> Millis {
        now.since(Timestamp::from_millis(self.at))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    Forged,
    /// The form was sent too soon; the same token is valid a moment later.
    TooYoung,
    TooOld,
}

/// Returns a token, issued at `now`, for a form that anybody may send.
pub(crate) fn issue(secret: &[u8; 32], now: Timestamp, serial: u64) -> String {
    issue_for(secret, "", now, serial)
}

/// Returns a token, issued at `now`, that is valid only for `bound_to`.
pub(crate) fn issue_for(secret: &[u8; 32], bound_to: &str, now: Timestamp, serial: u64) -> String {
    TOKEN.issue(secret, now.as_millis(), serial, bound_to)
}

/// Checks that a token is from [`issue`] and between [`MIN_AGE`] and [`MAX_AGE`] old, and returns its ticket.
pub(crate) fn check(secret: &[u8; 32], token: &str, now: Timestamp) -> Result<Ticket, Fault> {
    let ticket = check_for(secret, "", token, now)?;
    if ticket.age(now) < MIN_AGE { Err(Fault::TooYoung) } else { Ok(ticket) }
}

/// Checks that a token was issued for `bound_to` and is at most [`MAX_AGE`] old, and returns its ticket.
pub(crate) fn check_for(secret: &[u8; 32], bound_to: &str, token: &str, now: Timestamp) -> Result<Ticket, Fault> {
    let (at, serial) = TOKEN.verify(secret, token, bound_to).ok_or(Fault::Forged)?;
    let ticket = Ticket { at, serial };
    if ticket.age(now) > MAX_AGE { Err(Fault::TooOld) } else { Ok(ticket) }
}

/// Used tokens that have not expired.
#[derive(Debug, Default)]
pub(crate) struct Spent {
    tickets: BTreeSet<Ticket>,
    /// Times at which the last [`MAX_SPENT`] tokens were used.
    at: VecDeque<Timestamp>,
}

impl Spent {
    /// Uses up a token; returns false if it was used before.
    pub(crate) fn spend(&mut self, ticket: Ticket, now: Timestamp) -> bool {
        let oldest = Ticket { at: (now - MAX_AGE).as_millis(), serial: 0 };
        self.tickets = self.tickets.split_off(&oldest);
        if !self.tickets.insert(ticket) {
            return false;
        }
        if self.tickets.len() > MAX_SPENT {
            self.tickets.pop_first();
        }
        if self.at.len() == MAX_SPENT {
            self.at.pop_front();
        }
        self.at.push_back(now);
        true
    }

    /// True if at least `calm` tokens were used within the last hour; always true for 0.
    pub(crate) fn is_rush(&self, calm: usize, now: Timestamp) -> bool {
        let calm = calm.min(MAX_SPENT);
        calm == 0 || self.at.iter().rev().nth(calm - 1).is_some_and(|at| *at + Millis::from_hours(1) > now)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;

    const SECRET: [u8; 32] = [7; 32];

    fn at(secs: u64) -> Timestamp {
        Timestamp::from_millis(1_800_000_000_000) + Millis::from_secs(secs)
    }

    #[test]
    fn a_token_is_good_from_three_seconds_to_an_hour() {
        let token = issue(&SECRET, at(0), 0);
        assert_eq!(check(&SECRET, &token, at(2)), Err(Fault::TooYoung));
        assert!(check(&SECRET, &token, at(3)).is_ok());
        assert!(check(&SECRET, &token, at(3_600)).is_ok());
        assert_eq!(check(&SECRET, &token, at(3_601)), Err(Fault::TooOld));
    }

    #[test]
    fn a_changed_token_is_no_token() {
        let token = issue(&SECRET, at(0), 5);
        let later = token.replacen("1800000000000", "1800000100000", 1);
        let other_serial = token.replacen(".5.", ".6.", 1);
        let cut = &token[..token.len() - 2];
        for bad in ["", ".", "..", "1.1.zz", "1.1.é", later.as_str(), other_serial.as_str(), cut] {
            assert_eq!(check(&SECRET, bad, at(60)), Err(Fault::Forged), "{bad}");
        }
        assert_eq!(check(&[8; 32], &token, at(60)), Err(Fault::Forged));
    }

    #[test]
    fn a_token_for_one_thing_is_good_for_no_other() {
        let token = issue_for(&SECRET, "session 1, block", at(0), 0);
        assert!(check_for(&SECRET, "session 1, block", &token, at(0)).is_ok());
        for other in ["", "session 2, block", "session 1, unblock"] {
            assert_eq!(check_for(&SECRET, other, &token, at(5)), Err(Fault::Forged), "{other}");
        }
        assert_eq!(check_for(&SECRET, "session 1, block", &token, at(3_601)), Err(Fault::TooOld));
    }

    #[test]
    fn a_token_is_spent_once_and_forgotten_when_it_expires() {
        let mut spent = Spent::default();
        let first = check(&SECRET, &issue(&SECRET, at(0), 0), at(5)).unwrap();
        let second = check(&SECRET, &issue(&SECRET, at(0), 1), at(5)).unwrap();
        assert!(spent.spend(first, at(5)));
        assert!(!spent.spend(first, at(6)));
        assert!(spent.spend(second, at(6)));
        let late = check(&SECRET, &issue(&SECRET, at(7_000), 0), at(7_010)).unwrap();
        assert!(spent.spend(late, at(7_010)));
        assert_eq!(spent.tickets.len(), 1);
    }

    #[test]
    fn a_rush_is_told_by_when_forms_are_sent_and_not_by_when_they_were_opened() {
        let mut spent = Spent::default();
        for (serial, sent) in [(0, 3_000), (1, 3_100)] {
            assert!(!spent.is_rush(2, at(sent)) && spent.is_rush(0, at(sent)));
            assert!(spent.spend(Ticket { at: at(0).as_millis(), serial }, at(sent)));
        }
        assert!(spent.is_rush(2, at(3_101)) && spent.is_rush(2, at(3_000 + 3_599)) && !spent.is_rush(3, at(3_101)));
        assert!(!spent.is_rush(2, at(3_000 + 3_600)));
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let mut spent = Spent::default();
        for serial in 0..(MAX_SPENT as u64 + 100) {
            assert!(spent.spend(Ticket { at: at(0).as_millis(), serial }, at(5)));
        }
        assert_eq!((spent.tickets.len(), spent.at.len()), (MAX_SPENT, MAX_SPENT));
        assert!(spent.is_rush(usize::MAX, at(5)));
    }
}
