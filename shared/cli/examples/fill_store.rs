//! Fills an empty store with published records, for `cargo xtask bench export`: `fill_store COUNT FOLDER`, or
//! `fill_store COUNT --aws STACK` for a stack, whose tables and bucket are created.
//!
//! Segments and manifests are written as the program writes them. Every second page has a thumbnail. There are no rows
//! and no splits, because an export of indexed pages reads neither.
#![allow(clippy::print_stderr, reason = "a program for the command line")]

use anyhow::{Context, Result, bail};
use bytes::Bytes;
use curlew_catalog::segment::{Draft, write};
use curlew_model::{Millis, PageId, Record, Timestamp};
use curlew_policy::chance::mix;
use curlew_ports::Blobs;
use curlew_search::Manifest;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// Number of records in a segment, as from a batch of extraction.
const RECORDS: u64 = 100;
/// Number of segments of a day.
const SEGMENTS: u64 = 50;
/// Number of words in a text, as in an average article.
const WORDS: u64 = 500;
/// Number of different words.
const VOCABULARY: u64 = 20_000;
/// Length of a thumbnail in bytes.
const THUMBNAIL: usize = 6_000;

#[tokio::main]
async fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (count, blobs) = match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [count, "--aws", stack] => (count, stack_blobs(stack).await?),
        [count, folder] => (count, folder_blobs(folder)?),
        _ => bail!("usage: fill_store COUNT FOLDER, or fill_store COUNT --aws STACK"),
    };
    let count: u64 = count.parse().context("COUNT is a number")?;
    fill(blobs.as_ref(), count).await
}

async fn fill(blobs: &dyn Blobs, count: u64) -> Result<()> {
    let vocabulary: Vec<String> = (0..VOCABULARY).map(word).collect();
    let first = Timestamp::parse_day_or_instant("2026-01-05T12:00:00Z")?;
    let mut manifests: BTreeMap<i16, Manifest> = BTreeMap::new();
    for segment in 0..count.div_ceil(RECORDS) {
        let at = first + Millis::from_days(segment / SEGMENTS);
        let numbers = segment * RECORDS..((segment + 1) * RECORDS).min(count);
        let drafts = numbers.map(|n| draft(n, at, &vocabulary)).collect::<Result<Vec<_>>>()?;
        let locations = write(blobs, &drafts, at).await?;
        let manifest = manifests.entry(at.year()).or_insert_with(|| Manifest::new(at.year()));
        *manifest = manifest.with_segments(locations.into_iter().take(1).map(|at| at.segment));
    }
    for (year, manifest) in manifests {
        blobs.put(&format!("manifests/{year:04}.json"), manifest.to_json().into()).await?;
    }
    eprintln!("{count} records");
    Ok(())
}

fn draft(n: u64, at: Timestamp, vocabulary: &[String]) -> Result<Draft> {
    let host = format!("site{}.example", n % 500);
    let url = format!("https://{host}/articles/{n}");
    let mut text = String::new();
    for place in 0..WORDS {
        // A few words are frequent, as in any language.
        let rank = mix(n * WORDS + place) % VOCABULARY;
        text += &vocabulary[usize::try_from(rank * rank / VOCABULARY * rank / VOCABULARY)?];
        text += if place % 90 == 89 { ".\n\n" } else { " " };
    }
    let id = PageId::new(&format!("{:016x}{:016x}", mix(n), mix(!n)))?;
    let record = Record {
        host,
        feed: Some(format!("https://site{}.example/feed", n % 500)),
        site_name: Some(format!("Site {}", n % 500)),
        title: text.chars().take(60).collect(),
        image: Some(format!("{url}/image.jpg")),
        language: Some(["en", "de", "it"][usize::try_from(n % 3)?].to_owned()),
        published: Some(at),
        author: Some(format!("Author {}", n % 2_000)),
        text,
        ..Record::new(id, url, at + Millis(n))
    };
    let noise = || (0..THUMBNAIL).map(|place| mix(n << 16 | place as u64).to_le_bytes()[0]).collect::<Vec<u8>>();
    Ok(Draft { record, thumbnail: n.is_multiple_of(2).then(|| Bytes::from(noise())), raw: None })
}

/// Returns a word of three to ten letters.
fn word(n: u64) -> String {
    (0..3 + mix(n) % 8).map(|place| char::from(b'a' + (mix(n << 8 | place) % 26) as u8)).collect()
}

fn folder_blobs(folder: &str) -> Result<Arc<dyn Blobs>> {
    Ok(curlew_embedded::Store::open(Path::new(folder), curlew_embedded::Access::Exclusive)?.objects())
}

#[cfg(feature = "aws")]
async fn stack_blobs(stack: &str) -> Result<Arc<dyn Blobs>> {
    let connection = curlew_aws::Connection::from_environment().await;
    let bucket = format!("{stack}-data");
    let names = curlew_aws::Names { stack: stack.to_owned(), bucket };
    curlew_aws::provision(&connection, &names).await?;
    Ok(curlew_aws::Store::new(&connection, names).objects())
}

#[cfg(not(feature = "aws"))]
#[expect(clippy::unused_async, reason = "the build that has the feature waits for the stack")]
async fn stack_blobs(_: &str) -> Result<Arc<dyn Blobs>> {
    bail!("a stack needs the feature aws")
}
