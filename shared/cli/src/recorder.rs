//! Adds this process's counts to the stored activity of the day.

use crate::world::World;
use curlew_app::Counts;
use curlew_model::Millis;
use curlew_people::activity::{self, DayCounts};

const EVERY: Millis = Millis::from_mins(5);

#[derive(Default)]
pub(crate) struct Recorder {
    written: DayCounts,
    at: Option<Millis>,
}

impl Recorder {
    /// Writes new counts if [`EVERY`] has passed. A failed write is logged, and its counts are part of the next one.
    pub(crate) async fn record_if_due(&mut self, world: &World) {
        let now = world.clock.monotonic();
        if self.at.is_none_or(|at| now.saturating_sub(at) >= EVERY) {
            self.at = Some(now);
            self.record(world).await;
        }
    }

    /// Writes the counts that are new since the last write, if there are any.
    pub(crate) async fn record(&mut self, world: &World) {
        let Counts { polls, accepted, held, .. } = world.tally.counts();
        let all = DayCounts { polls, accepted, holds: held.values().sum(), day: String::new() };
        let more = DayCounts {
            polls: all.polls - self.written.polls,
            accepted: all.accepted - self.written.accepted,
            holds: all.holds - self.written.holds,
            day: String::new(),
        };
        if more == DayCounts::default() {
            return;
        }
        match activity::add(world.ports.blobs.as_ref(), world.clock.now(), &more).await {
            Ok(()) => self.written = all,
            Err(error) => tracing::warn!(%error, "the counts of the day could not be written"),
        }
    }
}
