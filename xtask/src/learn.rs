//! `cargo xtask learn PATH`: trains the model that classifies blocks on labelled pages, and writes it with its figures.
//!
//! PATH is a folder with `extraction/pages.jsonl.gz`, `wcxb/pages-*.jsonl.xz` and `reported/*.jsonl`. The pages belong
//! to others and stay outside of this repository; `xtask/learn/learn.py` documents how they are split and labelled.

use crate::run::{cargo, emptied, program, root, run, target};
use crate::tools;
use anyhow::{Result, bail};

pub(crate) fn learn(words: &[String]) -> Result<()> {
    let [path] = words else { bail!("say where the pages are: cargo xtask learn PATH") };
    run(cargo().args(["build", "--release", "--locked", "-p", "curlew-article", "--example", "blocks"]))?;
    let blocks = target()?.join("release/examples/blocks");
    let model = root().join("shared/article/src/learned/model.bin");
    let script = root().join("xtask/learn/learn.py");
    run(program(tools::lightgbm()?).arg(script).arg(root().join(path)).arg(blocks).arg(model).arg(emptied("learn")?))
}
