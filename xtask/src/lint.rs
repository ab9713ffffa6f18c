//! `cargo xtask lint`: formatting, clippy, the rules for dependencies.

use crate::run::{cargo, output, program, run};
use crate::tools;
use anyhow::Result;
use std::path::Path;

pub(crate) fn lint() -> Result<()> {
    run(cargo().args(["fmt", "--all", "--check"]))?;
    run(cargo().args(["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"]))?;
    let deny = tools::cargo_deny()?;
    // Their rules need nothing but the lock file and the sources that cargo has fetched already.
    run(program(&deny).args(["--locked", "check", "--hide-inclusion-graph", "bans", "licenses", "sources"]))?;
    let advisories = advisories(&deny)?;
    eprintln!("xtask: lint passed: formatting, clippy, bans, licenses, sources{}", advisories.said());
    Ok(())
}

/// Whether the dependencies were held against the advisory database.
enum Advisories {
    Checked,
    NotChecked,
}

impl Advisories {
    fn said(&self) -> &'static str {
        match self {
            Advisories::Checked => ", advisories",
            Advisories::NotChecked => "; ADVISORIES WERE NOT CHECKED, see above",
        }
    }
}

/// The database is a git repository and no package: some machines cannot have it. This one step may then be left out,
/// and says so; the versions that are known to be bad are in the bans as well.
fn advisories(deny: &Path) -> Result<Advisories> {
    if let Err(error) = output(program(deny).args(["--locked", "fetch", "db"])) {
        eprintln!("xtask: WARNING: {error:#}");
        eprintln!("xtask: WARNING: the advisory database cannot be fetched here, so ADVISORIES ARE NOT CHECKED.");
        eprintln!("xtask: WARNING: run `cargo deny check advisories` on a machine that can fetch it before a release.");
        return Ok(Advisories::NotChecked);
    }
    run(program(deny).args(["--locked", "check", "--hide-inclusion-graph", "advisories"]))?;
    Ok(Advisories::Checked)
}
