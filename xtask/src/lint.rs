//! `cargo xtask lint`: formatting, clippy, the rules for dependencies, the templates.

use crate::functions::{TEMPLATE, WATCH, sam};
use crate::run::{cargo, output, program, run};
use crate::tools;
use anyhow::{Result, bail};
use std::path::Path;

/// With clippy, unless it looks on while something else is compiled (.ci/run).
pub(crate) fn lint(with_clippy: bool) -> Result<()> {
    let mut failed = Vec::new();
    // Each is run even if one before it failed: who mends wants to see all.
    let mut step = |done: Result<()>| failed.extend(done.err().map(|error| format!("{error:#}")));
    step(run(cargo().args(["fmt", "--all", "--check"])));
    if with_clippy {
        let clippy = ["clippy", "--workspace", "--all-targets", "--all-features", "--locked", "--keep-going"];
        step(run(cargo().args(clippy).args(["--", "-D", "warnings"])));
    }
    // SAM knows what is its own, cfn-lint what is CloudFormation's: each finds what the other overlooks.
    step(tools::cfn_lint().and_then(|cfn_lint| run(program(cfn_lint).args(["--template", TEMPLATE, WATCH]))));
    step(sam().and_then(|mut sam| run(sam.args(["validate", "--lint", "--template-file", TEMPLATE]))));
    let deny = tools::cargo_deny()?;
    // Their rules need nothing but the lock file and the sources that cargo has fetched already.
    step(run(program(&deny).args(["--locked", "check", "--hide-inclusion-graph", "bans", "licenses", "sources"])));
    let (advisories, done) = advisories(&deny);
    step(done);
    if failed.is_empty() {
        let clippy = if with_clippy { ", clippy" } else { "" };
        eprintln!("xtask: lint passed: formatting{clippy}, template, bans, licenses, sources{advisories}");
        return Ok(());
    }
    bail!("lint failed:\n  {}", failed.join("\n  "))
}

/// Holds the dependencies against the advisory database, and gives the words for what was done.
///
/// The database is a git repository and no package: some machines cannot have it. This one step may then be left out,
/// and says so; the versions that are known to be bad are in the bans as well.
fn advisories(deny: &Path) -> (&'static str, Result<()>) {
    if let Err(error) = output(program(deny).args(["--locked", "fetch", "db"])) {
        eprintln!("xtask: WARNING: {error:#}");
        eprintln!("xtask: WARNING: the advisory database cannot be fetched here, so ADVISORIES ARE NOT CHECKED.");
        eprintln!("xtask: WARNING: run `cargo xtask lint` on a machine that can fetch it before a release.");
        return ("; ADVISORIES WERE NOT CHECKED, see above", Ok(()));
    }
    let check = ["--locked", "check", "--hide-inclusion-graph", "advisories"];
    (", advisories", run(program(deny).args(check)))
}
