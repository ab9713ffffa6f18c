//! Owners of sites, true and false ones: how they publish their challenges, and what they request.

use super::dice::Dice;
use super::machine::{Machine, PEOPLE, publish};
use super::outsiders::Owner;
use super::stores::Shared;
use super::trace::{Remains, RequestSnapshot, Stop};
use super::world::World;
use crate::bad_time::{HOUR, MINUTE, Moment};
use crate::faults::Faults;
use async_trait::async_trait;
use bytes::Bytes;
use curlew_model::{Challenge, Job, Millis, OwnerRequest, Page, PageState, Timestamp, Way, Work, is_at_or_below};
use curlew_people::audit::{Audit, Subject};
use curlew_people::block::BlockedBy;
use curlew_people::ownership::RequestOutcome;
use curlew_policy::site::ownership;
use curlew_ports::{Clock, Names};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Adds owners to a web: a true one for one or two sites, and for some of these a false one, too.
pub(super) fn join(world: &mut World, seed: u64) {
    let mut dice = Dice::new(seed, "owners");
    let mut number = 0;
    for _ in 0..dice.between(1, 2) {
        let host = dice.pick(&world.hosts).clone();
        let host = if dice.percent(80) { host.names[0].clone() } else { dice.pick(&host.names).clone() };
        let is_claimed_twice = dice.percent(50);
        for is_true in [true, false].into_iter().take(1 + usize::from(is_claimed_twice)) {
            number += 1;
            let way = is_true.then(|| *dice.pick(&[Way::Dns, Way::Dns, Way::File, Way::Meta]));
            let from = if dice.percent(70) { 0 } else { dice.between(0, HOUR) };
            // Some owners withdraw their challenge.
            let to = if dice.percent(20) { from + dice.between(10 * MINUTE, 4 * HOUR) } else { Moment::MAX };
            let Ok(challenge) = Challenge::new(&format!("{:040x}", (seed << 8) + number)) else { continue };
            world.owners.push(Owner { host: host.clone(), challenge, way, published: (from, to) });
        }
    }
}

/// Returns the requests of all owners, each with its time and the owner's number. Each owner lets the proof be checked
/// a few times, and makes some requests.
pub(super) fn requests(world: &World, seed: u64, length: Moment) -> Vec<(Moment, usize, OwnerRequest)> {
    use OwnerRequest::{Block, Forget, Look, Report, Unblock, Visit};
    let mut dice = Dice::new(seed, "requests");
    let mut all = vec![];
    for owner in 0..world.owners.len() {
        // Some owners are quick, so that their requests meet the first jobs of their sites.
        let (looks, apart) = if dice.percent(40) { (1, MINUTE) } else { (3, length / 6) };
        let mut at = dice.between(0, apart);
        for _ in 0..looks {
            all.push((at, owner, Look));
            at += dice.between(1, apart);
        }
        let requests: &[OwnerRequest] = dice.pick::<&[OwnerRequest]>(&[
            &[Block],
            &[Forget],
            &[Forget],
            &[Block, Unblock],
            &[Forget, Unblock, Visit],
            &[Visit, Forget],
            &[Report, Block, Unblock, Block],
            &[Block, Forget, Unblock, Forget],
        ]);
        for request in requests {
            all.push((at.min(length), owner, *request));
            at += dice.between(1, apart);
        }
    }
    all
}

/// Makes a request of an owner and returns the answer. A request that comes too soon is repeated.
pub(super) async fn ask(
    shared: &Shared,
    machine: &Machine,
    owner: usize,
    request: OwnerRequest,
) -> Result<RequestOutcome, String> {
    let owner = &shared.world.owners[owner];
    match machine.program.desk.own.owners.request(&owner.host, &owner.challenge, request, true).await {
        Ok(RequestOutcome::TooSoon(at)) => Err(format!("too soon, until {at}")),
        Ok(outcome) => Ok(outcome),
        Err(error) => Err(error.to_string()),
    }
}

/// Records a request that was first made at `since` and failed `failures` times before it was decided.
pub(super) fn note(
    shared: &Shared,
    owner: usize,
    request: OwnerRequest,
    (since, failures): (Timestamp, u32),
    outcome: Option<RequestOutcome>,
) {
    let Owner { host, way, published, .. } = &shared.world.owners[owner];
    let (at, host) = (shared.clock.now(), host.clone());
    let published = way.filter(|_| published.0 <= shared.moment()).map(|_| shared.instant(published.1).min(at));
    let is_granted = outcome == Some(RequestOutcome::Granted);
    // A failed try may have taken effect, unless the answer was that nothing is proven.
    let may_count = is_granted || (failures > 0 && outcome.is_none());
    let mut trace = shared.trace();
    match request {
        OwnerRequest::Block | OwnerRequest::Forget if may_count => {
            let from = is_granted.then_some(at);
            trace.stops.push(Stop { host: host.clone(), by_owner: true, asked: since, from, until: None });
        }
        OwnerRequest::Unblock if may_count => {
            let stops = trace.stops.iter_mut().filter(|stop| stop.by_owner && stop.host == host);
            stops.filter(|stop| stop.until.is_none()).for_each(|stop| stop.until = Some(since));
        }
        _ => {}
    }
    trace.requests.push(RequestSnapshot { at, since, host, owner, request, outcome, published });
}

/// Returns the remains of hosts that were forgotten, and the hosts that are blocked although their owners allow them
/// again. Requests whose job was given up, or that were never decided, are left out.
pub(super) async fn look(shared: &Arc<Shared>, dead: &[(Job, String)]) -> (Vec<Remains>, Vec<String>) {
    let (requests, stops) = {
        let trace = shared.trace();
        (trace.requests.clone(), trace.stops.clone())
    };
    let (mut forgotten, mut not_allowed) = (vec![], vec![]);
    let hosts: BTreeSet<&String> = requests.iter().map(|request| &request.host).collect();
    for host in hosts.into_iter().filter(|host| is_decided(host, &requests, dead)) {
        let is_stopped = stops.iter().any(|stop| stop.by_owner && stop.host == *host && stop.until.is_none());
        let was_stopped = stops.iter().any(|stop| stop.by_owner && stop.host == *host);
        let is_forget = |r: &&RequestSnapshot| r.host == *host && r.request == OwnerRequest::Forget && r.is_granted();
        if let Some(request) = requests.iter().rev().find(is_forget) {
            let until = if is_stopped { Timestamp::MAX } else { request.since };
            forgotten.push(Remains { host: host.clone(), left: left_of(shared, host, until).await });
        }
        let is_covered = stops.iter().any(|stop| stop.until.is_none() && is_at_or_below(host, &stop.host));
        if was_stopped && !is_covered && is_hidden(shared, host).await {
            not_allowed.push(host.clone());
        }
    }
    (forgotten, not_allowed)
}

/// Returns true if every request about a host has been carried out or refused.
fn is_decided(host: &str, requests: &[RequestSnapshot], dead: &[(Job, String)]) -> bool {
    let is_given_up = dead.iter().any(|(job, _)| matches!(&job.work, Work::Own(job) if job.host == host));
    !is_given_up && requests.iter().filter(|request| request.host == host).all(|request| request.outcome.is_some())
}

async fn is_hidden(shared: &Arc<Shared>, host: &str) -> bool {
    let faults = Faults::none(shared.clock.clone());
    let machine = Machine::new(shared, PEOPLE, &faults, 0);
    machine.program.desk.blocks.blocked_by(host).await.is_ok_and(|by| by != BlockedBy::Nobody)
}

/// Returns everything that still names pages of a host that was forgotten at `until`.
async fn left_of(shared: &Arc<Shared>, host: &str, until: Timestamp) -> Vec<String> {
    let faults = Faults::none(shared.clock.clone());
    // Publishing erases the records that no row points to.
    if let Err(error) = publish(&Machine::new(shared, PEOPLE, &faults, 0), false).await {
        return vec![format!("publishing failed: {error}")];
    }
    let audit = Audit { blobs: shared.blobs.clone(), pages: shared.pages.clone() };
    let report = match audit.report(&Subject::Host(host.to_owned())).await {
        Ok(report) => report,
        Err(error) => return vec![format!("the audit failed: {error}")],
    };
    let accepted = |page: &&Page| matches!(page.state, PageState::Accepted { .. }) && page.at <= until;
    let mut left: Vec<String> = report.pages.iter().filter(accepted).map(|page| format!("row {}", page.url)).collect();
    let remnants = report.left.iter().filter(|remnant| !remnant.hidden);
    left.extend(remnants.map(|remnant| format!("{} of {}", remnant.key, remnant.page)));
    left
}

/// Repeats a request of each owner after every proof has expired.
pub(super) async fn ask_too_late(shared: &Arc<Shared>) {
    shared.clock.sleep(ownership::PROOF_LIFE + Millis::from_days(1)).await;
    let faults = Faults::none(shared.clock.clone());
    let machine = Machine::new(shared, PEOPLE, &faults, 1);
    for owner in 0..shared.world.owners.len() {
        let since = shared.clock.now();
        let outcome = ask(shared, &machine, owner, OwnerRequest::Report).await.ok();
        note(shared, owner, OwnerRequest::Report, (since, 0), outcome);
    }
}

/// The DNS, where some owners publish their challenges.
pub(super) struct Zone(pub(super) Arc<Shared>);

#[async_trait]
impl Names for Zone {
    async fn texts(&self, name: &str) -> Result<Vec<Bytes>, String> {
        let now = self.0.moment();
        let owners = self.0.world.owners.iter();
        let published = owners
            .filter(|owner| ownership::txt_name(&owner.host) == name && owner.publishes(&owner.host, Way::Dns, now));
        Ok(published.map(|owner| Bytes::from(owner.challenge.to_string())).collect())
    }
}
