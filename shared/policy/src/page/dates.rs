//! Dates that a page or a feed states about itself.

use curlew_model::{Millis, Timestamp};
use curlew_text::date::is_unset;

/// Maximum time that a stated date may be in the future, to allow for wrong time zones and clocks.
const MAX_AHEAD: Millis = Millis::from_days(1);

/// Returns the date to store for a stated date. A date up to a day ahead (a wrong time zone or clock) becomes `now`; a
/// later one (a mistake, an event, an attempt to stay on top) or an unset one such as the Unix epoch is `None`.
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
        assert_eq!(plausible(Timestamp::MIN, now), None);
        assert_eq!(plausible(Timestamp::from_millis(0), now), None);
        assert_eq!(plausible(now + MAX_AHEAD, now), Some(now));
        assert_eq!(plausible(now + MAX_AHEAD + minute, now), None);
        assert_eq!(plausible(Timestamp::MAX, Timestamp::MAX), Some(Timestamp::MAX));
    }
}
