//! Messages of hubs: verification requests and deliveries, sent to the code that the web routes call. Some hubs lie,
//! repeat themselves, fall silent or go away.

use super::Mutation;
use super::dice::Dice;
use super::hub::{Event, Message, Subscriber, TRIES, false_page};
use super::machine::{BASE, Machine, rates};
use super::outsiders::Conduct;
use super::stores::Shared;
use super::trace::DeliverySnapshot;
use super::world::Route;
use crate::bad_time::{HOUR, MINUTE, Moment};
use crate::faults::Faults;
use curlew_crawl::feeds::websub_delivery::{HubAnswer, HubAsks, HubDelivery};
use curlew_model::{
    EntryHints, HostKey, Job, Millis, Purpose, Source, SourceKey, Timestamp, VisitItem, VisitJob, hex, is_at_or_below,
};
use curlew_policy::address::{self, HostGroups};
use curlew_ports::{Clock, HostLedger, PortError, Queue, Sources};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::sync::Arc;
use url::Url;

const PAGES: usize = 98;
/// A hub repeats a message after this time if the web routes could not accept it.
const AGAIN: Moment = MINUTE;
/// Maximum number of true deliveries for one subscription.
const DELIVERIES: usize = 3;

/// Sends the messages of hubs, each at its time, for ever.
pub(super) async fn serve(shared: Arc<Shared>) {
    let mut dice = Dice::new(shared.plan.seed, "deliveries");
    loop {
        match shared.hubs.next(shared.moment()) {
            Ok(event) => send(&shared, event, &mut dice).await,
            Err(None) => shared.hubs.rings.notified().await,
            Err(Some(at)) => {
                let wait = Millis(at.saturating_sub(shared.moment()));
                tokio::select! {
                    biased;
                    () = shared.hubs.rings.notified() => {}
                    () = shared.clock.sleep(wait) => {}
                }
            }
        }
    }
}

/// Sends one message, over ports that may fail as those of any machine.
async fn send(shared: &Arc<Shared>, event: Event, dice: &mut Dice) {
    let Event { of, message, tries } = event;
    let is_over = shared.no_more_ticks.load(std::sync::atomic::Ordering::Relaxed);
    if matches!(message, Message::Deliver { .. }) && is_over {
        return;
    }
    let faults = Faults::seeded(dice.next(), rates(shared, PAGES), shared.clock.clone());
    let machine = Machine::new(shared, PAGES, &faults, dice.next());
    let callback = of.callback.strip_prefix(BASE).and_then(|path| path.strip_prefix("/websub/")).unwrap_or_default();
    let answer = match &message {
        Message::AskBack { mode, topic, lease } => {
            let asked = HubAsks { mode, topic, lease_seconds: Some(lease.0 / 1_000) };
            let answer = machine.program.crawler.pushes.verify_intent(callback, &asked).await;
            if matches!(answer, Ok(HubAnswer::Yes)) {
                confirmed(shared, &of, mode, dice);
            }
            answer
        }
        Message::Deliver { is_true, signed } => deliver(shared, &machine, callback, &of, (*is_true, *signed)).await,
    };
    shared.note(format!("hub {}: {message:?} about {} -> {answer:?}", of.hub, of.topic));
    if answer.is_err() && tries > 1 {
        shared.hubs.plan(shared.moment() + AGAIN, &of, message, tries - 1);
    }
}

/// Records that a hub's verification request, for a subscription or for its end, was confirmed.
fn confirmed(shared: &Shared, of: &Subscriber, mode: &str, dice: &mut Dice) {
    let (now, hub) = (shared.moment(), &shared.world.hubs[of.hub]);
    if mode != "subscribe" {
        if let Some((_, is_on)) = shared.hubs.state().confirmed.get_mut(&of.callback) {
            *is_on = false;
        }
        return;
    }
    shared.hubs.state().confirmed.insert(of.callback.clone(), (of.clone(), true));
    let plan = |at, is_true, signed| shared.hubs.plan(at, of, Message::Deliver { is_true, signed }, TRIES);
    if hub.conduct == Conduct::Liar {
        let at = now + dice.between(0, 4 * HOUR);
        for (after, signed) in [(0, true), (0, true), (MINUTE, true), (2 * MINUTE, false), (2 * HOUR, true)] {
            plan(at + after, false, signed);
        }
        return;
    }
    let Some(Route::Feed { entries, .. }) = shared.world.routes.get(&of.topic) else { return };
    for entry in entries.iter().filter(|entry| entry.from > now).take(DELIVERIES) {
        // Some deliveries are late.
        let late = if dice.percent(30) { dice.between(0, 3 * HOUR) } else { dice.between(0, MINUTE) };
        plan(entry.from + late, true, true);
    }
}

/// Delivers as the web route does, and records the answer.
async fn deliver(
    shared: &Shared,
    machine: &Machine,
    callback: &str,
    of: &Subscriber,
    (is_true, signed): (bool, bool),
) -> Result<HubAnswer, PortError> {
    let hub = &shared.world.hubs[of.hub];
    let is_on = shared.hubs.state().confirmed.get(&of.callback).is_some_and(|(_, is_on)| *is_on);
    let keeps_on = hub.conduct == Conduct::Liar || shared.is_calm();
    if !keeps_on && (!is_on || hub.gone_from.is_some_and(|from| from <= shared.moment())) {
        return Ok(HubAnswer::Unknown);
    }
    let body = if is_true { shared.world.feed(&of.topic, shared.moment()) } else { Some(false_news(&of.topic)) };
    let body = body.unwrap_or_default();
    let secret = if signed { of.secret.as_str() } else { "a guess" };
    let signature = format!("sha256={}", sign(secret, body.as_bytes()));
    let (before, pushes) = (look(shared, callback).await, &machine.program.crawler.pushes);
    let answer = match pushes.delivers(callback, Some(&signature)).await? {
        HubDelivery::Unknown => HubAnswer::Unknown,
        HubDelivery::Unsigned => HubAnswer::No,
        HubDelivery::Signed(mut reading) => {
            body.as_bytes().chunks(100).for_each(|piece| reading.take(piece));
            if reading.is_genuine() { pushes.delivered(callback).await? } else { HubAnswer::No }
        }
    };
    if answer == HubAnswer::Yes && shared.plan.mutation == Some(Mutation::DeliveryBelieved) {
        believe(shared, &body).await?;
    }
    if answer == HubAnswer::Unknown
        && let Some((_, is_on)) = shared.hubs.state().confirmed.get_mut(&of.callback)
    {
        *is_on = false;
    }
    let (is_gone, is_blocked, not_before) = before.unwrap_or_default();
    let at = shared.clock.now();
    // Nothing is learned about a feed that failed, or whose host is held, until the feed may be polled again.
    let is_calm = shared.is_calm() && not_before <= at;
    let (feed, callback) = (of.topic.clone(), callback.to_owned());
    let snapshot = DeliverySnapshot { at, feed, callback, signed, answer, is_gone, is_blocked, is_calm };
    shared.trace().deliveries.push(snapshot);
    Ok(answer)
}

/// Reads from the stores whether the feed of a callback is retired, whether its host is blocked, and from when on it
/// may be polled.
async fn look(shared: &Shared, callback: &str) -> Option<(bool, bool, Timestamp)> {
    let key = SourceKey::new(callback.split('.').next()?).ok()?;
    let Some((Source::Feed(feed), _)) = shared.sources.get(&key).await.ok()? else { return None };
    let url = Url::parse(&feed.url).ok()?;
    let (state, _) = shared.hosts.load(&address::host_key(&url, &shared.groups).ok()?).await.ok()?;
    let name = url.host_str()?;
    let is_blocked = state.blocked.iter().any(|blocked| is_at_or_below(name, blocked));
    Some((feed.gone, is_blocked, feed.not_before.max(state.hold.map_or(Timestamp::MIN, |hold| hold.until))))
}

fn false_news(topic: &str) -> String {
    let host = Url::parse(topic).ok().and_then(|url| address::host_key(&url, &HostGroups::default()).ok());
    let link = false_page(host.as_ref().map(HostKey::as_str).unwrap_or_default());
    format!(
        "<?xml version=\"1.0\"?><rss version=\"2.0\"><channel><title>News</title><item><title>False</title>\
         <link>{link}</link></item></channel></rss>"
    )
}

fn sign(secret: &str, body: &[u8]) -> String {
    let mut mac = <Hmac<Sha256> as KeyInit>::new_from_slice(secret.as_bytes())
        .unwrap_or_else(|error| panic!("a key of any length: {error}"));
    mac.update(body);
    hex(&mac.finalize().into_bytes())
}

/// See [`Mutation::DeliveryBelieved`].
async fn believe(shared: &Shared, body: &str) -> Result<(), PortError> {
    for link in body.split("<link>").skip(1).filter_map(|rest| rest.split("</link>").next()) {
        let Ok(url) = address::parse(link, None) else { continue };
        let Ok(host) = address::host_key(&url, &shared.groups) else { continue };
        let purpose = Purpose::New { hints: EntryHints::default() };
        let items = vec![VisitItem { page: address::page_id(&url), url: url.into(), purpose }];
        let visit = VisitJob::new(host, items);
        let now: Timestamp = shared.clock.now();
        shared.queue.send(&[(Job::new(visit), now)]).await?;
    }
    Ok(())
}
