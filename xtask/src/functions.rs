//! Builds the functions, and the programs that are tested with them.
//!
//! Tests run programs that are compiled in the tests' profile, so that each crate is compiled once ([`build`]).
//! Measurements use programs as they are deployed: built by `sam build` in release for AWS Lambda ([`release`]).

use crate::run::{cargo, emptied, output, program, root, run, target};
use crate::tools;
use anyhow::{Context, Result, bail};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The template of the whole application.
pub(crate) const TEMPLATE: &str = "infra/template.yaml";
/// The templates of the nested stacks: monitoring, and the scaling of a table.
pub(crate) const NESTED: [&str; 2] = ["infra/watch.yaml", "infra/scaling.yaml"];
/// The template of a separate stack: a domain for the search page.
pub(crate) const BESIDE: &str = "infra/domain.yaml";
/// Prefix of the names of the functions' packages, and the folder of their sources.
const FUNCTION: (&str, &str) = ("curlew-fn-", "functions");
/// The other programs, named like their packages.
const PROGRAMS: [&str; 2] = ["curlew", "curlew-fixtureweb"];
/// Cargo features of these programs: tests also use `curlew` on a stack, and read its Parquet files.
pub(crate) const FEATURES: &str = "curlew/aws,curlew/parquet";
/// The architecture that the emulator can run.
const ARCHITECTURE: &str = "x86_64";
/// Maximum size of a function's zip, in bytes: larger functions start more slowly.
const MOST_BYTES: u64 = 12 * 1024 * 1024;
/// The function that contains the model runtime, and the maximum size of its zip, in bytes.
const WITH_MODELS: (&str, u64) = ("extract", 14 * 1024 * 1024);

/// Result of a build in the profile of the tests.
pub(crate) struct Built {
    /// The folder that holds the template to deploy.
    pub(crate) stack: PathBuf,
    /// The folder with the programs.
    pub(crate) programs: PathBuf,
}

/// Builds the functions and programs in the profile of the tests. The stack is the template with a zip for each
/// function, which `sam deploy` uploads unchanged.
pub(crate) fn build() -> Result<Built> {
    // Build tests, too, some of which the next command runs: without them, dependencies would have other features.
    let programs = build_programs("--all-targets")?;
    let built = target()?.join("debug");
    let stack = emptied("stack")?;
    let mut template = read(TEMPLATE)?;
    for name in names()? {
        let bootstrap = stack.join("bootstrap");
        // The emulator unpacks the program for each process that it starts, so make it small.
        run(program("strip").arg("-o").arg(&bootstrap).arg(built.join(format!("{}{name}", FUNCTION.0))))?;
        zip(&bootstrap, &stack.join(format!("{name}.zip")), 1)?;
        fs::remove_file(&bootstrap)?;
        let (folder, zip) = (format!("CodeUri: ../{}/{name}\n", FUNCTION.1), format!("CodeUri: ./{name}.zip\n"));
        if template.matches(&folder).count() != 1 {
            bail!("{TEMPLATE} does not name the folder of {name} once");
        }
        template = template.replace(&folder, &zip);
    }
    fs::write(stack.join("template.yaml"), template)?;
    for nested in NESTED {
        let name = Path::new(nested).file_name().context("a template has a name")?;
        fs::write(stack.join(name), read(nested)?)?;
    }
    Ok(Built { stack, programs })
}

/// Builds `targets` of all crates in the profile of the tests: `--bins`, or `--all-targets` for tests and examples,
/// too. Copies the programs that are not functions to a folder where no later build replaces them. Returns that folder.
pub(crate) fn build_programs(targets: &str) -> Result<PathBuf> {
    run(cargo().args(["build", "--workspace", targets, "--locked", "--features", FEATURES]))?;
    let (built, folder) = (target()?.join("debug"), emptied("programs")?);
    for name in PROGRAMS {
        let (built, copy) = (built.join(name), folder.join(name));
        fs::copy(&built, &copy).with_context(|| format!("{} cannot be copied", built.display()))?;
    }
    Ok(folder)
}

/// Builds the functions as they are deployed, and checks each zip against its size limit. Returns the folder with the
/// template to deploy.
pub(crate) fn release() -> Result<PathBuf> {
    let stack = target()?.join("sam");
    let architecture = format!("Architecture={ARCHITECTURE}");
    run(with_cargo_lambda(&mut sam()?)?
        .args(["build", "--template-file", TEMPLATE, "--parameter-overrides", &architecture, "--build-dir"])
        .arg(&stack))?;
    let zips = emptied("zips")?;
    let mut too_large = Vec::new();
    for name in names()? {
        let mut logical: String = name.clone();
        logical[..1].make_ascii_uppercase();
        let archive = zips.join(format!("{name}.zip"));
        zip(&stack.join(format!("{logical}Function/bootstrap")), &archive, 6)?;
        let bytes = fs::metadata(&archive)?.len();
        eprintln!("xtask: the zip of {name} has {bytes} bytes");
        let most = if name == WITH_MODELS.0 { WITH_MODELS.1 } else { MOST_BYTES };
        if bytes > most {
            too_large.push(format!("{name} ({most})"));
        }
    }
    if !too_large.is_empty() {
        bail!("zips have more bytes than they may have: {}", too_large.join(", "));
    }
    Ok(stack)
}

/// Returns the names of the functions, which are the names of their folders.
fn names() -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(root().join(FUNCTION.1))? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

/// Writes a zip of one program, as SAM does.
fn zip(bootstrap: &Path, archive: &Path, level: u8) -> Result<()> {
    const SCRIPT: &str = "import sys, zipfile
with zipfile.ZipFile(sys.argv[2], 'w', zipfile.ZIP_DEFLATED, compresslevel=int(sys.argv[3])) as archive:
    archive.write(sys.argv[1], 'bootstrap')";
    let mut python = program("python3");
    output(python.args(["-c", SCRIPT]).arg(bootstrap).arg(archive).arg(level.to_string())).map(drop)
}

fn read(path: &str) -> Result<String> {
    fs::read_to_string(root().join(path)).with_context(|| format!("{path} cannot be read"))
}

/// Returns the command `sam`, with telemetry off.
pub(crate) fn sam() -> Result<Command> {
    let mut command = program(tools::sam()?);
    command.env("SAM_CLI_TELEMETRY", "0").env("AWS_DEFAULT_REGION", crate::emulator::REGION);
    Ok(command)
}

/// Puts the folder of cargo-lambda and of the Python that has its zig first on the `PATH`.
pub(crate) fn with_cargo_lambda(command: &mut Command) -> Result<&mut Command> {
    let tool = tools::cargo_lambda()?;
    let folder = tool.parent().context("cargo-lambda lies in a folder")?.to_owned();
    let path: OsString = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(folder).chain(std::env::split_paths(&path)));
    Ok(command.env("PATH", path.context("PATH has a quote in it")?))
}
