//! Adds what this process counts to the activity of the day.

use crate::world::World;
use curlew_model::Millis;
use curlew_people::activity::{self, DayCounts};

/// Interval at which the counts are written.
const EVERY: Millis = Millis::from_mins(5);

/// Remembers what was written.
#[derive(Default)]
pub(crate) struct Recorder {
    written: DayCounts,
    /// Monotonic time of the last writing.
    at: Option<Millis>,
}

impl Recorder {
    /// Writes what is new, if it is time. A failure is logged: the next time has the same counts and more.
    pub(crate) async fn record_if_due(&mut self, world: &World) {
        let now = world.clock.monotonic();
        if self.at.is_none_or(|at| now.saturating_sub(at) >= EVERY) {
            self.at = Some(now);
            self.record(world).await;
        }
    }

    /// Writes what is new, if anything is.
    pub(crate) async fn record(&mut self, world: &World) {
        let counts = world.tally.counts();
        let all = DayCounts {
            polls: counts.polls,
            accepted: counts.accepted,
            holds: counts.held.values().sum(),
            day: String::new(),
        };
        if all == self.written {
            return;
        }
        let more = DayCounts {
            polls: all.polls - self.written.polls,
            accepted: all.accepted - self.written.accepted,
            holds: all.holds - self.written.holds,
            day: String::new(),
        };
        match activity::add(world.ports.blobs.as_ref(), world.clock.now(), &more).await {
            Ok(()) => self.written = all,
            Err(error) => tracing::warn!(%error, "the counts of the day could not be written"),
        }
    }
}
