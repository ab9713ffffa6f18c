//! `curlew audit`: what was removed, when and why.

use crate::args::{ListArgs, ListWhat};
use crate::output::{self, shown};
use crate::world::World;
use anyhow::{Result, bail};
use serde_json::Value;

/// Lines read at a time.
const LIST: usize = 500;
/// Where audit lines are kept.
const PREFIX: &str = "audit/";
/// Characters of an address in a line for people.
const ADDRESS: usize = 90;

pub(super) async fn run(world: &World, args: &ListArgs) -> Result<()> {
    let wanted = match &args.what {
        Some(ListWhat::Show { key }) => Some(key.as_str()),
        _ => None,
    };
    let mut found = false;
    let mut after: Option<String> = None;
    loop {
        let keys = world.ports.blobs.list(PREFIX, after.as_deref(), LIST).await?;
        let Some(last) = keys.last() else { break };
        after = Some(last.clone());
        for key in &keys {
            let Some(blob) = world.ports.blobs.get(key).await? else { continue };
            let line: Value = serde_json::from_slice(&blob.bytes)?;
            let text = |name: &str| line[name].as_str().unwrap_or_default().to_owned();
            if wanted.is_some_and(|w| w != text("page") && w != text("url")) {
                continue;
            }
            found = true;
            if args.json {
                output::json(&line)?;
            } else {
                output::line(&format!(
                    "{}  {}  {}  {}",
                    text("at"),
                    text("what"),
                    text("reason"),
                    shown(&text("url"), ADDRESS)
                ))?;
            }
        }
    }
    match wanted {
        Some(key) if !found => bail!("the audit has no line about '{}'", shown(key, ADDRESS)),
        _ => Ok(()),
    }
}
