//! Invariants that protect owners of sites, and hubs.

use super::{Violation, is_on, violated};
use crate::sim::hub::FALSE_PATH;
use crate::sim::late::TOO_LATE;
use crate::sim::trace::{DeliverySnapshot, Trace};
use curlew_crawl::feeds::websub_delivery::HubAnswer;
use curlew_model::{Millis, OwnerRequest};
use curlew_policy::rules::Rules;
use curlew_policy::site::ownership::PROOF_LIFE;
use std::collections::BTreeMap;

/// Within this time after an accepted delivery, the feed is polled or found blocked.
const POLLED_WITHIN: Millis = Millis::from_hours(4);

/// 9. After an owner's stop nobody calls the host, not even its robots.txt or its proofs, until the owner allows it
///    again.
pub(super) fn left_alone_when_told(trace: &Trace) -> Result<(), Violation> {
    for stop in trace.stops.iter().filter(|stop| stop.by_owner) {
        let Some(from) = stop.from else { continue };
        let in_time = |at| at > from + TOO_LATE && stop.until.is_none_or(|until| at < until);
        if let Some(call) = trace.calls.iter().find(|call| in_time(call.start) && is_on(&call.url, &stop.host)) {
            let what = format!("{} was called although its owner stopped it at {from}", call.url);
            return violated("9 left alone when told", call.start, what);
        }
    }
    Ok(())
}

/// 10. Once a host is forgotten, nothing that is stored names its pages except the rows that say that they are gone.
pub(super) fn forgotten_is_gone(trace: &Trace) -> Result<(), Violation> {
    match trace.end.forgotten.iter().find(|forgotten| !forgotten.left.is_empty()) {
        Some(forgotten) => {
            let what = format!("of {} there is left: {}", forgotten.host, forgotten.left.join(", "));
            violated("10 forgotten is gone", trace.end.at, what)
        }
        None => Ok(()),
    }
}

/// 11. Only a claimant who has recently published the challenge is granted anything but a check for the challenge.
pub(super) fn only_owners_are_heard(trace: &Trace) -> Result<(), Violation> {
    for request in trace.requests.iter().filter(|request| request.request != OwnerRequest::Look) {
        let may_be_proven = request.published.is_some_and(|at| at + PROOF_LIFE > request.at);
        if request.is_granted() && !may_be_proven {
            let what = format!("owner {} of {} was granted {:?}", request.owner, request.host, request.request);
            return violated("11 only owners are heard", request.at, what);
        }
    }
    Ok(())
}

/// 12. A host that its owner allows again is not blocked any more.
pub(super) fn allowed_again(trace: &Trace) -> Result<(), Violation> {
    match trace.end.not_allowed.first() {
        Some(host) => violated("12 allowed again", trace.end.at, format!("{host} is still blocked")),
        None => Ok(()),
    }
}

/// 13. A hub's delivery adds no entry that the feed itself does not list: no call, and no row.
pub(super) fn no_entry_by_delivery(trace: &Trace) -> Result<(), Violation> {
    const NAME: &str = "13 no entry by delivery";
    if let Some(call) = trace.calls.iter().find(|call| call.url.contains(FALSE_PATH)) {
        return violated(NAME, call.start, format!("{} was called", call.url));
    }
    match trace.end.pages.iter().find(|page| page.url.contains(FALSE_PATH)) {
        Some(page) => violated(NAME, trace.end.at, format!("{} has a row", page.url)),
        None => Ok(()),
    }
}

/// 14. However often hubs announce news, a feed is not polled sooner after its last poll than the floor allows.
pub(super) fn no_poll_below_the_floor(trace: &Trace, rules: &Rules) -> Result<(), Violation> {
    let too_soon = trace.calls.iter().find(|call| call.polled_at.is_some_and(|at| at + rules.poll_floor > call.start));
    match too_soon {
        Some(call) => {
            let what = format!("{} was called, and polled at {:?}", call.url, call.polled_at);
            violated("14 no poll below the floor", call.start, what)
        }
        None => Ok(()),
    }
}

/// 15. A subscription ends with its feed. A delivery for a retired feed is answered accordingly, and so is one for a
///     blocked feed once the feed was found blocked.
pub(super) fn subscriptions_end(trace: &Trace) -> Result<(), Violation> {
    const NAME: &str = "15 subscriptions end";
    let mut before: BTreeMap<&str, &DeliverySnapshot> = BTreeMap::new();
    for delivery in trace.deliveries.iter().filter(|delivery| delivery.signed && delivery.answer == HubAnswer::Yes) {
        if delivery.is_gone {
            return violated(NAME, delivery.at, format!("news of {} were taken, which is retired", delivery.feed));
        }
        let is_known = |first: &&DeliverySnapshot| first.at + POLLED_WITHIN < delivery.at;
        if delivery.is_blocked && before.get(delivery.callback.as_str()).is_some_and(is_known) {
            let what = format!("news of {} were taken, which has long been blocked", delivery.feed);
            return violated(NAME, delivery.at, what);
        }
        if delivery.is_blocked && delivery.is_calm {
            before.entry(&delivery.callback).or_insert(delivery);
        }
    }
    Ok(())
}
