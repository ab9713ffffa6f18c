//! `curlew messages`: lists, shows and closes messages to the operator.

use crate::args::{ListedWith, MessagesWhat};
use crate::commands::blocks::explain;
use crate::output::{self, ADDRESS, printable};
use crate::world::World;
use anyhow::{Result, bail};
use curlew_people::audit_log::COMMAND_LINE;
use curlew_people::messages::{About, StoredMessage};
use serde_json::{Value, json};

/// Maximum number of characters shown of a message in the list.
const BEGINNING: usize = 60;
/// Maximum number of characters of a line in a message shown in full; no message is longer.
const WHOLE: usize = 4_000;

pub(super) async fn run(world: &World, args: ListedWith<MessagesWhat>) -> Result<()> {
    match args.what {
        None | Some(MessagesWhat::List) => list(world, args.json).await,
        Some(MessagesWhat::Show { name }) => show(world, &name, args.json).await,
        Some(MessagesWhat::Close { name }) => close(world, &name, args.json).await,
    }
}

async fn list(world: &World, json: bool) -> Result<()> {
    let all = world.desk.messages.list().await.map_err(explain)?;
    if all.is_empty() && !json {
        output::line("There are no messages.")?;
    }
    all.iter().try_for_each(|(name, kept)| {
        let StoredMessage { at, message } = kept;
        let (about, text) = (word(message.about), printable(&message.text, BEGINNING));
        let line = format!("{at}  {name}  {about}  {}  {text}", printable(&message.address, ADDRESS));
        output::answer(json, &named(name, kept), line)
    })
}

async fn show(world: &World, name: &str, json: bool) -> Result<()> {
    let Some(kept) = world.desk.messages.get(name).await.map_err(explain)? else {
        bail!("there is no message '{name}'")
    };
    let StoredMessage { at, message } = &kept;
    output::answer(json, &named(name, &kept), format!("{at}  {}", word(message.about)))?;
    if json {
        return Ok(());
    }
    for (what, value) in [("about", &message.address), ("answer to", &message.reply_to)] {
        if !value.is_empty() {
            output::line(format!("{what}: {}", printable(value, ADDRESS)))?;
        }
    }
    message.text.lines().try_for_each(|line| output::line(format!("  {}", printable(line, WHOLE))))
}

async fn close(world: &World, name: &str, json: bool) -> Result<()> {
    if !world.desk.actions.close_message(COMMAND_LINE, name).await.map_err(explain)? {
        bail!("there is no message '{name}'");
    }
    output::answer(json, &json!({ "closed": name }), format!("{name} is deleted"))
}

fn named(name: &str, kept: &StoredMessage) -> Value {
    let mut value = json!(kept);
    value["name"] = name.into();
    value
}

fn word(about: About) -> &'static str {
    match about {
        About::Question => "question",
        About::Crawler => "crawler",
        About::Abuse => "abuse",
        About::Removal => "removal",
    }
}
