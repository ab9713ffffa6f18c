//! `cargo xtask wheel [PATH]`: builds the extractor for Python (contrib/python), and compares it with trafilatura in
//! one process. PATH is a folder with `extraction/pages.jsonl.gz`; without it, one page is extracted to check that the
//! wheel works.

use crate::run::{emptied, output, program, root, run, target};
use crate::tools;
use anyhow::{Context, Result, bail};

pub(crate) fn wheel(words: &[String]) -> Result<()> {
    let pages = match words {
        [] => None,
        [path] => Some(root().join(path).join("extraction/pages.jsonl.gz")),
        _ => bail!("say where the pages are: cargo xtask wheel PATH"),
    };
    let (built, python) = (emptied("wheel")?, tools::trafilatura()?);
    let project = root().join("contrib/python");
    let build = ["build", "--release", "--locked", "--out"];
    let compiled = target()?.join("wheel-build");
    run(program(tools::maturin()?).args(build).arg(&built).env("CARGO_TARGET_DIR", compiled).current_dir(&project))?;
    let wheel = std::fs::read_dir(&built)?.next().context("maturin made no wheel")??.path();
    let installed = emptied("wheel-installed")?;
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-index", "--target"];
    run(program(&python).args(pip).arg(&installed).arg(wheel))?;
    let script = root().join("xtask/wheel/compare.py");
    let said = output(program(python).arg(script).args(pages).env("PYTHONPATH", installed))?;
    eprintln!("xtask: {}", said.trim());
    Ok(())
}
