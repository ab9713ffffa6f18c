//! Schedule of feeds and sites: the time and slot of the next poll, and the slots that dispatch must check.

mod plan;
mod slots;

pub use plan::{Inputs, Plan, after_skips, arrivals, estimate, news, plan, skips, start};
pub use slots::{
    DueSlot, early, extra_slots, feed_is_due, is_near_floor, is_on_time, is_soon, may_poll_from, next_poll, on_request,
    postponed, same_slots, slots_due, times_a_cycle,
};

use curlew_model::{SiteSource, SiteState, Timestamp};

/// True if discovery must run for a site whose slot has come.
pub fn site_is_due(site: &SiteSource, now: Timestamp) -> bool {
    matches!(site.state, SiteState::Waiting | SiteState::Feedless { .. }) && now >= site.not_before
}

#[cfg(test)]
mod tests;
