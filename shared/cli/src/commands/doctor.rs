//! `curlew doctor`: examines a store and what works on it, and says what to do.

use super::Place;
use crate::doctor::facts::{Facts, MissingFact};
use crate::doctor::finding::Level;
use crate::doctor::{examine, of_stack, over_ports};
use crate::output::{self, count};
use crate::world::World;
use anyhow::{Result, bail};
use curlew_app::{BadSettings, Flags, Settings as Config, SystemClock};
use curlew_embedded::Access;
use curlew_ports::Clock as _;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Examines the store of this machine, or a stack. `loaded` are the settings of this run, or what is wrong with them;
/// then `data` is the store's folder, if a flag names it.
pub(crate) async fn run(
    loaded: Result<Config, BadSettings>,
    data: Option<PathBuf>,
    place: &Place,
    json: bool,
) -> Result<()> {
    let facts = match place {
        Place::Here => here(loaded, data, place.program()).await?,
        Place::Stack(name) => {
            // The settings of the stack are those in its bucket.
            let config = loaded.or_else(|_| defaults(None))?;
            of_stack(name, place.program(), config, SystemClock::new().now()).await?
        }
    };
    let findings = examine(&facts);
    let failed = findings.iter().filter(|finding| finding.level == Level::Failed).count();
    if json {
        let checks: Vec<Value> = findings.iter().map(|finding| finding.json()).collect();
        output::json(&json!({"ok": failed == 0, "checks": checks}))?;
    } else {
        for finding in &findings {
            output::line(&output::printable(&finding.line(), usize::MAX))?;
        }
    }
    if failed > 0 {
        bail!("{} failed: the lines above say what to do", count(failed as u64, "check"));
    }
    Ok(())
}

fn defaults(data: Option<PathBuf>) -> Result<Config, BadSettings> {
    Config::load(&Flags { data, ..Flags::default() }, std::iter::empty())
}

/// Gathers the facts about the store of this machine.
async fn here(loaded: Result<Config, BadSettings>, data: Option<PathBuf>, program: String) -> Result<Facts> {
    let now = SystemClock::new().now();
    let facts = |store| Facts::new(now, false, program, store);
    let settings = Some(Ok(loaded.as_ref().map(over_ports::stated).map_err(ToString::to_string)));
    if loaded.is_err() && data.is_none() {
        let why = "the settings say where it is, and cannot be used; --data DIR names it";
        return Ok(Facts { settings, ..facts(Err(MissingFact::Failed(why.to_owned()))) });
    }
    let config = loaded.or_else(|_| defaults(data))?;
    let folder = config.data.display().to_string();
    let world = match World::open(config, Access::Shared) {
        Ok(world) => world,
        Err(error) => return Ok(Facts { settings, ..facts(Err(MissingFact::Failed(format!("{error:#}")))) }),
    };
    let mut facts = Facts { settings, ..facts(Ok(format!("the store in {folder} can be opened"))) };
    over_ports::rows(&world, &mut facts).await;
    over_ports::objects(&world, &mut facts).await;
    Ok(facts)
}
