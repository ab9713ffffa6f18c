//! Hubs (WebSub): they are asked to tell of a feed's news, ask back, and deliver. Some lie, repeat themselves, refuse, fall
//! silent or go away. What they send reaches the code that the routes of the pages call.

use super::Mutation;
use super::dice::Dice;
use super::machine::{Machine, rates};
use super::stores::Shared;
use super::trace::DeliverySnapshot;
use super::world::{Host, Page, RobotsAnswer, Route, World};
use crate::bad_time::{HOUR, MINUTE, Moment};
use crate::faults::Faults;
use curlew_model::{
    EntryHints, HostKey, Job, Millis, Purpose, Source, SourceKey, Timestamp, VisitItem, VisitJob, hex, is_at_or_below,
};
use curlew_policy::address::{self, HostGroups};
use curlew_ports::{Clock, HostLedger, PortError, Queue, Sources};
use curlew_stages::feeds::websub_delivery::{HubAnswer, HubAsks, HubDelivery};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;
use url::{Url, form_urlencoded};

/// Our own origin, under which hubs reach the pages.
pub(super) const BASE: &str = "https://search.example";
/// Number of the machine that serves the pages.
const PAGES: usize = 98;
/// Part of the path of pages that only false deliveries name.
pub(super) const FALSE_PATH: &str = "/false/";
/// A message that the pages could not take is sent again after this time.
const AGAIN: Moment = MINUTE;
/// Maximum number of times a message is sent.
const TRIES: u32 = 4;
/// Maximum number of true deliveries of one subscription.
const DELIVERIES: usize = 3;
/// Times after the end of all faults at which every hub delivers once more, to see what is still listened to.
const LAST_DELIVERIES: [Moment; 2] = [HOUR, 6 * HOUR];

/// The way in which a hub behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Conduct {
    /// Asks back, and delivers what is new.
    Honest,
    /// Asks back, and delivers news that are none, several at a time, with wrong signatures, and after its subscription
    /// has ended.
    Liar,
    /// Takes requests, and denies them later.
    Denies,
    /// Takes requests, and is never heard of again.
    Silent,
    /// Grants an hour.
    Stingy,
    /// Asks back about another topic, and about the end of what nobody wants to end.
    Confused,
}

const CONDUCTS: [Conduct; 8] = [
    Conduct::Honest,
    Conduct::Honest,
    Conduct::Liar,
    Conduct::Liar,
    Conduct::Denies,
    Conduct::Silent,
    Conduct::Stingy,
    Conduct::Confused,
];

/// A hub.
#[derive(Clone, Debug)]
pub(super) struct Hub {
    url: String,
    conduct: Conduct,
    /// From then on it is not found, and delivers nothing.
    gone_from: Option<Moment>,
}

/// Adds hubs to a web: most feeds name one, and each host has a page that no feed lists.
pub(super) fn join(world: &mut World, seed: u64) {
    let mut dice = Dice::new(seed, "hubs");
    for host in world.hosts.clone() {
        let url = false_page(&host.names[0]);
        world.routes.insert(url, Route::Page(Page { number: 9_000, ..Page::default() }));
    }
    for n in 0..2 {
        let name = format!("hub{n}.example");
        let forbids = dice.percent(10);
        let robots = if forbids { RobotsAnswer::Text(5) } else { RobotsAnswer::Status(404) };
        world.robots.insert(format!("https://{name}"), vec![(0, robots)]);
        let gone_from = dice.percent(15).then(|| dice.between(0, 8 * HOUR));
        world.hubs.push(Hub { url: format!("https://{name}/"), conduct: *dice.pick(&CONDUCTS), gone_from });
        world.hosts.push(Host { names: vec![name], bad_times: vec![], slow: 5 });
    }
    let urls: Vec<String> = world.hubs.iter().map(|hub| hub.url.clone()).collect();
    for route in world.routes.values_mut() {
        if let Route::Feed { hub, .. } = route
            && dice.percent(85)
        {
            *hub = Some(dice.pick(&urls).clone());
        }
    }
}

/// A page of a host that only false deliveries name.
fn false_page(host: &str) -> String {
    format!("https://{host}{FALSE_PATH}1")
}

impl World {
    /// The status of a hub's answer to a request; `None` if no hub is there.
    pub(super) fn hub_status(&self, url: &str, now: Moment) -> Option<u16> {
        let hub = self.hubs.iter().find(|hub| hub.url == url)?;
        Some(if hub.gone_from.is_some_and(|from| from <= now) { 404 } else { 202 })
    }
}

/// A subscription as its hub knows it.
#[derive(Clone, Debug)]
struct Subscriber {
    hub: usize,
    topic: String,
    callback: String,
    secret: String,
}

/// Something that a hub is going to send.
#[derive(Clone, Debug)]
enum Message {
    AskBack { mode: &'static str, topic: String, lease: Millis },
    Deliver { is_true: bool, signed: bool },
}

#[derive(Clone, Debug)]
struct Event {
    of: Subscriber,
    message: Message,
    tries: u32,
}

/// All hubs' memory.
#[derive(Debug, Default)]
pub(super) struct Hubs {
    state: Mutex<State>,
    rings: Notify,
}

#[derive(Debug, Default)]
struct State {
    /// Events by their time and a running number.
    agenda: BTreeMap<(Moment, u64), Event>,
    number: u64,
    /// Subscriptions that were once confirmed, by their callbacks, and whether they have not ended since.
    confirmed: BTreeMap<String, (Subscriber, bool)>,
}

impl Hubs {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn plan(&self, at: Moment, of: &Subscriber, message: Message, tries: u32) {
        let mut state = self.state();
        state.number += 1;
        let number = state.number;
        state.agenda.insert((at, number), Event { of: of.clone(), message, tries });
        drop(state);
        self.rings.notify_one();
    }

    /// Has every hub that was ever confirmed deliver once more, whatever has become of the subscription.
    pub(super) fn deliver_once_more(&self, now: Moment) {
        let all: Vec<Subscriber> = self.state().confirmed.values().map(|(of, _)| of.clone()).collect();
        for of in all {
            for after in LAST_DELIVERIES {
                self.plan(now + after, &of, Message::Deliver { is_true: true, signed: true }, TRIES);
            }
        }
    }

    /// Takes the next event whose time has come, or says when one comes.
    fn next(&self, now: Moment) -> Result<Event, Option<Moment>> {
        let mut state = self.state();
        match state.agenda.first_entry() {
            Some(first) if first.key().0 <= now => Ok(first.remove()),
            Some(first) => Err(Some(first.key().0)),
            None => Err(None),
        }
    }
}

/// Takes a request that a hub has answered with 202.
pub(super) fn take(shared: &Shared, url: &str, form: &str, luck: u64) {
    let Some(hub) = shared.world.hubs.iter().position(|hub| hub.url == url) else { return };
    let field = |name: &str| {
        let mut fields = form_urlencoded::parse(form.as_bytes());
        fields.find(|(key, _)| key == name).map(|(_, value)| value.into_owned()).unwrap_or_default()
    };
    let (topic, callback, secret) = (field("hub.topic"), field("hub.callback"), field("hub.secret"));
    let lease = Millis::from_secs(field("hub.lease_seconds").parse().unwrap_or_default());
    let mut of = Subscriber { hub, topic: topic.clone(), callback, secret };
    let mode = if field("hub.mode") == "unsubscribe" { "unsubscribe" } else { "subscribe" };
    if mode == "unsubscribe"
        && let Some((known, _)) = shared.hubs.state().confirmed.get(&of.callback)
    {
        of.secret.clone_from(&known.secret);
    }
    let mut dice = Dice::new(luck, "hub");
    // Some ask back before they answer.
    let at = shared.moment() + if dice.percent(30) { 0 } else { dice.between(500, 3 * MINUTE) };
    let ask = |mode, topic: String, lease| Message::AskBack { mode, topic, lease };
    let plan = |at, message| shared.hubs.plan(at, &of, message, TRIES);
    match shared.world.hubs[hub].conduct {
        Conduct::Silent => {}
        Conduct::Denies => plan(at, ask("denied", topic, lease)),
        Conduct::Stingy => plan(at, ask(mode, topic, Millis::from_hours(1))),
        Conduct::Confused => {
            plan(at, ask(mode, format!("{topic}?other"), lease));
            plan(at + 1, ask("unsubscribe", topic.clone(), lease));
            plan(at + MINUTE, ask(mode, topic, lease));
        }
        Conduct::Honest | Conduct::Liar => plan(at, ask(mode, topic, lease)),
    }
}

/// Sends what hubs have to send, each at its time, for ever.
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

/// Sends one message to the pages, over ports that may fail as those of any machine.
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
            let answer = machine.program.pushes.asked(callback, &asked).await;
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

/// A subscription was confirmed, or its end.
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
        // Some are late.
        let late = if dice.percent(30) { dice.between(0, 3 * HOUR) } else { dice.between(0, MINUTE) };
        plan(entry.from + late, true, true);
    }
}

/// Delivers, as the route of the pages does it, and records what the pages say.
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
    let (before, pushes) = (look(shared, callback).await, &machine.program.pushes);
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
    let (is_gone, is_blocked) = before.unwrap_or_default();
    let at = shared.clock.now();
    let (feed, callback, is_calm) = (of.topic.clone(), callback.to_owned(), shared.is_calm());
    let snapshot = DeliverySnapshot { at, feed, callback, signed, answer, is_gone, is_blocked, is_calm };
    shared.trace().deliveries.push(snapshot);
    Ok(answer)
}

/// Whether the feed of a callback is retired, and whether its host is blocked, by the stores themselves.
async fn look(shared: &Shared, callback: &str) -> Option<(bool, bool)> {
    let key = SourceKey::new(callback.split('.').next()?).ok()?;
    let Some((Source::Feed(feed), _)) = shared.sources.get(&key).await.ok()? else { return None };
    let url = Url::parse(&feed.url).ok()?;
    let (state, _) = shared.hosts.load(&address::host_key(&url, &shared.groups).ok()?).await.ok()?;
    let name = url.host_str()?;
    Some((feed.gone, state.blocked.iter().any(|blocked| is_at_or_below(name, blocked))))
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
        let visit = VisitJob { host, feed: None, site_image: None, items, deferrals: 0 };
        let now: Timestamp = shared.clock.now();
        shared.jobs.send(&[(Job::Fetch(visit), now)]).await?;
    }
    Ok(())
}
