//! Checks of any store, on one machine or on a stack.

use super::facts::{Fact, Facts, HoldCount, IndexFacts, StatedSettings};
use super::finding::{Finding, Level};
use crate::commands::config::without_a_model;
use crate::output::{count, count_are, in_parentheses, length};
use curlew_app::{ImageScreening, Origin};
use curlew_model::{Millis, Timestamp};
use curlew_people::messages::OpenMessages;

/// Free bytes below which the check warns, and below which it fails.
const FREE_BYTES: (u64, u64) = (1 << 30, 100 << 20);
/// Lateness of a stack's dispatch above which the check warns, and above which it fails.
pub(super) const TICKS_LATE: (Millis, Millis) = (Millis::from_mins(10), Millis::from_mins(30));
/// Lateness of one machine above which the check warns; a person or a timer may start its crawls.
const CRAWLS_LATE: Millis = Millis::from_days(1);
/// Number of due messages in a stack's queue above which the check warns.
const MANY_DUE: u64 = 10_000;
/// Time since the last publishing, with new pages waiting, above which the check warns, and above which it fails.
const INDEX_LATE: (Millis, Millis) = (Millis::from_hours(12), Millis::from_hours(48));
/// Time after which an unanswered message is a warning, so that messages are answered by the next day.
const MESSAGE_WAITS: Millis = Millis::from_hours(20);
/// Minimum number of sites for a warning that most of them are on hold.
const SOME_SITES: u64 = 4;

pub(super) fn judged<T>(fact: &Fact<T>, judge: impl FnOnce(&T) -> Finding) -> Finding {
    fact.as_ref().map_or_else(Finding::unknown, judge)
}

pub(super) fn store(facts: &Facts) -> Vec<Finding> {
    let see = if facts.is_stack { "docs/aws.md#deploy" } else { "docs/reference/data-folder.md" };
    let opened = facts.store.iter().map(|store| match store {
        Ok(store) => Finding::ok(store.clone()),
        Err(why) => Finding { see: Some(see), ..Finding::unknown(why) },
    });
    let space = facts.free_bytes.filter(|free| *free < FREE_BYTES.0).map(|free| {
        let found = format!("its file system has {} MB left", free >> 20);
        let finding = if free < FREE_BYTES.1 { Finding::failed(found) } else { Finding::warning(found) };
        finding.remedy("Free some space: a crawl stops where there is none", "docs/reference/data-folder.md")
    });
    opened.chain(space).collect()
}

pub(super) fn settings(facts: &Facts) -> Vec<Finding> {
    let judge = |stated: &Result<_, String>| match stated {
        Ok(_) => Finding::ok("they are valid"),
        Err(line) if facts.is_stack => Finding::failed(line.clone()).remedy(
            format!("Correct the file, and `{} config set FILE`; the last good settings stay in force", facts.program),
            "docs/runbooks.md#trouble",
        ),
        Err(line) => Finding::failed(line.clone())
            .remedy("Correct it; `curlew config check` checks the result", "docs/reference/settings.md"),
    };
    facts.settings.iter().map(|settings| judged(settings, judge)).collect()
}

/// Checks whether the owners of sites can reach the operator.
pub(super) fn contact(facts: &Facts) -> Vec<Finding> {
    let judge = |contact: &Option<String>| match contact {
        Some(contact) => Finding::ok(format!("sites can reach you at {contact}")),
        None if facts.is_stack => Finding::failed("none is set, so no public site is contacted")
            .remedy("Deploy with the parameter ContactUrl", "docs/aws.md#deploy"),
        None => Finding::warning("none is set, so no public site is contacted")
            .remedy("Set `contact` in the settings, or use --contact", "docs/reference/settings.md"),
    };
    facts.stated().map(|stated| judged(&stated.contact, judge)).into_iter().collect()
}

pub(super) fn paused(facts: &Facts) -> Vec<Finding> {
    let judge = |paused| match paused {
        None => Finding::ok("crawling is not paused"),
        Some(Origin::Environment) if facts.is_stack => Finding::warning("a deployment has paused crawling")
            .remedy("Deploy with Paused=false to resume", "docs/aws.md#stop-it-at-once-and-go-on"),
        Some(Origin::File) if facts.is_stack => Finding::warning("the settings have paused crawling")
            .remedy(format!("`{} config resume` resumes it", facts.program), "docs/aws.md#stop-it-at-once-and-go-on"),
        Some(by) => {
            let by = if by == Origin::File { "the file" } else { "the environment" };
            Finding::warning(format!("crawling is paused: {by} says `paused = true`"))
                .remedy("Remove it to resume", "docs/reference/settings.md")
        }
    };
    facts.stated().map(|stated| judge(stated.paused)).into_iter().collect()
}

/// Reports how images are classified. A missing model is not a fault, so it is no warning.
pub(super) fn pictures(facts: &Facts) -> Vec<Finding> {
    let judge = |image: &ImageScreening| {
        let has_model =
            || "a model classifies pictures, and a picture alone can cause its page to be rejected".to_owned();
        let found = without_a_model(image, &facts.program).unwrap_or_else(has_model);
        Finding { see: Some("docs/reference/settings.md#content-policy"), ..Finding::ok(found) }
    };
    facts.stated().and_then(|stated| stated.pictures.as_ref()).map(judge).into_iter().collect()
}

/// Reports how many persons have their pages rejected. Few operators list any, so zero is no warning.
pub(super) fn persons(facts: &Facts) -> Vec<Finding> {
    let judge = |stated: &StatedSettings| {
        let found = match stated.persons {
            0 => "no persons are excluded: [screen] persons is empty".to_owned(),
            persons => format!("pages that name {} are rejected", count(persons as u64, "person")),
        };
        Finding { see: Some("docs/reference/settings.md#content-policy"), ..Finding::ok(found) }
    };
    facts.stated().map(judge).into_iter().collect()
}

pub(super) fn sites(facts: &Facts) -> Vec<Finding> {
    let judge = |has_sources: &bool| match has_sources {
        true => Finding::ok("there are sites or feeds to crawl"),
        false => Finding::warning("no site is known yet").remedy(
            format!("`{} crawl SITE` adds one", facts.program),
            if facts.is_stack { "docs/aws.md#operate" } else { "docs/reference/commands.md#crawl" },
        ),
    };
    facts.has_sources.iter().map(|fact| judged(fact, judge)).collect()
}

/// Checks for rows with times in the future, which a wrong clock has written.
pub(super) fn clock(facts: &Facts) -> Vec<Finding> {
    let remedy = "Check that the clock is right. If it is, it was wrong earlier: each row is corrected when it is used";
    let judge = |ahead: &u64| match ahead {
        0 => Finding::ok("no row is ahead of the clock"),
        ahead => Finding::warning(format!("{ahead} rows of hosts, feeds or sites are ahead of the clock"))
            .remedy(remedy, "docs/server.md#beside-the-running-process"),
    };
    facts.ahead.iter().map(|fact| judged(fact, judge)).collect()
}

/// Checks whether due work is sent in time and, on a stack, whether parked jobs are released.
pub(super) fn schedule(facts: &Facts) -> Vec<Finding> {
    if !facts.is_stack {
        return facts.sent_until.iter().map(|fact| judged(fact, |sent| on_one_machine(facts, *sent))).collect();
    }
    if facts.is_paused() {
        return vec![Finding::ok("nothing is sent while crawling is paused")];
    }
    let sent = facts.sent_until.iter().map(|fact| judged(fact, |until| ticks(facts, "due work was sent", *until)));
    let released = facts.stack.iter().map(|stack| &stack.released_until);
    let released = released.map(|fact| judged(fact, |until| ticks(facts, "parked jobs were released", *until)));
    sent.chain(released).collect()
}

fn on_one_machine(facts: &Facts, sent: Option<Timestamp>) -> Finding {
    let remedy = "`curlew serve` runs the schedules; `curlew crawl` does the due work once";
    match sent {
        None => Finding::ok("no schedule has run yet"),
        Some(until) if facts.now.since(until) > CRAWLS_LATE => {
            Finding::warning(format!("no schedule has run since {until}")).remedy(remedy, "docs/server.md")
        }
        Some(until) => Finding::ok(format!("due work was sent until {until}")),
    }
}

/// Returns the finding about work that each tick of dispatch does; `until` is the time up to which it is done.
fn ticks(facts: &Facts, what: &str, until: Option<Timestamp>) -> Finding {
    let Some(until) = until else {
        return Finding::warning("dispatch has not run yet")
            .remedy("Its first tick comes within five minutes of the deployment", "docs/runbooks.md#dispatch-silent");
    };
    let late = facts.now.since(until);
    let found = format!("{what} until {} ago", length(late));
    let remedy = "Check that the schedule of dispatch is enabled, and read its log";
    match late {
        late if late > TICKS_LATE.1 => Finding::failed(found).remedy(remedy, "docs/runbooks.md#dispatch-silent"),
        late if late > TICKS_LATE.0 => Finding::warning(found).remedy(remedy, "docs/runbooks.md#dispatch-silent"),
        _ => Finding::ok(found),
    }
}

pub(super) fn backlog(facts: &Facts) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut parts = Vec::new();
    for (stage, queue) in &facts.queues {
        let queue = match queue {
            Ok(queue) => queue,
            Err(why) => {
                findings.push(Finding::unknown(why));
                continue;
            }
        };
        let (stage, ready) = (stage.as_str(), queue.count.ready);
        let more = queue.count.waiting + queue.count.in_flight;
        if ready + more > 0 {
            parts.push(format!("{stage} {ready} due, {more} waiting or under way"));
        }
        let late = queue.due_since.map(|since| facts.now.since(since)).filter(|late| *late > CRAWLS_LATE);
        if let Some(late) = late.filter(|_| !facts.is_stack && !facts.is_paused()) {
            findings.push(
                Finding::warning(format!("a job for {stage} has been due for {}", length(late)))
                    .remedy("`curlew serve` or `curlew crawl` runs it", "docs/server.md"),
            );
        }
        if facts.is_stack && ready > MANY_DUE {
            findings.push(Finding::warning(format!("{} due for {stage}", count_are(ready, "message"))).remedy(
                "After many new sites, the backlog shrinks by itself; if it grows, raise `Scale`",
                "docs/runbooks.md#trouble",
            ));
        }
    }
    if findings.is_empty() && !facts.queues.is_empty() {
        findings.push(Finding::ok(if parts.is_empty() { "no job waits".to_owned() } else { parts.join("; ") }));
    }
    findings
}

pub(super) fn given_up(facts: &Facts) -> Vec<Finding> {
    let mut findings = Vec::new();
    let see = if facts.is_stack { "docs/runbooks.md#trouble" } else { "docs/reference/commands.md#act" };
    // `backlog` reports the queues with an unknown count.
    let known = || facts.queues.iter().filter_map(|(stage, queue)| Some((stage, queue.as_ref().ok()?.count.dead)));
    for (stage, dead) in known().filter(|(_, dead)| *dead > 0) {
        findings.push(Finding::warning(format!("{} of {} given up", count(dead, "job"), stage.as_str())).remedy(
            format!("`{0} parked` says why; fix the cause, then `{0} redrive` puts them back", facts.program),
            see,
        ));
    }
    if let Some(stack) = &facts.stack {
        let events = judged(&stack.dead_events, |events| match events {
            0 => Finding::ok("no event of a schedule has failed"),
            n => Finding::warning(format!("{} of schedules failed permanently", count(*n, "event"))).remedy(
                format!("Read the log of index and sample, then run `{} index`", facts.program),
                "docs/runbooks.md#trouble",
            ),
        });
        if events.level != Level::Ok {
            findings.push(events);
        }
    }
    if findings.is_empty() && known().next().is_some() {
        findings.push(Finding::ok("no job was given up"));
    }
    findings
}

pub(super) fn index(facts: &Facts) -> Vec<Finding> {
    let see = if facts.is_stack { "docs/runbooks.md#trouble" } else { "docs/reference/commands.md#act" };
    let remedy = format!("`{} index` publishes now, and says what is wrong", facts.program);
    let judge = |index: &IndexFacts| {
        if let Some(year) = index.newer {
            let found = format!("a newer version wrote the index of {year}: none of its pages are found or published");
            let see = if facts.is_stack { "docs/aws.md#upgrade-it" } else { "docs/server.md#upgrade" };
            return Finding::failed(found).remedy("Run that version again", see);
        }
        let pages = count(index.pages, "page");
        match (index.published, index.has_unpublished) {
            (None, false) => Finding::ok("nothing has been published yet, and nothing is waiting"),
            (None, true) => {
                Finding::ok(format!("new pages wait for the first publishing; `{} index` publishes now", facts.program))
            }
            (Some(at), false) => Finding::ok(format!("{pages}, all of them published, the last at {at}")),
            (Some(at), true) => {
                let late = facts.now.since(at);
                let found = format!("{pages}, and new ones wait; the index was last published {} ago", length(late));
                match late {
                    late if late > INDEX_LATE.1 && !facts.is_paused() => Finding::failed(found).remedy(&remedy, see),
                    late if late > INDEX_LATE.0 => Finding::warning(found).remedy(&remedy, see),
                    _ => Finding::ok(found),
                }
            }
        }
    };
    facts.index.iter().map(|index| judged(index, judge)).collect()
}

/// Checks whether messages wait for the operator.
pub(super) fn messages(facts: &Facts) -> Vec<Finding> {
    let judge = |open: &OpenMessages| {
        let waits = open.oldest.map(|at| facts.now.since(at)).unwrap_or_default();
        let found = format!("{} to read, the oldest from {} ago", count(open.count as u64, "message"), length(waits));
        match open.count {
            0 => Finding::ok("nobody is waiting for an answer"),
            _ if waits < MESSAGE_WAITS => Finding::ok(found),
            _ => Finding::warning(found).remedy(
                format!(
                    "`{0} messages` shows them; `{0} messages close NAME` deletes one that is answered",
                    facts.program
                ),
                "docs/server.md#owners-of-sites",
            ),
        }
    };
    facts.messages.iter().map(|messages| judged(messages, judge)).collect()
}

pub(super) fn holds(facts: &Facts) -> Vec<Finding> {
    let judge = |counted: &Option<HoldCount>| {
        let Some(counted) = counted else {
            return Finding::ok("hosts on hold are counted with the first sample of pages");
        };
        let at = counted.at.map(|at| format!(", counted at {at}")).unwrap_or_default();
        let all: u64 = counted.held.values().sum();
        let reasons = in_parentheses(counted.held.iter().map(|(why, n)| (why.as_str(), n)));
        let found = format!("{} on hold{reasons}{at}", count_are(all, "host"));
        if counted.sites >= SOME_SITES && all * 2 > counted.sites {
            let see = if facts.is_stack { "docs/runbooks.md#trouble" } else { "docs/reference/commands.md#look" };
            return Finding::warning(found).remedy(
                format!("Most sites are on hold; `{} holds` shows what they have in common", facts.program),
                see,
            );
        }
        Finding::ok(found)
    };
    facts.counted.iter().map(|counted| judged(counted, judge)).collect()
}
