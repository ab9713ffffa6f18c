//! The index: a hundred thousand records made of the fixture web's texts, searched warm and cold, with tantivy used directly
//! in the same run; and how right the order of the results is.

use super::table::Table;
use super::{Bench, process};
use crate::run::{cargo, run};
use crate::test::target;
use anyhow::{Context, Result};
use serde_json::Value;
use std::process::Command;

/// Records.
const RECORDS: usize = 100_000;
/// Bars: microseconds of processor time a record, milliseconds of a query, reads of one split, bytes of the index for a byte of
/// text, and what is missing of a perfect order.
const RECORD_US: f64 = 200.0;
const WARM_MS: f64 = 10.0;
const COLD_MS: f64 = 150.0;
const READS: f64 = 12.0;
const OF_TEXT: f64 = 0.6;
const LOSS: f64 = 0.15;

pub(crate) fn measure(bench: &Bench, table: &mut Table) -> Result<()> {
    run(cargo().args(["build", "--release", "--locked", "-p", "curlew-search", "--example", "bench_search"]))?;
    let mut texts = Command::new(&bench.fixtureweb);
    texts.args(["--texts", &RECORDS.to_string()]);
    let texts = process::measure(texts, None)?.stdout;
    let mut command = Command::new(target()?.join("release/examples/bench_search"));
    command.arg(bench.folder.join("splits"));
    let used = process::measure(command, Some(texts.into_bytes()))?;
    let told: Value = serde_json::from_str(&used.stdout).context("the example prints no figures")?;
    let number = |path: &str| told.pointer(path).and_then(Value::as_f64).unwrap_or(f64::NAN);

    table.barred("processor time of indexing, a record", 1e6 / number("/records_a_second"), "µs", RECORD_US);
    table.figure("the same, tantivy directly", 1e6 / number("/plain_records_a_second"), "µs");
    table.barred("index / text", number("/index_of_text"), "", OF_TEXT);
    table.figure("index / text, tantivy directly", number("/plain_index_of_text"), "");
    table.barred("two words, warm, median", number("/warm_ms/median"), "ms", WARM_MS);
    table.figure("two words, warm, 95th percentile", number("/warm_ms/p95"), "ms");
    table.figure("the same, tantivy directly, median", number("/plain_warm_ms/median"), "ms");
    table.figure("the same, tantivy directly, 95th percentile", number("/plain_warm_ms/p95"), "ms");
    table.barred("two words, cold from a folder, median", number("/cold_ms/median"), "ms", COLD_MS);
    table.figure("two words, cold from a folder, 95th percentile", number("/cold_ms/p95"), "ms");
    table.barred("range reads of one split, the most of any query", number("/most_reads"), "", READS);
    table.barred("1 - nDCG@10 of the judged queries", 1.0 - number("/ndcg"), "", LOSS);
    table.figure("the same, plain BM25", 1.0 - number("/plain_ndcg"), "");
    Ok(())
}
