//! Measures indexing, searching and ranking, for `cargo xtask bench search`:
//!
//! - `judge FOLDER` writes `docs.jsonl` and `queries.jsonl`, from the first articles of `texts.jsonl`
//!   (`curlew-fixtureweb --texts N`) and the judged queries next to this program;
//! - `rank FOLDER` runs the queries of such a folder. It compares the results with those of tantivy used directly, and
//!   of the peers that have written `NAME.ranks.jsonl` into the folder;
//! - `speed FOLDER` indexes and searches the articles.
//!
//! Each command prints one JSON object of figures. If `CURLEW_BENCH_QUERIES` is set, `rank` also writes the score of
//! each query to standard error.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "it measures")]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "it tells what it measured")]

mod judged;
mod plain;
mod ranking;
mod speed;

use curlew_model::{PageId, Record, Timestamp};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::error::Error;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

type Done<T> = Result<T, Box<dyn Error>>;

/// Number of hits per page.
const LIMIT: usize = 10;

fn main() -> Done<()> {
    let mut arguments = std::env::args().skip(1);
    let (Some(what), Some(folder)) = (arguments.next(), arguments.next().map(PathBuf::from)) else {
        return Err("say what to measure, and in which folder".into());
    };
    let told = match what.as_str() {
        "judge" => judged::judge(&folder)?,
        "rank" => ranking::rank(&folder)?,
        "speed" => speed::speed(&folder)?,
        _ => return Err(format!("'{what}' is none of judge, rank and speed").into()),
    };
    println!("{told}");
    Ok(())
}

/// An article to index.
#[derive(Deserialize, Serialize)]
struct Article {
    #[serde(default)]
    id: String,
    #[serde(default)]
    language: String,
    /// Subject; articles of one subject use the same words.
    #[serde(default, skip_serializing)]
    subject: String,
    title: String,
    text: String,
}

impl Article {
    /// Returns a record of the article alone: it has its own site, and no date.
    fn record(self, number: usize) -> Done<Record> {
        let id = format!("{:032x}", (number as u128 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835));
        let host = format!("site{number}.example");
        let url = format!("https://{host}/{number}");
        Ok(Record {
            host,
            title: self.title,
            text: self.text,
            language: Some(self.language),
            ..Record::new(PageId::new(&id)?, url, Timestamp::EPOCH)
        })
    }
}

/// Returns the lines of a file of JSON Lines.
fn lines<T: DeserializeOwned>(path: &Path) -> Done<impl Iterator<Item = Done<T>> + use<T>> {
    let file = File::open(path).map_err(|why| format!("{}: {why}", path.display()))?;
    Ok(BufReader::new(file).lines().map(|line| Ok(serde_json::from_str(&line?)?)))
}
