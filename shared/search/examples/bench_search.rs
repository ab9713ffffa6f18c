//! Measures indexing, searching and ranking, with tantivy used directly beside it, for `cargo xtask bench search`.
//!
//! Reads articles as JSON Lines on standard input (`curlew-fixtureweb --texts N`), and prints one JSON object of figures. The
//! judged queries of `judged.jsonl` each name words that only the articles contain which answer them; the words of the
//! query are those that a person may type, inflected otherwise and without accents.
//!
//! Processor time is that of this thread, as the kernel counts it, so that whoever shares the machine does not count.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, clippy::print_stdout, reason = "it measures, and tells")]

use bytes::Bytes;
use curlew_model::{Millis, PageId, Record, SnippetLimit, Timestamp};
use curlew_search::{BuildBudget, Hidden, Query, Request, Results, Split, build_split, joined, search, warm};
use serde::Deserialize;
use serde_json::{Value, json};
use std::error::Error;
use std::fs::{self, File};
use std::io::{self, BufRead, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Instant;
use tantivy::collector::TopDocs;
use tantivy::directory::RamDirectory;
use tantivy::query::QueryParser;
use tantivy::schema::{STORED, Schema, TEXT, Value as _};
use tantivy::store::{Compressor, ZstdCompressor};
use tantivy::{Index, IndexBuilder, IndexSettings, Searcher, SingleSegmentIndexWriter, TantivyDocument};

type Done<T> = Result<T, Box<dyn Error>>;

/// Pages of one split, as the index stage makes them.
const PAGES: usize = 20_000;
/// Articles of the web that the judged queries are asked of.
const JUDGED: usize = 3_200;
/// Memory of the comparison's writer; all fits in, so that nothing is merged.
const ARENA: usize = 2_000_000_000;
/// How often each warm query is asked.
const ROUNDS: usize = 5;
/// Hits of one page.
const LIMIT: usize = 10;

#[derive(Deserialize)]
struct Text {
    language: String,
    subject: String,
    title: String,
    text: String,
}

#[derive(Deserialize)]
struct Judged {
    query: String,
    /// What the articles say that answer it.
    answers: String,
}

fn main() -> Done<()> {
    let folder = PathBuf::from(std::env::args().nth(1).ok_or("say which folder to write the splits to")?);
    fs::create_dir_all(&folder)?;
    let mut records = Vec::new();
    for (number, line) in io::stdin().lock().lines().enumerate() {
        records.push(record(number, serde_json::from_str(&line?)?)?);
    }
    let judged: Vec<Judged> =
        include_str!("judged.jsonl").lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    let text: usize = records.iter().map(|record| record.title.len() + record.text.len()).sum();

    let began = cpu()?;
    let mut blobs = Vec::new();
    for chunk in records.chunks(PAGES) {
        let built = build_split(chunk.iter().cloned(), &BuildBudget::default())?;
        blobs.push((built.bytes, built.tail));
    }
    let indexing = cpu()? - began;
    let began = cpu()?;
    let plain = plain_index(&records)?;
    let plain_indexing = cpu()? - began;

    let bytes: usize = blobs.iter().map(|(blob, _)| blob.len()).sum();
    let mut files = Vec::new();
    for (number, (blob, tail)) in blobs.iter().enumerate() {
        let path = folder.join(format!("{number}.split"));
        fs::write(&path, blob)?;
        files.push((path, blob.len() as u64, *tail));
    }
    drop(blobs);

    let two_words: Vec<String> = judged.iter().filter_map(|judged| two(&judged.query)).collect();
    let (cold, reads) = cold(&files, &two_words)?;
    let warm = warm_times(&files, &two_words)?;
    let plain_warm = plain_times(&plain, &two_words)?;
    let ranking = ranking(&records[..JUDGED.min(records.len())], &judged)?;
    println!(
        "{}",
        json!({
            "records": records.len(), "text_mb": text as f64 / 1e6, "judged": judged.len(), "queries": two_words.len(),
            "records_a_second": records.len() as f64 / indexing, "plain_records_a_second": records.len() as f64 / plain_indexing,
            "index_of_text": bytes as f64 / text as f64, "plain_index_of_text": plain.bytes as f64 / text as f64,
            "warm_ms": spread(warm), "plain_warm_ms": spread(plain_warm), "cold_ms": spread(cold),
            "most_reads": reads, "ndcg": ranking.0, "plain_ndcg": ranking.1,
        })
    );
    Ok(())
}

/// Two words of a query; none if it has fewer.
fn two(query: &str) -> Option<String> {
    let mut words = query.split_whitespace();
    Some(format!("{} {}", words.next()?, words.next_back()?))
}

fn record(number: usize, text: Text) -> Done<Record> {
    let host = format!("{}-{}.example", text.subject, number % 97);
    let id = format!("{:032x}", (number as u128 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835));
    let at = now() - Millis::from_hours(number as u64 % 8_000);
    Ok(Record {
        id: PageId::new(&id)?,
        url: format!("https://{host}/{number}"),
        host,
        feed: Some("https://example.org/feed".into()),
        site_name: Some(text.subject),
        title: text.title,
        text: text.text,
        image: None,
        image_of_site: false,
        thumbnail: None,
        thumbnail_frame: 0,
        language: Some(text.language),
        published: Some(at),
        modified: None,
        author: None,
        fetched_at: at,
        snippet_limit: SnippetLimit(None),
        no_archive: false,
        unavailable_after: None,
        usage: None,
        simhash: None,
        image_phash: None,
        replaces: None,
    })
}

fn now() -> Timestamp {
    Timestamp::from_millis(1_795_000_000_000)
}

/// Seconds that this thread has had a processor.
fn cpu() -> Done<f64> {
    let stat = fs::read_to_string("/proc/thread-self/schedstat")?;
    Ok(stat.split(' ').next().unwrap_or_default().parse::<u64>()? as f64 / 1e9)
}

fn spread(mut times: Vec<f64>) -> Value {
    times.sort_by(f64::total_cmp);
    let at = |share: f64| times.get(((times.len() as f64 * share) as usize).min(times.len().saturating_sub(1)));
    json!({"median": at(0.5), "p95": at(0.95)})
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

fn open(files: &[(PathBuf, u64, u64)]) -> Done<Vec<Cold>> {
    let open = |(path, length, tail): &(PathBuf, u64, u64)| {
        let split = Split::open_cold(read(path, length - tail, *tail)?, *length)?;
        Ok(Cold { split, path: path.clone() })
    };
    files.iter().map(open).collect()
}

/// Asks, and reads what is wanted until nothing is; says how many reads the split with the most of them took.
fn ask(splits: &[Cold], text: &str) -> Done<(Results, usize)> {
    let (query, _) = Query::read(text);
    let refs: Vec<&Split> = splits.iter().map(|cold| &cold.split).collect();
    let request = Request::new(&query, LIMIT, now());
    let hidden = Hidden::default();
    let mut reads = vec![1; splits.len()];
    loop {
        match search(&refs, &hidden, request) {
            Ok(results) => return Ok((results, reads.into_iter().max().unwrap_or_default())),
            Err(error) if !error.is_not_here() => return Err(error.into()),
            Err(_) => warm(&refs, &hidden, &query),
        }
        for (cold, reads) in splits.iter().zip(&mut reads) {
            for range in joined(cold.split.wanted()) {
                *reads += 1;
                cold.split.supply(range.start, &read(&cold.path, range.start, range.end - range.start)?)?;
            }
        }
    }
}

fn cold(files: &[(PathBuf, u64, u64)], queries: &[String]) -> Done<(Vec<f64>, usize)> {
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

fn warm_times(files: &[(PathBuf, u64, u64)], queries: &[String]) -> Done<Vec<f64>> {
    let splits = open(files)?;
    for query in queries {
        ask(&splits, query)?;
    }
    let mut times = Vec::new();
    for query in queries.iter().cycle().take(ROUNDS * queries.len()) {
        let began = Instant::now();
        ask(&splits, query)?;
        times.push(began.elapsed().as_secs_f64() * 1e3);
    }
    Ok(times)
}

/// tantivy as its own examples use it: its default words, BM25 over title and text.
struct Plain {
    searcher: Searcher,
    parser: QueryParser,
    bytes: usize,
    record: tantivy::schema::Field,
}

fn plain_index(records: &[Record]) -> Done<Plain> {
    let mut schema = Schema::builder();
    let (title, body) = (schema.add_text_field("title", TEXT), schema.add_text_field("body", TEXT));
    let record = schema.add_bytes_field("record", STORED);
    let settings = IndexSettings {
        docstore_compression: Compressor::Zstd(ZstdCompressor::default()),
        docstore_compress_dedicated_thread: false,
        docstore_blocksize: 64 * 1024,
        ..IndexSettings::default()
    };
    let directory = RamDirectory::create();
    let builder = IndexBuilder::new().schema(schema.build()).settings(settings);
    let mut writer: SingleSegmentIndexWriter = builder.single_segment_index_writer(directory.clone(), ARENA)?;
    for page in records {
        let mut document = TantivyDocument::new();
        document.add_text(title, &page.title);
        document.add_text(body, &page.text);
        document.add_bytes(record, &serde_json::to_vec(page)?);
        writer.add_document(document)?;
    }
    let index: Index = writer.finalize()?;
    let parser = QueryParser::for_index(&index, vec![title, body]);
    let searcher = index.reader()?.searcher();
    Ok(Plain { searcher, parser, bytes: directory.total_mem_usage(), record })
}

impl Plain {
    fn ask(&self, text: &str) -> Done<Vec<Record>> {
        let (query, _) = self.parser.parse_query_lenient(text);
        let top = self.searcher.search(&query, &TopDocs::with_limit(LIMIT).order_by_score())?;
        let record = |(_, at)| {
            let document: TantivyDocument = self.searcher.doc(at)?;
            let json = document.get_first(self.record).and_then(|value| value.as_bytes()).ok_or("no record")?;
            Ok(serde_json::from_slice(json)?)
        };
        top.into_iter().map(record).collect()
    }
}

fn plain_times(plain: &Plain, queries: &[String]) -> Done<Vec<f64>> {
    let mut times = Vec::new();
    for query in queries.iter().cycle().take((1 + ROUNDS) * queries.len()) {
        let began = Instant::now();
        plain.ask(query)?;
        times.push(began.elapsed().as_secs_f64() * 1e3);
    }
    Ok(times.split_off(queries.len()))
}

/// nDCG@10 of ours and of plain BM25, over all judged queries.
fn ranking(records: &[Record], judged: &[Judged]) -> Done<(f64, f64)> {
    let built = build_split(records.iter().cloned(), &BuildBudget::default())?;
    let split = Split::open(built.bytes.into())?;
    let plain = plain_index(records)?;
    let (mut ours, mut theirs) = (0.0, 0.0);
    for Judged { query: text, answers } in judged {
        let is_answer = |title: &str, text: &str| title.contains(answers.as_str()) || text.contains(answers.as_str());
        let there = records.iter().filter(|record| is_answer(&record.title, &record.text)).count();
        if there == 0 {
            return Err(format!("no article answers '{text}'").into());
        }
        let (query, _) = Query::read(text);
        let request = Request::new(&query, LIMIT, now());
        let hits = search(&[&split], &Hidden::default(), request)?.hits;
        let found = hits.iter().map(|hit| records.iter().find(|record| record.id == hit.id));
        let found: Vec<bool> = found.map(|r| r.is_some_and(|r| is_answer(&r.title, &r.text))).collect();
        let plain: Vec<bool> = plain.ask(text)?.iter().map(|record| is_answer(&record.title, &record.text)).collect();
        if std::env::var_os("CURLEW_BENCH_QUERIES").is_some() {
            println!("{:.2} {:.2} {there:4} {text}", ndcg(&found, there), ndcg(&plain, there));
        }
        ours += ndcg(&found, there);
        theirs += ndcg(&plain, there);
    }
    Ok((ours / judged.len() as f64, theirs / judged.len() as f64))
}

/// Normalised discounted cumulative gain of the first ten, with so many answers there are.
fn ndcg(hits: &[bool], there: usize) -> f64 {
    let gain = |at: usize| 1.0 / (at as f64 + 2.0).log2();
    let best: f64 = (0..there.min(LIMIT)).map(gain).sum();
    hits.iter().enumerate().filter(|(_, hit)| **hit).map(|(at, _)| gain(at)).sum::<f64>() / best
}
