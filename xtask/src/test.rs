//! `cargo xtask test`: runs the everyday tests. `cargo xtask nightly`: runs the nightly checks.

use crate::bench;
use crate::dist;
use crate::emulator::{Emulator, REGION};
use crate::functions::{self, Built};
use crate::fuzz;
use crate::lint;
use crate::run::{cargo, emptied, output, program, run, target};
use crate::tools;
use crate::wheel;
use anyhow::{Context, Result, anyhow, bail};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The account of tests that name none: the emulator treats an access key of twelve digits as an account id.
const ACCOUNT: &str = "000000000001";

/// nextest's filter for the end-to-end tests.
const END_TO_END: &str = "binary_id(curlew-tests::it)";
/// Number of concurrent end-to-end tests: they mostly wait for pauses, browsers and the emulator.
const END_TO_END_THREADS: &str = "5";
/// Number of concurrent other tests while end-to-end tests run.
const OTHER_THREADS: &str = "3";
/// Makes glibc keep freed memory, in bytes. Publishing a small index allocates and frees megabytes, and on some virtual
/// machines new pages of memory take longer than the publishing.
const KEPT_MEMORY: [(&str, &str); 2] =
    [("MALLOC_TRIM_THRESHOLD_", "268435456"), ("MALLOC_MMAP_THRESHOLD_", "33554432")];

/// Runs the everyday tests; with `--and-lint` as the only argument, also all checks of `lint` except clippy.
///
/// Installs the tools of the tests and runs the checks while the programs are compiled.
pub(crate) fn test(args: &[String]) -> Result<()> {
    let (and_lint, args) = match args {
        [only] if only == "--and-lint" => (true, &[][..]),
        _ => (false, args),
    };
    let (built, needs) = std::thread::scope(|scope| {
        let needs = scope.spawn(|| {
            if and_lint {
                lint::lint(false)?;
            }
            Needs::installed()
        });
        (functions::build(), needs.join())
    });
    let (built, needs) = (built?, needs.map_err(|_| anyhow!("the thread that installs tools has panicked"))??);
    none_ignored(&needs.nextest)?;
    if !args.is_empty() {
        let emulator = needs.emulator()?;
        return run(needs.nextest("env", &built, &emulator).args(args));
    }
    // nextest does not run doc tests.
    run(cargo().args(["test", "--doc", "--workspace", "--locked", "--features", functions::FEATURES]))?;
    // The program as most people build it, without cargo features.
    run(cargo().args(["test", "--workspace", "--locked", "--test", "features"]))?;
    all_tests(&needs, &built)
}

/// Runs the end-to-end tests and, at the same time, all others, which use the processor while those wait.
fn all_tests(needs: &Needs, built: &Built) -> Result<()> {
    let emulator = needs.emulator()?;
    let log = emptied("tests")?.join("others.log");
    let file = File::create(&log).with_context(|| format!("{} cannot be written", log.display()))?;
    let mut others = needs.nextest("nice", built, &emulator);
    others.args(["-E", &format!("not {END_TO_END}"), "--test-threads", OTHER_THREADS]).envs(KEPT_MEMORY);
    eprintln!(
        "xtask: all tests but the end-to-end tests run meanwhile; what they print follows from {}",
        log.display()
    );
    let mut others = others.stdout(file.try_clone()?).stderr(file).spawn().context("nice cannot be started")?;
    let end_to_end = ["-E", END_TO_END, "--test-threads", END_TO_END_THREADS];
    let ended = run(needs.nextest("env", built, &emulator).args(end_to_end));
    let others = others.wait()?;
    eprint!("{}", String::from_utf8_lossy(&std::fs::read(&log)?));
    if !others.success() {
        bail!("tests other than the end-to-end tests failed: {others}");
    }
    ended
}

/// Number of seeds that the simulator tries at night.
const NIGHTLY_SEEDS: &str = "5000";

/// Runs the nightly checks: the tests of the profile `nightly`, publishing of the libraries without the upload, the
/// wheel of the extractor, each fuzz target for a minute, and the benches of a crawl against the program of the last
/// version.
pub(crate) fn nightly() -> Result<()> {
    let (built, needs) = (functions::build()?, Needs::installed()?);
    let packages = dist::for_tests(&built.programs.join("curlew"))?;
    let emulator = needs.emulator()?;
    run(needs
        .nextest("env", &built, &emulator)
        .args(["--profile", "nightly"])
        .env("CURLEW_PACKAGES", packages)
        .env("CURLEW_SIM_SEEDS", NIGHTLY_SEEDS))?;
    drop(emulator);
    lint::publish_in_trial()?;
    wheel::wheel(&[])?;
    fuzz::fuzz(&[])?;
    let words = ["--against", &bench::last_version()?, "pages", "sites"].map(str::to_owned);
    bench::bench(&words)
}

/// All tools that the tests need.
struct Needs {
    nextest: PathBuf,
    ministack: PathBuf,
    /// The other tools, by the environment variables in which the tests look for them.
    variables: Vec<(&'static str, PathBuf)>,
}

impl Needs {
    /// Finds the tools, and installs those that are missing.
    fn installed() -> Result<Needs> {
        let ministack = tools::ministack()?;
        let variables = vec![
            ("SYSTEMD_ANALYZE", tools::systemd_analyze()?),
            ("NGINX", tools::nginx()?),
            ("CADDY", tools::caddy()?),
            ("OPENSSL", tools::openssl()?),
            ("PROMTOOL", tools::promtool()?),
            ("CURLEW_OPENMETRICS", tools::openmetrics()?),
            ("CHROMIUM", tools::chromium()?),
            ("CHROMEDRIVER", tools::chromedriver()?),
            ("CURLEW_AXE", tools::axe()?),
            ("CURLEW_DUCKDB_PYTHON", tools::duckdb()?),
            ("CURLEW_MCP_PYTHON", tools::mcp()?),
            ("CURLEW_OSMEM", tools::osmem()?),
            ("WARCIO", tools::warcio()?),
            ("CURLEW_OPEN_NSFW_PYTHON", tools::open_nsfw_python()?),
            ("CURLEW_OPEN_NSFW_WHEEL", tools::open_nsfw_wheel()?),
            ("CURLEW_MINISTACK", ministack.clone()),
            ("CURLEW_SAM", tools::sam()?),
        ];
        Ok(Needs { nextest: tools::cargo_nextest()?, ministack, variables })
    }

    /// Starts the AWS emulator.
    fn emulator(&self) -> Result<Emulator> {
        Emulator::start(&self.ministack, &target()?.join("ministack"))
    }

    /// Returns a command that runs the tests of all crates through `runner`: `env`, or `nice` for low priority.
    fn nextest(&self, runner: &str, built: &Built, emulator: &Emulator) -> Command {
        let mut command = program(runner);
        command
            .arg(&self.nextest)
            .args(["nextest", "run", "--workspace", "--locked", "--no-tests=fail", "--features", functions::FEATURES])
            .envs(self.variables.iter().map(|(name, path)| (name, path)))
            .env("CURLEW_BIN", built.programs.join("curlew"))
            .env("CURLEW_FIXTUREWEB_BIN", built.programs.join("curlew-fixtureweb"))
            .env("CURLEW_FUNCTIONS", &built.stack)
            .env("AWS_ENDPOINT_URL", emulator.url())
            .env("AWS_ACCESS_KEY_ID", ACCOUNT)
            .env("AWS_SECRET_ACCESS_KEY", "test")
            .env("AWS_REGION", REGION)
            .env("AWS_DEFAULT_REGION", REGION);
        command
    }
}

/// Fails if a test is ignored: tests must run, or be removed.
fn none_ignored(nextest: &Path) -> Result<()> {
    let list = ["nextest", "list", "--workspace", "--locked", "--features", functions::FEATURES];
    let list = [&list[..], &["--message-format", "oneline", "--run-ignored", "only"]].concat();
    eprintln!("xtask: cargo-{}", list.join(" "));
    let ignored = output(program(nextest).args(list))?;
    if !ignored.trim().is_empty() {
        bail!("these tests are marked #[ignore]; none may be:\n{}", ignored.trim_end());
    }
    Ok(())
}
