//! Dates that a page or a feed states of itself.

use curlew_model::{Millis, Timestamp};

/// How far ahead of our clock a stated date may lie: no zone is further from another, and clocks are wrong by less.
const MAX_AHEAD: Millis = Millis::from_days(1);

/// The date to keep for a stated one. A little ahead of `now`, which is what a wrong zone or clock makes, it counts as `now`;
/// further ahead it is no date: a mistake, an event to come, or an attempt to stay on top.
pub fn plausible(stated: Timestamp, now: Timestamp) -> Option<Timestamp> {
    (stated <= now + MAX_AHEAD).then(|| stated.min(now))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_more_than_a_day_ahead_is_none() {
        let now = Timestamp::from_millis(1_777_827_909_000);
        let minute = Millis::from_mins(1);
        assert_eq!(plausible(now - minute, now), Some(now - minute));
        assert_eq!(plausible(Timestamp::MIN, now), Some(Timestamp::MIN));
        assert_eq!(plausible(now + MAX_AHEAD, now), Some(now));
        assert_eq!(plausible(now + MAX_AHEAD + minute, now), None);
        assert_eq!(plausible(Timestamp::MAX, Timestamp::MAX), Some(Timestamp::MAX));
    }
}
