//! Examination of a store: is it well, and if not, what is to be done?
//!
//! Adapters gather [`facts`]: `over_ports` what the ports tell of any store, `stack` what only AWS tells. The checks
//! are pure functions from these facts to [`finding`]s, in `checks` and, of a stack alone, in `deployment`. So each
//! check goes on when another one fails, and a fact that is not known is a finding itself.

mod checks;
mod deployment;
pub(crate) mod facts;
pub(crate) mod finding;
pub(crate) mod over_ports;
#[cfg(feature = "aws")]
pub(crate) mod stack;

use anyhow::Result;
use curlew_app::Settings as Config;
use curlew_model::Timestamp;
use facts::Facts;
use finding::{Finding, Level};

/// Name of the check that tells of missing rights, whoever finds them.
const RIGHTS: &str = "rights";

/// A check: its name, and its judgement of the facts; none if it has nothing to judge.
type NamedCheck = (&'static str, fn(&Facts) -> Vec<Finding>);

/// All checks, in the order in which they are shown.
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

/// Gathers the facts about a stack, with the credentials and the region of the environment.
///
/// # Errors
/// If the program cannot be put together.
#[cfg(feature = "aws")]
pub(crate) async fn of_stack(name: &str, program: String, config: Config, now: Timestamp) -> Result<Facts> {
    // Boxed, since the future is large.
    Box::pin(stack::gather(name, program, config, now)).await
}

/// Refuses to examine a stack: this build has no store for one.
#[cfg(not(feature = "aws"))]
pub(crate) async fn of_stack(_: &str, _: String, _: Config, _: Timestamp) -> Result<Facts> {
    Err(crate::optional::missing("--aws", "aws"))
}

/// Returns what all checks find.
pub(crate) fn examine(facts: &Facts) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    for (name, check) in CHECKS {
        for finding in check(facts) {
            let finding = Finding { check: if finding.misses_right { RIGHTS } else { name }, ..finding };
            // Several checks may miss one right.
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
