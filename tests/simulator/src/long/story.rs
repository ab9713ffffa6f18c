//! Recent events at a place, to explain why a poll was missed.

use super::web::DAY;
use crate::bad_time::Moment;
use curlew_model::{FeedSource, Millis, Timestamp};
use curlew_ports::{FetchError, Reply};
use std::collections::VecDeque;
use std::fmt::{self, Display, Formatter};

/// Maximum number of events remembered for one place.
const REMEMBERED: usize = 6;

/// Unusual events at one place, the newest last.
#[derive(Clone, Debug, Default)]
pub(super) struct Story(VecDeque<(Moment, String)>);

impl Story {
    /// Records the end of a call. Ordinary answers are not remembered.
    pub(super) fn answered(&mut self, path: &str, answer: &Result<Reply, FetchError>, at: Moment) {
        match answer {
            Ok(reply) if matches!(reply.status, 200 | 304 | 404) => {}
            Ok(reply) => self.add(at, format!("{path} answered {}", reply.status)),
            Err(error) => self.add(at, format!("{path}: {error}")),
        }
    }

    pub(super) fn add(&mut self, at: Moment, what: String) {
        if self.0.len() >= REMEMBERED {
            self.0.pop_front();
        }
        self.0.push_back((at, what));
    }
}

impl Display for Story {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("nothing out of the ordinary");
        }
        let told: Vec<_> = self.0.iter().map(|(at, what)| format!("{} {what}", day(*at))).collect();
        f.write_str(&told.join(", "))
    }
}

pub(super) fn day(at: Moment) -> String {
    format!("day {}.{:03}", at / DAY, at % DAY * 1_000 / DAY)
}

/// Formats the polls in a feed's row; the run began at `start`.
pub(super) fn row(feed: &FeedSource, start: Timestamp) -> String {
    let moment = |at: Timestamp| day(at.since(start).0);
    let hours = feed.interval.0 / Millis::from_hours(1).0;
    let trust = &feed.polling.trust;
    let mut words = format!("every {hours} h ({:?}), not before {}", feed.polling.why, moment(feed.not_before));
    for (holds, what) in [
        (feed.gone, "gone"),
        (trust.distrusted, "its 304s are not believed"),
        (trust.doubts > 0, "its 304s are in doubt"),
        (feed.validators.is_empty(), "it has no validators"),
    ] {
        words += &if holds { format!(", {what}") } else { String::new() };
    }
    words + &feed.trouble.as_ref().map_or(String::new(), |trouble| format!(", {trouble}"))
}
