//! `cargo xtask lint`: checks formatting, clippy, dependencies, templates and documentation.

use crate::docs::docs;
use crate::functions::{BESIDE, NESTED, TEMPLATE, sam};
use crate::run::{cargo, emptied, output, program, root, run};
use crate::tools;
use anyhow::{Result, bail};
use std::fs;
use std::path::Path;

/// Crates that other programs may use: the robots.txt matcher, the feed parser, the article extractor, and the crates
/// that these import.
const LIBRARIES: [&str; 6] =
    ["curlew-model", "curlew-suffix", "curlew-text", "curlew-policy", "curlew-feed", "curlew-article"];

/// Runs all checks; clippy only if `with_clippy` is set, because `.ci/run` already compiles the crates with clippy.
pub(crate) fn lint(with_clippy: bool) -> Result<()> {
    let mut failed = Vec::new();
    // Each step runs even if an earlier one failed, so that all failures are reported.
    let mut step = |done: Result<()>| failed.extend(done.err().map(|error| format!("{error:#}")));
    step(run(cargo().args(["fmt", "--all", "--check"])));
    if with_clippy {
        let clippy = ["clippy", "--workspace", "--all-targets", "--all-features", "--locked", "--keep-going"];
        step(run(cargo().args(clippy).args(["--", "-D", "warnings"])));
    }
    // SAM checks its resource types, cfn-lint those of CloudFormation: each finds faults that the other misses.
    step(
        tools::cfn_lint()
            .and_then(|cfn_lint| run(program(cfn_lint).args(["--template", TEMPLATE, BESIDE]).args(NESTED))),
    );
    step(gradual());
    step(sam().and_then(|mut sam| run(sam.args(["validate", "--lint", "--template-file", TEMPLATE]))));
    step(docs());
    step(packages());
    let deny = tools::cargo_deny()?;
    // These checks need only the lock file and the sources that cargo has already fetched.
    step(run(program(&deny).args(["--locked", "check", "--hide-inclusion-graph", "bans", "licenses", "sources"])));
    let (advisories, done) = advisories(&deny);
    step(done);
    if failed.is_empty() {
        let clippy = if with_clippy { ", clippy" } else { "" };
        eprintln!(
            "xtask: lint passed: formatting{clippy}, template, documentation, bans, licenses, sources{advisories}"
        );
        return Ok(());
    }
    bail!("lint failed:\n  {}", failed.join("\n  "))
}

/// Checks the template with gradual deployments turned on, for which SAM adds resources.
fn gradual() -> Result<()> {
    const OFF: &str = "  Gradual:\n    Type: String\n    Default: \"false\"\n";
    let folder = emptied("lint")?;
    let template = fs::read_to_string(root().join(TEMPLATE))?;
    if !template.contains(OFF) {
        bail!("{TEMPLATE} has no parameter Gradual that is off by default");
    }
    let file = folder.join("template.yaml");
    fs::write(&file, template.replace(OFF, &OFF.replace("false", "true")))?;
    for nested in NESTED {
        fs::copy(root().join(nested), folder.join(Path::new(nested).file_name().unwrap_or_default()))?;
    }
    // W1001: the alarm `ReleaseErrors` exists only with gradual deployments, and only they use it.
    run(program(tools::cfn_lint()?).args(["--ignore-checks", "W1001", "--template"]).arg(file))
}

/// Packs the libraries, without compiling them again.
fn packages() -> Result<()> {
    // Their dependencies are already fetched.
    let flags = ["package", "--offline", "--locked", "--no-verify", "--allow-dirty", "--quiet"];
    run(cargo().args(flags).args(libraries()))
}

/// Publishes the libraries without the upload: packs them, and compiles each from the packages of the others.
pub(crate) fn publish_in_trial() -> Result<()> {
    run(cargo().args(["publish", "--dry-run", "--locked", "--allow-dirty", "--quiet"]).args(libraries()))
}

fn libraries() -> impl Iterator<Item = &'static str> {
    LIBRARIES.into_iter().flat_map(|library| ["-p", library])
}

/// Checks the dependencies against the advisory database. Returns a note for the summary, and the outcome.
///
/// The database is a git repository, not a package, so some machines cannot fetch it. The check is then skipped with a
/// warning; known bad versions are in the bans as well.
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
