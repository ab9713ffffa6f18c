//! What a visit learns of files robots.txt: the Crawl-delay, and that a file has not changed.

use super::VisitState;
use crate::politeness::robots_notes::{self, Unchanged};
use crate::rules::Rules;
use curlew_model::{Millis, Origin, RobotsNotes, Timestamp};

impl VisitState {
    /// Records the Crawl-delay of a robots.txt that was just read, or that there is none.
    pub fn learn_crawl_delay(&mut self, delay: Option<Millis>, rules: &Rules) {
        let delay = delay.unwrap_or(Millis::ZERO).min(rules.crawl_delay_cap);
        if delay > self.learned.crawl_delay {
            // The pause after the last call was drawn before this delay was known. It does not count from now: where
            // two origins of a host key have different delays, each visit learns the longer one anew, and would never
            // call.
            let last = self.last_call_end.unwrap_or(self.grant.called);
            self.learned.not_before = self.learned.not_before.max(last + delay);
        }
        self.learned.crawl_delay = delay;
    }

    /// Notes with the host key that the robots.txt of an origin was asked for `now` and has not changed since its copy
    /// was `written`. Returns false if the copy is to be written instead.
    pub fn note_unchanged_robots(&mut self, origin: &Origin, written: Timestamp, now: Timestamp) -> bool {
        let outcome = robots_notes::note(&mut self.learned.robots, origin, written, now, self.next_use);
        self.has_useful_note |= outcome == Unchanged::Noted;
        outcome != Unchanged::WriteCopy
    }

    /// Returns what is noted of files robots.txt of the host key.
    pub fn robots_notes(&self) -> &RobotsNotes {
        &self.learned.robots
    }
}
