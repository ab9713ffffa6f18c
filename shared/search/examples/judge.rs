//! Asks judged queries of a collection, for `cargo xtask bench search`: `judge DOCS QUERIES` reads pages and queries as JSON
//! Lines and prints nDCG@10 and the share of queries that find nothing, by kind of query.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, clippy::print_stdout, reason = "it measures, and tells")]

use curlew_model::{PageId, Record, SnippetLimit, Timestamp};
use curlew_search::{BuildBudget, Hidden, Query, Request, Split, build_split, search};
use serde::Deserialize;
use std::collections::{BTreeMap, HashMap};
use std::error::Error;
use std::fs;

type Done<T> = Result<T, Box<dyn Error>>;

const LIMIT: usize = 10;

#[derive(Deserialize)]
struct Page {
    id: String,
    language: String,
    title: String,
    text: String,
}

#[derive(Deserialize)]
struct Judged {
    query: String,
    kind: String,
    #[serde(default)]
    half: String,
    grades: HashMap<String, f64>,
}

fn lines<T: for<'a> Deserialize<'a>>(path: &str) -> Done<Vec<T>> {
    Ok(fs::read_to_string(path)?.lines().map(serde_json::from_str).collect::<Result<_, _>>()?)
}

fn main() -> Done<()> {
    let mut arguments = std::env::args().skip(1);
    let (Some(pages), Some(queries)) = (arguments.next(), arguments.next()) else {
        return Err("say which pages and which queries".into());
    };
    let pages: Vec<Page> = lines(&pages)?;
    let queries: Vec<Judged> = lines(&queries)?;
    let records = pages.iter().enumerate().map(|(number, page)| record(number, page));
    let built = build_split(records.collect::<Done<Vec<_>>>()?.into_iter(), &BuildBudget::default())?;
    let split = Split::open(built.bytes.into())?;
    let mut sums: BTreeMap<String, (f64, f64, f64)> = BTreeMap::new();
    for judged in &queries {
        let (query, _) = Query::read(&judged.query);
        let request = Request::new(&query, LIMIT, Timestamp::EPOCH);
        let results = search(&[&split], &Hidden::default(), request)?;
        let gain = |number: &str| number.parse().ok().and_then(|n: usize| judged.grades.get(&pages[n].id)).copied();
        let gains: Vec<f64> = results
            .hits
            .iter()
            .map(|hit| hit.url.rsplit_once('/').and_then(|(_, number)| gain(number)).unwrap_or_default())
            .collect();
        let score = ndcg(&gains, judged.grades.values().copied().collect());
        if std::env::var_os("CURLEW_BENCH_QUERIES").is_some() {
            println!("{score:.2} {:4} {:5} {}", results.total, results.partial, judged.query);
        }
        for name in ["all", &judged.half, &judged.kind] {
            let sum = sums.entry(name.to_owned()).or_default();
            *sum = (sum.0 + 1.0, sum.1 + score, sum.2 + f64::from(u8::from(results.hits.is_empty())));
        }
    }
    for (name, (count, score, empty)) in sums {
        println!("{name:10} {count:5} nDCG@10 {:.4} nothing {:.3}", score / count, empty / count);
    }
    Ok(())
}

fn record(number: usize, page: &Page) -> Done<Record> {
    Ok(Record {
        id: PageId::new(&format!("{:032x}", number + 1))?,
        url: format!("https://site{:05}.test/{number}", number),
        host: format!("site{number:05}.test"),
        feed: None,
        site_name: None,
        title: page.title.clone(),
        text: page.text.clone(),
        image: None,
        image_of_site: false,
        thumbnail: None,
        thumbnail_frame: 0,
        language: Some(page.language.clone()),
        published: None,
        modified: None,
        author: None,
        fetched_at: Timestamp::EPOCH,
        snippet_limit: SnippetLimit(None),
        no_archive: false,
        unavailable_after: None,
        usage: None,
        simhash: None,
        image_phash: None,
        replaces: None,
    })
}

/// Normalised discounted cumulative gain of the first ten.
fn ndcg(gains: &[f64], mut best: Vec<f64>) -> f64 {
    let sum = |gains: &[f64]| -> f64 {
        gains.iter().take(LIMIT).enumerate().map(|(at, gain)| gain / (at as f64 + 2.0).log2()).sum()
    };
    best.sort_by(|a, b| b.total_cmp(a));
    sum(gains) / sum(&best)
}
