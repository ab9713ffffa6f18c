//! `curlew watch`: manages watches, which post new matches of a query to a webhook.

use crate::args::{WatchArgs, WatchWhat};
use crate::commands::blocks::explain;
use crate::failure::usage;
use crate::output::{self, ADDRESS, printable};
use crate::world::World;
use anyhow::{Result, bail};
use curlew_app::random_secret;
use curlew_people::audit_log::COMMAND_LINE;
use curlew_people::watches::{Watch, WatchError};
use serde_json::json;

const QUERY: usize = 60;
const REFUSAL: usize = 400;

pub(super) async fn run(world: &World, args: WatchArgs) -> Result<()> {
    let json = args.json;
    match args.what {
        None | Some(WatchWhat::List) => list(world, json).await,
        Some(WatchWhat::Add { query, to }) => add(world, &query, &to, json).await,
        Some(WatchWhat::Remove { name }) => {
            if !world.desk.actions.remove_watch(COMMAND_LINE, &name).await.map_err(explain)? {
                bail!("there is no watch '{name}'");
            }
            output::answer(json, &json!({ "removed": name }), format!("{name} is removed"))
        }
    }
}

async fn add(world: &World, query: &str, to: &str, as_json: bool) -> Result<()> {
    let watch = match world.desk.actions.add_watch(COMMAND_LINE, query, to, &random_secret()?).await {
        Ok(watch) => watch,
        Err(WatchError::Refused(why)) => return Err(usage(printable(&why, REFUSAL))),
        Err(WatchError::Stage(error)) => return Err(explain(error)),
    };
    if as_json {
        return output::json(&watch);
    }
    output::line(format!("{}: new matches are posted to {} after each publication", watch.name, watch.to))?;
    output::line(format!("secret that signs the deliveries: {}", watch.secret.unwrap_or_default()))
}

async fn list(world: &World, as_json: bool) -> Result<()> {
    let all = world.desk.watches.list().await.map_err(explain)?;
    // A secret is shown only once, when its watch is added.
    let all: Vec<Watch> = all.into_iter().map(|watch| Watch { secret: None, ..watch }).collect();
    output::list(as_json, &all, "There are no watches.", line)
}

fn line(watch: &Watch) -> String {
    let receiver = &watch.receiver;
    let state = match (receiver.given_up, receiver.retry_at, &receiver.error) {
        (true, _, Some(error)) => format!("given up: {error}; `curlew redrive` retries"),
        (false, Some(at), Some(error)) => format!("{error}; next attempt at {}", output::when(at)),
        _ => receiver.delivered_at.map_or("nothing yet".to_owned(), |at| format!("last at {}", output::when(at))),
    };
    let (query, to) = (printable(&watch.query, QUERY), printable(&watch.to, ADDRESS));
    format!("{}  {query}  {to}  {} delivered, {}", watch.name, receiver.delivered, printable(&state, ADDRESS))
}
