//! `curlew doctor`: examines a store and its processes, and says what to do.
//!
//! `over_ports` gathers [`facts`] about any store, and `stack` those about a stack. Pure checks judge the facts, so a
//! failed check does not stop the others. An unknown fact is a finding, too.

mod checks;
mod deployment;
mod facts;
mod finding;
mod over_ports;
#[cfg(feature = "aws")]
mod stack;

use crate::commands::Place;
use crate::output::{self, count};
use crate::world::World;
use anyhow::{Result, bail};
use curlew_app::{BadSettings, Flags, Settings as Config, SystemClock};
use curlew_embedded::Access;
use curlew_ports::Clock as _;
use facts::{Facts, MissingFact};
use finding::{Finding, Level};
use over_ports::{objects, rows, stated};
use serde_json::json;
use std::path::PathBuf;

/// Name of the check that reports missing rights, whichever check finds them.
const RIGHTS: &str = "rights";

/// A check: its name, and a function that returns its findings; none if the check does not apply.
type NamedCheck = (&'static str, fn(&Facts) -> Vec<Finding>);

/// All checks, in the order of their output.
const CHECKS: [NamedCheck; 20] = [
    ("store", checks::store),
    (RIGHTS, deployment::rights),
    ("settings", checks::settings),
    ("contact", checks::contact),
    ("paused", checks::paused),
    ("pictures", checks::pictures),
    ("persons", checks::persons),
    ("version", deployment::version),
    ("functions", deployment::functions),
    ("mappings", deployment::mappings),
    ("quota", deployment::quota),
    ("alarms", deployment::alarms),
    ("sites", checks::sites),
    ("clock", checks::clock),
    ("schedule", checks::schedule),
    ("backlog", checks::backlog),
    ("given_up", checks::given_up),
    ("index", checks::index),
    ("messages", checks::messages),
    ("holds", checks::holds),
];

/// Examines a store and prints the findings. If `loaded` is an error, the store is in `data`, if that is given.
pub(crate) async fn run(
    loaded: Result<Config, BadSettings>,
    data: Option<PathBuf>,
    place: Place,
    json: bool,
) -> Result<()> {
    let facts = match &place {
        Place::Here => here(loaded, data, place.program()).await?,
        // A stack's settings are in its bucket. Boxed, because the future is large.
        #[cfg(feature = "aws")]
        Place::Stack(name) => {
            let (config, now) = (loaded.or_else(|_| defaults(None))?, SystemClock::new().now());
            Box::pin(stack::gather(name, place.program(), config, now)).await?
        }
        #[cfg(not(feature = "aws"))]
        Place::Stack(_) => return Err(crate::optional::missing("--aws", "aws")),
    };
    let findings = examine(&facts);
    let failed = findings.iter().filter(|finding| finding.level == Level::Failed).count();
    if json {
        output::json(&json!({"ok": failed == 0, "checks": findings}))?;
    } else {
        findings.iter().try_for_each(|finding| output::line(output::printable(&finding.line(), usize::MAX)))?;
    }
    if failed > 0 {
        bail!("{} failed: the lines above say what to do", count(failed as u64, "check"));
    }
    Ok(())
}

fn defaults(data: Option<PathBuf>) -> Result<Config, BadSettings> {
    Config::load(&Flags { data, ..Flags::default() }, std::iter::empty())
}

async fn here(loaded: Result<Config, BadSettings>, data: Option<PathBuf>, program: String) -> Result<Facts> {
    let now = SystemClock::new().now();
    let facts = |store| Facts::new(now, false, program, store);
    let settings = Some(Ok(loaded.as_ref().map(stated).map_err(ToString::to_string)));
    if loaded.is_err() && data.is_none() {
        let why = "the settings, which name it, cannot be used; name it with --data DIR";
        return Ok(Facts { settings, ..facts(Err(MissingFact::Failed(why.to_owned()))) });
    }
    let config = loaded.or_else(|_| defaults(data))?;
    let folder = config.data.display().to_string();
    let world = match World::open(config, Access::Shared) {
        Ok(world) => world,
        Err(error) => return Ok(Facts { settings, ..facts(Err(MissingFact::Failed(format!("{error:#}")))) }),
    };
    let mut facts = Facts { settings, ..facts(Ok(format!("the store in {folder} can be opened"))) };
    rows(&world, &mut facts).await;
    objects(&world, &mut facts).await;
    Ok(facts)
}

/// Returns the findings of all checks in the order of [`CHECKS`]; those about rights belong to [`RIGHTS`].
fn examine(facts: &Facts) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    for (name, check) in CHECKS {
        for finding in check(facts) {
            let finding = Finding { check: if finding.misses_right { RIGHTS } else { name }, ..finding };
            // Several checks may need the same right.
            if !findings.contains(&finding) {
                findings.push(finding);
            }
        }
    }
    let misses_rights = findings.iter().any(|finding| finding.misses_right);
    findings.retain(|finding| !(misses_rights && finding.check == RIGHTS && finding.level == Level::Ok));
    findings.sort_by_key(|finding| CHECKS.iter().position(|(name, _)| *name == finding.check));
    findings
}

#[cfg(test)]
mod tests;
