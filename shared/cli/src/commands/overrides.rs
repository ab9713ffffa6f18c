//! `curlew override`: allows or denies a page or a site despite content screening.

use super::blocks::explain;
use crate::args::{ListedWith, OverrideWhat};
use crate::output::{self, printable};
use crate::world::World;
use anyhow::Result;
use curlew_crawl::pages::overrides::StoredOverride;
use curlew_people::audit_log::COMMAND_LINE;
use curlew_people::overrides::{OverrideEffect, topics_named};
use curlew_screen::{Scope, Verdict};
use serde_json::json;

/// Maximum number of characters of a note in a line for people.
const NOTE: usize = 60;

pub(super) async fn run(world: &World, args: ListedWith<OverrideWhat>) -> Result<()> {
    let (overrides, json) = (&world.desk.overrides, args.json);
    let (target, verdict, what, topics, note) = match args.what {
        None | Some(OverrideWhat::List) => {
            let all = overrides.list().await.map_err(explain)?;
            return output::list(json, &all, "There are no overrides.", line);
        }
        Some(OverrideWhat::Remove { target }) => return remove(world, &target, json).await,
        Some(OverrideWhat::Allow { target, topic, note }) => {
            (target, Verdict::Pass, "is allowed", topics_named(&topic).map_err(explain)?, note)
        }
        Some(OverrideWhat::Deny { target, note }) => (target, Verdict::Reject, "is denied", vec![], note),
    };
    let scope = overrides.scope(&target).await.map_err(explain)?;
    let effect = overrides.give(COMMAND_LINE, &scope, verdict, topics, note).await.map_err(explain)?;
    tell(&scope, what, &effect, json)
}

fn line(given: &StoredOverride) -> String {
    let StoredOverride { rule, at } = given;
    let topics = given.topics();
    let only = if topics.is_empty() { String::new() } else { format!("  only {topics}") };
    let note = rule.note.as_ref().map(|note| format!("  ({})", printable(note, NOTE))).unwrap_or_default();
    let verdict = if given.is_allowing() { "allow" } else { "deny" };
    format!("{at}  {verdict}  {}{only}{note}", rule.scope)
}

async fn remove(world: &World, target: &str, json: bool) -> Result<()> {
    let scope = world.desk.overrides.scope(target).await.map_err(explain)?;
    match world.desk.overrides.take_back(COMMAND_LINE, &scope).await.map_err(explain)? {
        Some((_, effect)) => tell(&scope, "is screened again", &effect, json),
        None if json => tell(&scope, "", &OverrideEffect::default(), json),
        None => output::line(format!("There is no override for {scope}; `curlew override list` shows all.")),
    }
}

fn tell(scope: &Scope, what: &str, effect: &OverrideEffect, json: bool) -> Result<()> {
    let OverrideEffect { removed, taken_up } = effect;
    let line = format!(
        "{scope} {what}. Of its known pages, {removed} leave the index and {taken_up} are fetched again, within a \
         minute or with the next crawl."
    );
    output::answer(json, &json!({ "scope": scope, "removed": removed, "taken_up": taken_up }), line)
}
