//! Indexes many short records, and searches long ones, warm and cold, with tantivy used directly for comparison.
//!
//! Processor time is that of this thread, as counted by the kernel, so that other processes do not affect it.

use crate::judged::Query as Judged;
use crate::plain::Plain;
use crate::{Article, Done, LIMIT, lines};
use bytes::Bytes;
use curlew_model::{Millis, Record, Timestamp};
use curlew_search::{BuildBudget, Hidden, Query, Request, Results, Split, build_split, joined, search};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Number of short records, which have one article each.
const SHORT: usize = 100_000;
/// Pages per split of short records, as the index stage makes them.
const SHORT_SPLIT: usize = 20_000;
/// Number of long records. Each has articles of one subject, until the text has at least `LONG_BYTES` bytes.
const LONG: usize = 10_000;
const LONG_BYTES: usize = 35_000;
/// Pages per split of long records: a split as of some months, and a smaller one after it.
const LONG_SPLIT: usize = 8_000;
/// Number of hosts per subject.
const HOSTS: usize = 97;
/// Number of times that each warm query is run.
const ROUNDS: usize = 5;

/// Measures indexing and searching. Reads `texts.jsonl` and `queries.jsonl` in the folder, and leaves the splits of the
/// long records there.
pub(crate) fn speed(folder: &Path) -> Done<Value> {
    let texts = folder.join("texts.jsonl");
    let short = lines(&texts)?.take(SHORT).enumerate().map(|(number, article)| record(number, article?));
    let short = indexing(&enough(short, SHORT)?, SHORT_SPLIT)?;
    let long = joined_articles(lines(&texts)?).take(LONG).enumerate().map(|(number, article)| record(number, article?));
    let long = indexing(&enough(long, LONG)?, LONG_SPLIT)?;
    let files = long.written(folder)?;

    let judged: Vec<Judged> = lines(&folder.join("queries.jsonl"))?.collect::<Done<_>>()?;
    let mut told = json!({"short": short.told, "long": long.told});
    for (name, words) in [("two", 2), ("four", 4)] {
        let queries: Vec<String> = judged.iter().filter_map(|judged| telling(&judged.query, words)).collect();
        let (cold, reads) = cold(&files, &queries)?;
        told[name] = json!({
            "queries": queries.len(),
            "warm_ms": spread(warm_times(&files, &queries)?),
            "plain_warm_ms": spread(plain_times(&long.plain, &queries)?),
            "cold_ms": spread(cold),
            "most_reads": reads,
        });
    }
    Ok(told)
}

fn enough(records: impl Iterator<Item = Done<Record>>, count: usize) -> Done<Vec<Record>> {
    let records: Vec<Record> = records.collect::<Done<_>>()?;
    if records.len() == count { Ok(records) } else { Err(format!("{} records are too few", records.len()).into()) }
}

/// Joins articles of one subject into long ones.
fn joined_articles(articles: impl Iterator<Item = Done<Article>>) -> impl Iterator<Item = Done<Article>> {
    let mut begun: HashMap<String, Article> = HashMap::new();
    articles.filter_map(move |article| {
        let article = match article {
            Ok(article) => article,
            Err(error) => return Some(Err(error)),
        };
        let subject = article.subject.clone();
        let long = match begun.remove(&subject) {
            Some(long) => Article { text: long.text + "\n\n" + &article.text, ..long },
            None => article,
        };
        if long.text.len() >= LONG_BYTES {
            return Some(Ok(long));
        }
        begun.insert(subject, long);
        None
    })
}

/// Returns a record with a date, on one of the sites of its subject.
fn record(number: usize, article: Article) -> Done<Record> {
    let subject = article.subject.clone();
    let host = format!("{subject}-{}.example", number % HOSTS);
    let at = now() - Millis::from_hours(number as u64 % 8_000);
    Ok(Record {
        url: format!("https://{host}/{number}"),
        host,
        feed: Some("https://example.org/feed".into()),
        site_name: Some(subject),
        published: Some(at),
        fetched_at: at,
        ..article.record(number)?
    })
}

fn now() -> Timestamp {
    Timestamp::from_millis(1_795_000_000_000)
}

/// Returns the `count` longest words of a query, in order; `None` if it has fewer.
fn telling(query: &str, count: usize) -> Option<String> {
    let mut words: Vec<(usize, &str)> = query.split_whitespace().enumerate().collect();
    words.sort_by_key(|(at, word)| (std::cmp::Reverse(word.len()), *at));
    words.truncate(count);
    words.sort_unstable();
    let words: Vec<&str> = words.into_iter().map(|(_, word)| word).collect();
    (words.len() == count).then(|| words.join(" "))
}

/// Records indexed by this engine and by tantivy directly.
struct Indexed {
    /// The splits, with the lengths of their tails.
    blobs: Vec<(Vec<u8>, u64)>,
    plain: Plain,
    told: Value,
}

fn indexing(records: &[Record], split: usize) -> Done<Indexed> {
    let text: usize = records.iter().map(|record| record.title.len() + record.text.len()).sum();
    let began = cpu()?;
    let mut blobs = Vec::new();
    for chunk in records.chunks(split) {
        let built = build_split(chunk.iter().cloned(), &BuildBudget::default())?;
        blobs.push((built.bytes, built.tail));
    }
    let ours = cpu()? - began;
    let began = cpu()?;
    let plain = Plain::new(records.iter().cloned().map(Ok))?;
    let theirs = cpu()? - began;
    let bytes: usize = blobs.iter().map(|(blob, _)| blob.len()).sum();
    let told = json!({
        "records": records.len(), "splits": blobs.len(), "text_mb": text as f64 / 1e6,
        "us_a_record": ours * 1e6 / records.len() as f64, "plain_us_a_record": theirs * 1e6 / records.len() as f64,
        "index_of_text": bytes as f64 / text as f64, "plain_index_of_text": plain.bytes as f64 / text as f64,
    });
    Ok(Indexed { blobs, plain, told })
}

/// Returns the processor time of this thread in seconds.
pub(crate) fn cpu() -> Done<f64> {
    let stat = fs::read_to_string("/proc/thread-self/schedstat")?;
    Ok(stat.split(' ').next().unwrap_or_default().parse::<u64>()? as f64 / 1e9)
}

pub(crate) fn spread(mut times: Vec<f64>) -> Value {
    times.sort_by(f64::total_cmp);
    let at = |share: f64| times.get(((times.len() as f64 * share) as usize).min(times.len().saturating_sub(1)));
    json!({"median": at(0.5), "p95": at(0.95)})
}

/// A split in a file.
struct Stored {
    path: PathBuf,
    length: u64,
    tail: u64,
}

impl Indexed {
    fn written(&self, folder: &Path) -> Done<Vec<Stored>> {
        let mut files = Vec::new();
        for (number, (blob, tail)) in self.blobs.iter().enumerate() {
            let path = folder.join(format!("{number}.split"));
            fs::write(&path, blob)?;
            files.push(Stored { path, length: blob.len() as u64, tail: *tail });
        }
        Ok(files)
    }
}

/// A split file that is read by ranges.
struct Cold {
    split: Split,
    path: PathBuf,
}

fn read(path: &Path, at: u64, length: u64) -> Done<Bytes> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(at))?;
    let mut bytes = vec![0; length as usize];
    file.read_exact(&mut bytes)?;
    Ok(bytes.into())
}

fn open(files: &[Stored]) -> Done<Vec<Cold>> {
    let open = |Stored { path, length, tail }: &Stored| {
        let split = Split::open_cold(read(path, length - tail, *tail)?, *length)?;
        Ok(Cold { split, path: path.clone() })
    };
    files.iter().map(open).collect()
}

/// Runs a query, and reads wanted ranges until none is missing. Returns the results and the largest number of reads of
/// one split.
fn ask(splits: &[Cold], text: &str) -> Done<(Results, usize)> {
    let refs: Vec<&Split> = splits.iter().map(|cold| &cold.split).collect();
    let request = Request::new(Query::read(text).0, LIMIT, now());
    let hidden = Hidden::default();
    let mut reads = vec![1; splits.len()];
    loop {
        match search(&refs, &hidden, &request) {
            Ok(results) => return Ok((results, reads.into_iter().max().unwrap_or_default())),
            Err(error) if !error.is_not_here() => return Err(error.into()),
            Err(_) => {}
        }
        for (cold, reads) in splits.iter().zip(&mut reads) {
            for range in joined(cold.split.wanted()) {
                *reads += 1;
                cold.split.supply(range.start, &read(&cold.path, range.start, range.end - range.start)?)?;
            }
        }
    }
}

fn cold(files: &[Stored], queries: &[String]) -> Done<(Vec<f64>, usize)> {
    let (mut times, mut most) = (Vec::new(), 0);
    for query in queries {
        let began = Instant::now();
        let splits = open(files)?;
        let (_, reads) = ask(&splits, query)?;
        times.push(began.elapsed().as_secs_f64() * 1e3);
        most = reads.max(most);
    }
    Ok((times, most))
}

fn warm_times(files: &[Stored], queries: &[String]) -> Done<Vec<f64>> {
    let splits = open(files)?;
    timed(queries, |query| ask(&splits, query).map(drop))
}

fn plain_times(plain: &Plain, queries: &[String]) -> Done<Vec<f64>> {
    timed(queries, |query| plain.ask(query).map(drop))
}

/// Returns the time that each query takes, after all have run once.
fn timed(queries: &[String], ask: impl Fn(&str) -> Done<()>) -> Done<Vec<f64>> {
    let mut times = Vec::new();
    for query in queries.iter().cycle().take((1 + ROUNDS) * queries.len()) {
        let began = Instant::now();
        ask(query)?;
        times.push(began.elapsed().as_secs_f64() * 1e3);
    }
    Ok(times.split_off(queries.len()))
}
