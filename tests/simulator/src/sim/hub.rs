//! Hubs (WebSub): the requests that they received, and the messages that they are going to send.

use super::dice::Dice;
use super::outsiders::{CONDUCTS, Conduct, Hub};
use super::world::{Host, Page, RobotsAnswer, Route, World};
use crate::bad_time::{HOUR, MINUTE, Moment};
use curlew_model::Millis;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;
use url::form_urlencoded;

/// Part of the path of pages that are named by false deliveries only.
pub(super) const FALSE_PATH: &str = "/false/";
pub(super) const TRIES: u32 = 4;
/// Times after the end of all faults at which every hub delivers once more, to see which subscriptions are still known.
const LAST_DELIVERIES: [Moment; 2] = [HOUR, 6 * HOUR];

/// Adds hubs to a web. Most feeds name a hub, and each host has a page that no feed lists.
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

/// Returns the URL of the page of a host that is named by false deliveries only.
pub(super) fn false_page(host: &str) -> String {
    format!("https://{host}{FALSE_PATH}1")
}

#[derive(Clone, Debug)]
pub(super) struct Subscriber {
    pub(super) hub: usize,
    pub(super) topic: String,
    pub(super) callback: String,
    pub(super) secret: String,
}

#[derive(Clone, Debug)]
pub(super) enum Message {
    AskBack { mode: &'static str, topic: String, lease: Millis },
    Deliver { is_true: bool, signed: bool },
}

#[derive(Clone, Debug)]
pub(super) struct Event {
    pub(super) of: Subscriber,
    pub(super) message: Message,
    pub(super) tries: u32,
}

#[derive(Debug, Default)]
pub(super) struct Hubs {
    state: Mutex<State>,
    pub(super) rings: Notify,
}

/// Planned messages of all hubs, and their subscribers.
#[derive(Debug, Default)]
pub(super) struct State {
    /// Messages by time and a running number.
    agenda: BTreeMap<(Moment, u64), Event>,
    number: u64,
    /// Subscriptions that were ever confirmed, by callback; true while the subscription has not ended.
    pub(super) confirmed: BTreeMap<String, (Subscriber, bool)>,
}

impl Hubs {
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn plan(&self, at: Moment, of: &Subscriber, message: Message, tries: u32) {
        let mut state = self.state();
        state.number += 1;
        let number = state.number;
        state.agenda.insert((at, number), Event { of: of.clone(), message, tries });
        drop(state);
        self.rings.notify_one();
    }

    /// Makes every hub that was ever confirmed deliver once more, even if the subscription has ended.
    pub(super) fn deliver_once_more(&self, now: Moment) {
        let all: Vec<Subscriber> = self.state().confirmed.values().map(|(of, _)| of.clone()).collect();
        for of in all {
            for after in LAST_DELIVERIES {
                self.plan(now + after, &of, Message::Deliver { is_true: true, signed: true }, TRIES);
            }
        }
    }

    /// Takes the next message that is due, or returns the time of the next one.
    pub(super) fn next(&self, now: Moment) -> Result<Event, Option<Moment>> {
        let mut state = self.state();
        match state.agenda.first_entry() {
            Some(first) if first.key().0 <= now => Ok(first.remove()),
            Some(first) => Err(Some(first.key().0)),
            None => Err(None),
        }
    }

    /// Processes a request that a hub has answered with 202.
    pub(super) fn take(&self, world: &World, now: Moment, (url, form): (&str, &[u8]), luck: u64) {
        let Some(hub) = world.hubs.iter().position(|hub| hub.url == url) else { return };
        let field = |name: &str| {
            let mut fields = form_urlencoded::parse(form);
            fields.find(|(key, _)| key == name).map(|(_, value)| value.into_owned()).unwrap_or_default()
        };
        let (topic, callback, secret) = (field("hub.topic"), field("hub.callback"), field("hub.secret"));
        let lease = Millis::from_secs(field("hub.lease_seconds").parse().unwrap_or_default());
        let mut of = Subscriber { hub, topic: topic.clone(), callback, secret };
        let mode = if field("hub.mode") == "unsubscribe" { "unsubscribe" } else { "subscribe" };
        if mode == "unsubscribe"
            && let Some((known, _)) = self.state().confirmed.get(&of.callback)
        {
            of.secret.clone_from(&known.secret);
        }
        let mut dice = Dice::new(luck, "hub");
        // Some hubs verify the intent before they answer.
        let at = now + if dice.percent(30) { 0 } else { dice.between(500, 3 * MINUTE) };
        let ask = |mode, topic: String, lease| Message::AskBack { mode, topic, lease };
        let plan = |at, message| self.plan(at, &of, message, TRIES);
        match world.hubs[hub].conduct {
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
}
