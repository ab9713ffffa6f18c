//! Facts that a visit learns about a robots.txt: its Crawl-delay, and that it is unchanged.

use super::VisitState;
use crate::politeness::robots_notes::{self, Unchanged};
use crate::rules::Rules;
use curlew_model::{Millis, Origin, Timestamp};

impl VisitState {
    /// Records the Crawl-delay of a robots.txt that was just read, or that there is none.
    pub fn learn_crawl_delay(&mut self, delay: Option<Millis>, rules: &Rules) {
        let delay = delay.unwrap_or(Millis::ZERO).min(rules.crawl_delay_cap);
        if delay > self.learned.crawl_delay {
            // The longer delay counts from the last call, not from now: otherwise, if two origins of a host key have
            // different delays, each visit would learn the longer one again and never call.
            let last = self.last_call_end.unwrap_or(self.grant.called);
            self.learned.not_before = self.learned.not_before.max(last + delay);
        }
        self.learned.crawl_delay = delay;
    }

    /// Notes that a robots.txt equals its copy written at `written`; returns false if the copy must be written instead.
    pub fn note_unchanged_robots(&mut self, origin: &Origin, written: Timestamp, now: Timestamp) -> bool {
        let outcome = robots_notes::note(&mut self.learned.robots, origin, written, now, self.next_use);
        self.has_useful_note |= outcome == Unchanged::Noted;
        outcome != Unchanged::WriteCopy
    }
}
