//! The index: searches 100,000 short and 10,000 long records, made of the fixture web's texts, warm and cold, and in
//! the same run uses tantivy directly. Also compares the quality of the ranking with other engines, by kind of query
//! and by language.

use super::table::Table;
use super::{Bench, process};
use crate::run::{cargo, output, program, root, run, target};
use crate::tools;
use anyhow::{Context, Result};
use serde_json::Value;
use std::fs::{self, File};
use std::process::Command;

/// Number of articles, which is enough for ten thousand records of 35 KB.
const TEXTS: usize = 210_000;
/// The script that runs the other engines.
pub(super) const PEERS: &str = "xtask/src/bench/peers.py";
/// Bars: microseconds of processor time per short record, milliseconds per query, reads per split, bytes of the index
/// per byte of text (short records also have their URLs and names).
const RECORD_US: f64 = 200.0;
const WARM_MS: f64 = 10.0;
const COLD_MS: f64 = 150.0;
const READS: f64 = 12.0;
const OF_TEXT: f64 = 0.5;
const OF_SHORT_TEXT: f64 = 0.6;
/// Bars: nDCG@10 of the queries of words, its lead over the best peer for the queries of habits, and the share of
/// queries without any result although each word is in some page.
const WORDS: f64 = 0.973;
const AHEAD: f64 = 0.02;
const NOTHING: f64 = 0.03;
/// Bar: 95th percentile of the processor time of a query with a misspelled word, in milliseconds.
const TYPO_MS: f64 = 20.0;
/// Languages with separate documents and queries, all in one index.
const LANGUAGES: [&str; 8] = ["ar", "de", "en", "fr", "it", "ja", "th", "zh"];

pub(crate) fn measure(bench: &Bench, table: &mut Table) -> Result<()> {
    run(cargo().args(["build", "--release", "--locked", "-p", "curlew-search", "--example", "bench_search"]))?;
    let texts = File::create(bench.folder.join("texts.jsonl")).context("texts.jsonl cannot be written")?;
    run(program(&bench.fixtureweb).args(["--texts", &TEXTS.to_string()]).stdout(texts))?;
    example(bench, "judge")?;
    ask_peers(bench)?;
    let ranks = example(bench, "rank")?;
    ranking(&ranks, table)?;
    languages(&ranks, table)?;
    speed(&example(bench, "speed")?, table);
    Ok(())
}

/// Runs a part of the example. Returns the figures that it prints.
fn example(bench: &Bench, what: &str) -> Result<Value> {
    let mut command = Command::new(target()?.join("release/examples/bench_search"));
    command.arg(what).arg(&bench.folder);
    let used = process::measure(command, None)?;
    serde_json::from_str(&used.stdout).context("the example prints no figures")
}

/// Writes the answers of each other engine to the folder. Fails if one is missing: without it the figures mislead.
fn ask_peers(bench: &Bench) -> Result<()> {
    let debian = tools::xapian().context("the peers xapian and fts5 cannot be asked")?;
    let wheels = tools::bm25s().context("the peer bm25s cannot be asked")?;
    for (peer, python) in [("fts5-or", &debian), ("fts5-and", &debian), ("xapian", &debian), ("bm25s", &wheels)] {
        eprintln!("xtask: {peer}");
        let [docs, queries] = ["docs.jsonl", "queries.jsonl"].map(|name| bench.folder.join(name));
        let ranks = output(program(python).arg(root().join(PEERS)).args([docs, queries]).arg(peer))?;
        fs::write(bench.folder.join(format!("{peer}.ranks.jsonl")), ranks)?;
    }
    Ok(())
}

fn ranking(told: &Value, table: &mut Table) -> Result<()> {
    for set in ["words", "habits"] {
        let kinds = told[set].as_object().with_context(|| format!("no figures of {set}"))?;
        let engines = kinds["all"].as_object().with_context(|| format!("no figures of {set}"))?;
        let score = |kind: &str, engine: &str| number(&told[set], &format!("/{kind}/{engine}/ndcg"));
        let ours = score("all", "curlew");
        let count = number(&told[set], "/all/curlew/queries");
        let what = format!("nDCG@10 of {count} queries of {set}");
        match set {
            "words" => table.at_least(&what, ours, "", WORDS),
            _ => table.figure(&what, ours, ""),
        }
        let peers = || engines.keys().filter(|engine| *engine != "curlew");
        for peer in peers() {
            table.figure(format!("the same, {peer}"), score("all", peer), "");
        }
        let best =
            peers().max_by(|a, b| score("all", a).total_cmp(&score("all", b))).context("no peer has answered")?;
        if set == "habits" {
            table.at_least(format!("the same, ahead of {best}"), ours - score("all", best), "", AHEAD);
            for kind in kinds.keys().filter(|kind| !["all", "known"].contains(&kind.as_str())) {
                table.figure(format!("{set}, {kind}"), score(kind, "curlew"), "");
                table.figure(format!("the same, {best}"), score(kind, best), "");
            }
        }
        table.figure(format!("{set}, without any result"), number(&told[set], "/all/curlew/nothing"), "");
        let known = format!("the same, of the {} whose words are all there", number(&told[set], "/known/queries"));
        table.barred(known, number(&told[set], "/known/nothing"), "", NOTHING);
    }
    Ok(())
}

/// Compares each language with its best peer.
fn languages(told: &Value, table: &mut Table) -> Result<()> {
    for language in LANGUAGES {
        let engines = told[language]["all"].as_object().with_context(|| format!("no figures of {language}"))?;
        let score = |engine: &str| number(&told[language], &format!("/all/{engine}/ndcg"));
        let peers = engines.keys().filter(|engine| *engine != "curlew");
        let best = peers.max_by(|a, b| score(a).total_cmp(&score(b))).context("no peer has answered")?;
        let what = format!("nDCG@10 of {} queries, {language}", number(&told[language], "/all/curlew/queries"));
        let bar = (score(best) * 1e3).floor() / 1e3;
        table.at_least(format!("{what}, beside {best}"), score("curlew"), "", bar);
        table.barred("the same, without any result", number(&told[language], "/all/curlew/nothing"), "", NOTHING);
    }
    table.figure("processor time of a query with a misspelled word, median", number(told, "/typo_ms/median"), "ms");
    table.barred("the same, 95th percentile", number(told, "/typo_ms/p95"), "ms", TYPO_MS);
    Ok(())
}

fn speed(told: &Value, table: &mut Table) {
    let number = |path: &str| number(told, path);
    table.barred("processor time of indexing, a short record", number("/short/us_a_record"), "µs", RECORD_US);
    table.figure("the same, tantivy directly", number("/short/plain_us_a_record"), "µs");
    table.barred("index / text, short records", number("/short/index_of_text"), "", OF_SHORT_TEXT);
    table.figure("the same, tantivy directly", number("/short/plain_index_of_text"), "");
    table.barred("index / text, records of 35 KB", number("/long/index_of_text"), "", OF_TEXT);
    table.figure("the same, tantivy directly", number("/long/plain_index_of_text"), "");
    for words in ["two", "four"] {
        let number = |path: &str| number(&format!("/{words}/{path}"));
        let is_two = words == "two";
        let mut held = |what: String, value: f64, unit: &'static str, bar: Option<f64>| match bar {
            Some(bar) => table.barred(what, value, unit, bar),
            None => table.figure(what, value, unit),
        };
        held(format!("{words} words, warm, median"), number("warm_ms/median"), "ms", is_two.then_some(WARM_MS));
        held(format!("{words} words, warm, 95th percentile"), number("warm_ms/p95"), "ms", None);
        held("the same, tantivy directly, median".into(), number("plain_warm_ms/median"), "ms", None);
        held("the same, tantivy directly, 95th percentile".into(), number("plain_warm_ms/p95"), "ms", None);
        held(format!("{words} words, cold, median"), number("cold_ms/median"), "ms", is_two.then_some(COLD_MS));
        held(format!("{words} words, cold, 95th percentile"), number("cold_ms/p95"), "ms", None);
        held(format!("{words} words, most range reads of a split"), number("most_reads"), "", is_two.then_some(READS));
    }
}

/// Returns a figure; a missing one is NaN, which misses every bar.
fn number(told: &Value, path: &str) -> f64 {
    told.pointer(path).and_then(Value::as_f64).unwrap_or(f64::NAN)
}
