//! Schedule of feeds and sites: when each is polled next, at which slot, and which slots dispatch has to look at.

mod plan;
mod slots;

pub use plan::{Inputs, Plan, after_skips, arrivals, estimate, news, plan, skips, start};
pub use slots::{
    DueSlot, early, extra_slots, feed_is_due, is_near_floor, is_on_time, is_soon, may_poll_from, next_poll, on_request,
    postponed, same_slots, slots_due, times_a_cycle,
};

use curlew_model::{SiteSource, SiteState, Timestamp};

/// Returns true if a site whose slot has come is given to discovery.
pub fn site_is_due(site: &SiteSource, now: Timestamp) -> bool {
    matches!(site.state, SiteState::Waiting | SiteState::Feedless { .. }) && now >= site.not_before
}

#[cfg(test)]
mod tests;
