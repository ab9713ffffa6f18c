//! Dates that a page or a feed states about itself.

use curlew_model::{Millis, Timestamp};
use curlew_text::date::is_unset;

/// Maximum distance of a stated date in the future: no two zones are further apart, and clocks are wrong by less.
const MAX_AHEAD: Millis = Millis::from_days(1);

/// Returns the date to store for a stated one: `now` for a date slightly later, as of a wrong zone or clock, and `None`
/// for one further ahead (a mistake, an event, an attempt to stay on top) or one that was never set.
pub fn plausible(stated: Timestamp, now: Timestamp) -> Option<Timestamp> {
    (stated <= now + MAX_AHEAD && !is_unset(stated)).then(|| stated.min(now))
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
        assert_eq!(plausible(Timestamp::from_millis(0), now), None);
        assert_eq!(plausible(now + MAX_AHEAD, now), Some(now));
        assert_eq!(plausible(now + MAX_AHEAD + minute, now), None);
        assert_eq!(plausible(Timestamp::MAX, Timestamp::MAX), Some(Timestamp::MAX));
    }
}
