//! The functions, built as they are deployed: release binaries for AWS Lambda's machines, beside the template. And with them
//! the programs that tests run in release: one build for all, since another linker would mean to compile everything twice.

use crate::run::{cargo, program, run};
use crate::test::target;
use crate::tools;
use anyhow::{Context, Result};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

/// The template of the whole application.
pub(crate) const TEMPLATE: &str = "infra/template.yaml";
/// What watches it: a stack inside that stack.
pub(crate) const WATCH: &str = "infra/watch.yaml";
/// The packages of the functions.
const FUNCTIONS: &str = "curlew-fn-*";
/// The other programs that are tested in release, named as their packages are.
const PROGRAMS: [&str; 2] = ["curlew", "curlew-fixtureweb"];
/// Their cargo features: the tests work on a stack with `curlew`, too.
const FEATURES: &str = "curlew/aws,curlew/onnx";
/// The architecture that the emulator can run.
const ARCHITECTURE: &str = "x86_64";

/// What was built.
pub(crate) struct Built {
    /// The folder with the built template in it.
    pub(crate) stack: PathBuf,
    /// The folder with the programs.
    pub(crate) programs: PathBuf,
}

/// Builds all of them, the functions by `sam build`.
pub(crate) fn build() -> Result<Built> {
    let stack = target()?.join("sam");
    // All at once first: each package's build, which is what SAM asks for, finds its work done then.
    run(with_cargo_lambda(&mut cargo())?
        .args(["lambda", "build", "--release", "--locked", "--features", FEATURES])
        .args([FUNCTIONS].iter().chain(&PROGRAMS).flat_map(|package| ["--package", *package])))?;
    let architecture = format!("Architecture={ARCHITECTURE}");
    run(with_cargo_lambda(&mut sam()?)?
        .args(["build", "--template-file", TEMPLATE, "--parameter-overrides", &architecture, "--build-dir"])
        .arg(&stack))?;
    Ok(Built { stack, programs: programs()? })
}

/// The programs under their own names: cargo-lambda calls whatever it builds a bootstrap.
fn programs() -> Result<PathBuf> {
    let target = target()?;
    let folder = target.join("programs");
    std::fs::create_dir_all(&folder).with_context(|| format!("{} cannot be made", folder.display()))?;
    for name in PROGRAMS {
        let (built, copy) = (target.join("lambda").join(name).join("bootstrap"), folder.join(name));
        std::fs::copy(&built, &copy).with_context(|| format!("{} cannot be copied", built.display()))?;
    }
    Ok(folder)
}

/// SAM, which tells nobody what it does.
pub(crate) fn sam() -> Result<Command> {
    let mut command = program(tools::sam()?);
    command.env("SAM_CLI_TELEMETRY", "0").env("AWS_DEFAULT_REGION", crate::emulator::REGION);
    Ok(command)
}

/// Puts cargo-lambda, and the Python that has its zig, first on the path.
fn with_cargo_lambda(command: &mut Command) -> Result<&mut Command> {
    Ok(command.env("PATH", path_with_cargo_lambda()?))
}

/// The path with cargo-lambda's folder before all others.
pub(crate) fn path_with_cargo_lambda() -> Result<OsString> {
    let tool = tools::cargo_lambda()?;
    let folder = tool.parent().context("cargo-lambda lies in a folder")?.to_owned();
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths(std::iter::once(folder).chain(std::env::split_paths(&path))).context("PATH has a quote in it")
}
