//! Acts of people and schedules while the machines work: they name sites, block hosts, request re-checks, publish, and
//! search.

use super::answer::COMMON_WORD;
use super::dice::Dice;
use super::machine::{Machine, PEOPLE, publish, rates};
use super::owner;
use super::stores::Shared;
use super::trace::{QuerySnapshot, Stop};
use crate::bad_time::{HOUR, MINUTE, Moment};
use crate::faults::Faults;
use curlew_catalog::find::Finder;
use curlew_catalog::results::Start;
use curlew_crawl::feeds::backfill::BackfillRequest;
use curlew_crawl::pages::sample::HowMany;
use curlew_model::{Millis, OwnerRequest, Page};
use curlew_people::ownership::RequestOutcome;
use curlew_people::suggest::SuggestError;
use curlew_policy::address;
use curlew_ports::{Clock, Pages};
use std::sync::Arc;
use url::Url;

/// Minimum time between a request of an owner and the next action.
const A_SECOND: Millis = Millis::from_secs(1);
/// An action that fails is tried again after this time.
const AGAIN: Millis = Millis::from_secs(20);
/// An action is given up after this many tries.
const TRIES: u32 = 40;
/// Maximum number of hits of a query; higher than the number of pages.
const HITS: usize = 1_000;

#[derive(Clone, Debug)]
enum Action {
    Name { url: String, is_feed: bool },
    Block(String),
    Backfill { url: String, limit: Option<u64> },
    Own { owner: usize, request: OwnerRequest },
    Sample(HowMany),
    Publish { refresh: bool },
    Search,
}

/// Performs every planned action at its time.
pub(super) async fn follow_script(shared: Arc<Shared>, length: Moment) {
    let mut script = script(&shared, length);
    script.sort_by_key(|(at, _)| *at);
    let finder = Finder::new(shared.blobs.clone(), shared.clock.clone());
    let mut dice = Dice::new(shared.plan.seed, "people");
    let mut faults = Faults::seeded(dice.next(), rates(&shared, PEOPLE), shared.clock.clone());
    for (at, action) in script {
        let wait = at.saturating_sub(shared.moment());
        shared.clock.sleep(Millis(wait)).await;
        if matches!(action, Action::Search) {
            search(&shared, &finder).await;
            continue;
        }
        let (since, mut failures, mut outcome) = (shared.clock.now(), 0, None);
        for _ in 0..TRIES {
            if faults.has_crashed() {
                faults = faults.restarted();
            }
            let machine = Machine::new(&shared, PEOPLE, &faults, dice.next());
            let done = act(&shared, &machine, &action).await;
            shared.note(format!("people: {action:?} -> {done:?}"));
            if let Ok(done) = done {
                outcome = done;
                break;
            }
            failures += 1;
            shared.clock.sleep(AGAIN).await;
        }
        match &action {
            Action::Own { owner, request } => {
                owner::note(&shared, *owner, *request, (since, failures), outcome);
                // No two requests of owners share an instant.
                shared.clock.sleep(A_SECOND).await;
            }
            Action::Block(host) => {
                let (host, from) = (host.clone(), Some(shared.clock.now()));
                shared.trace().stops.push(Stop { host, by_owner: false, asked: since, from, until: None });
            }
            _ => continue,
        }
        if shared.plan.index {
            search(&shared, &finder).await;
        }
    }
}

fn script(shared: &Shared, length: Moment) -> Vec<(Moment, Action)> {
    let mut dice = Dice::new(shared.plan.seed, "script");
    let named = shared.world.named.iter();
    let mut script: Vec<(Moment, Action)> =
        named.map(|named| (named.at, Action::Name { url: named.url.clone(), is_feed: named.is_feed })).collect();
    let samples = dice.between(0, 2);
    for _ in 0..samples {
        let how_many = if dice.percent(50) { HowMany::All } else { HowMany::AtMost(3) };
        script.push((dice.between(HOUR, length), Action::Sample(how_many)));
    }
    if !shared.plan.steady && dice.percent(25) {
        let host = dice.pick(&shared.world.hosts).clone();
        let at = if dice.percent(50) { dice.between(0, 10 * MINUTE) } else { dice.between(0, length) };
        script.push((at, Action::Block(dice.pick(&host.names).clone())));
    }
    if shared.plan.index {
        for _ in 0..dice.between(2, 4) {
            // Half of these come early, close to the work, where a race is likely.
            let at = if dice.percent(50) { dice.between(0, 10 * MINUTE) } else { dice.between(0, length) };
            script.push((at, Action::Publish { refresh: dice.percent(30) }));
            script.push((at + dice.between(1, 2 * HOUR), Action::Search));
        }
    }
    let asked = shared.world.history.asked.iter();
    script.extend(asked.map(|asked| (asked.at, Action::Backfill { url: asked.url.clone(), limit: asked.limit })));
    let requests = owner::requests(&shared.world, shared.plan.seed, length).into_iter();
    script.extend(requests.map(|(at, owner, request)| (at, Action::Own { owner, request })));
    script
}

/// Performs an action once, and returns the answer to an owner's request.
async fn act(shared: &Shared, machine: &Machine, action: &Action) -> Result<Option<RequestOutcome>, String> {
    match action {
        Action::Own { owner, request } => return owner::ask(shared, machine, *owner, *request).await.map(Some),
        Action::Name { url, is_feed } => {
            let named = if *is_feed {
                machine.program.desk.suggest.feed(url, true).await
            } else {
                machine.program.desk.suggest.site(url, true).await
            };
            match named {
                Ok(_) | Err(SuggestError::Refused(_)) => {}
                Err(error) => return Err(error.to_string()),
            }
        }
        Action::Backfill { url, limit } => {
            let key = address::source_key(&Url::parse(url).map_err(|e| e.to_string())?);
            let request = BackfillRequest { limit: *limit, asked: true, ..BackfillRequest::default() };
            machine.program.crawler.backfills.begin(&key, request).await.map_err(|e| e.to_string())?;
        }
        Action::Block(host) => {
            machine.program.desk.blocks.block(host).await.map_err(|e| e.to_string())?;
        }
        Action::Sample(how_many) => {
            machine.program.crawler.sample.run(how_many.clone()).await.map_err(|e| e.to_string())?;
        }
        Action::Publish { refresh } => publish(machine, *refresh).await?,
        Action::Search => {}
    }
    Ok(None)
}

/// Publishes without faults, searches, and returns the URLs of all hits.
pub(super) async fn publish_and_search(shared: &Arc<Shared>) -> Vec<String> {
    let faults = Faults::none(shared.clock.clone());
    let machine = Machine::new(shared, PEOPLE, &faults, 0);
    if let Err(error) = publish(&machine, false).await {
        shared.note(format!("could not publish: {error}"));
    }
    let finder = Finder::new(shared.blobs.clone(), shared.clock.clone());
    search(shared, &finder).await
}

/// Searches for the word that every page has, over stores without faults, and records the hits beside the rows.
async fn search(shared: &Arc<Shared>, finder: &Finder) -> Vec<String> {
    // The query restricts the hits by site, since pages of this web are nearly alike and would otherwise be grouped as
    // one.
    let found = match finder.find(&format!("{COMMON_WORD} site:example"), Start::Offset(0), HITS).await {
        Ok(found) => found,
        Err(error) => {
            shared.trace().panics.push(format!("a search failed: {error}"));
            return vec![];
        }
    };
    let hits: Vec<String> = found.hits.into_iter().map(|hit| hit.url).collect();
    let mut rows: Vec<Page> = vec![];
    for hit in &hits {
        let Ok(url) = Url::parse(hit) else { continue };
        if let Ok(Some((row, _))) = shared.pages.get(&address::page_id(&url)).await {
            rows.push(row);
        }
    }
    shared.note(format!("a search found {} pages", hits.len()));
    let at = shared.clock.now();
    let mut trace = shared.trace();
    let granted = trace.stops.iter().filter(|stop| stop.from.is_some() && stop.until.is_none());
    let blocked = granted.map(|stop| stop.host.clone()).collect();
    trace.queries.push(QuerySnapshot { at, hits: hits.clone(), rows, blocked });
    hits
}
