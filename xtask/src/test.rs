//! `cargo xtask test`: every test there is.

use crate::run::{cargo, output, program, root, run};
use crate::tools;
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};

pub(crate) fn test(args: &[String]) -> Result<()> {
    let nextest = tools::cargo_nextest()?;
    let (chromium, chromedriver) = (tools::chromium()?, tools::chromedriver()?);
    run(cargo().args(["build", "--release", "--locked", "-p", "curlew", "-p", "curlew-fixtureweb"]))?;
    let built = target()?.join("release");

    none_ignored(&nextest)?;
    // Before the others, so that the closing line is the one of nextest, which counts nearly all.
    run(cargo().args(["test", "--doc", "--workspace", "--locked"]))?;
    run(program(&nextest)
        .args(["nextest", "run", "--workspace", "--locked", "--no-tests=fail"])
        .args(args)
        .env("CURLEW_BIN", built.join("curlew"))
        .env("CURLEW_FIXTUREWEB_BIN", built.join("curlew-fixtureweb"))
        .env("CHROMIUM", chromium)
        .env("CHROMEDRIVER", chromedriver))
}

/// A test that is ignored is a test that is not there: it is run, or removed.
fn none_ignored(nextest: &Path) -> Result<()> {
    let list = ["nextest", "list", "--workspace", "--locked", "--message-format", "oneline", "--run-ignored", "only"];
    eprintln!("xtask: cargo-{}", list.join(" "));
    let ignored = output(program(nextest).args(list))?;
    if !ignored.trim().is_empty() {
        bail!("these tests are marked #[ignore]; none may be:\n{}", ignored.trim_end());
    }
    Ok(())
}

/// The folder that cargo builds into.
pub(crate) fn target() -> Result<PathBuf> {
    let metadata = output(cargo().args(["metadata", "--no-deps", "--format-version", "1", "--locked"]))?;
    let (_, rest) =
        metadata.split_once("\"target_directory\":\"").context("cargo metadata names no target directory")?;
    let (path, _) = rest.split_once('"').context("cargo metadata names no target directory")?;
    Ok(root().join(path))
}
