//! `curlew override`: the operator allows or denies a page or a site.

use super::blocks::explain;
use crate::args::{OverrideArgs, OverrideWhat};
use crate::output::{self, printable};
use crate::world::World;
use anyhow::Result;
use curlew_crawl::pages::overrides::StoredOverride;
use curlew_people::audit_log::COMMAND_LINE;
use curlew_people::overrides::{OverrideEffect, topics_named};
use curlew_screen::{Scope, Topic, Verdict};
use serde_json::json;

/// Maximum number of characters of a note in a line for people.
const NOTE: usize = 60;

pub(super) async fn run(world: &World, args: OverrideArgs) -> Result<()> {
    let json = args.json;
    match args.what {
        None | Some(OverrideWhat::List) => list(world, json).await,
        Some(OverrideWhat::Allow { target, topic, note }) => {
            give(world, &target, Verdict::Pass, topics_named(&topic).map_err(explain)?, note, json).await
        }
        Some(OverrideWhat::Deny { target, note }) => give(world, &target, Verdict::Reject, vec![], note, json).await,
        Some(OverrideWhat::Remove { target }) => remove(world, &target, json).await,
    }
}

async fn list(world: &World, json: bool) -> Result<()> {
    let all = world.desk.overrides.list().await.map_err(explain)?;
    if all.is_empty() && !json {
        output::line("There is no override.")?;
    }
    for given in all {
        if json {
            output::json(&given)?;
        } else {
            output::line(&line(&given))?;
        }
    }
    Ok(())
}

fn line(given: &StoredOverride) -> String {
    let StoredOverride { rule, at } = given;
    let topics = given.topics();
    let only = if topics.is_empty() { String::new() } else { format!("  only {topics}") };
    let note = rule.note.as_ref().map(|note| format!("  ({})", printable(note, NOTE))).unwrap_or_default();
    format!("{at}  {}  {}{only}{note}", word(rule.verdict), rule.scope)
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "allow",
        Verdict::Reject => "deny",
    }
}

async fn give(
    world: &World,
    target: &str,
    verdict: Verdict,
    topics: Vec<Topic>,
    note: Option<String>,
    json: bool,
) -> Result<()> {
    let scope = world.desk.overrides.scope(target).await.map_err(explain)?;
    let followed = world.desk.overrides.give(COMMAND_LINE, &scope, verdict, topics, note).await.map_err(explain)?;
    let what = match verdict {
        Verdict::Pass => format!("{scope} is let through"),
        Verdict::Reject => format!("{scope} is kept out"),
    };
    tell(&scope, &what, &followed, json)
}

async fn remove(world: &World, target: &str, json: bool) -> Result<()> {
    let scope = world.desk.overrides.scope(target).await.map_err(explain)?;
    match world.desk.overrides.take_back(COMMAND_LINE, &scope).await.map_err(explain)? {
        Some(followed) => tell(&scope, &format!("{scope} is judged by screening again"), &followed, json),
        None if json => tell(&scope, "", &OverrideEffect::default(), json),
        None => Ok(output::line(&format!("There is no override for {scope}; `curlew override list` shows all."))?),
    }
}

fn tell(scope: &Scope, what: &str, followed: &OverrideEffect, json: bool) -> Result<()> {
    let OverrideEffect { removed, taken_up } = followed;
    if json {
        output::json(&json!({ "scope": scope, "removed": removed, "taken_up": taken_up }))?;
    } else {
        let done = format!(
            "{removed} leave the index and {taken_up} are fetched again, within a minute or with the next crawl"
        );
        output::line(&format!("{what}. Of its known pages, {done}."))?;
    }
    Ok(())
}
