//! Measures how well this engine, and others over the same articles, rank results.

use crate::judged::Query;
use crate::plain::{Plain, paired};
use crate::speed::{cpu, spread};
use crate::{Article, Done, LIMIT, lines};
use curlew_model::{PageId, Record, Timestamp};
use curlew_search::{BuildBudget, Hidden, Request, Results, Split, build_split, search};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;

/// Suffix of the name of a peer's file.
const RANKS: &str = ".ranks.jsonl";

/// Answers of an engine: the ids of articles for each query.
type Answers = Vec<Vec<String>>;

/// Answer of a peer to one query.
#[derive(Deserialize)]
struct Ranked {
    query: String,
    ranks: Vec<String>,
}

/// Returns nDCG@10 and the share of queries without any result, by set, kind (and `all`) and engine. Also returns that
/// share among the queries whose words are all indexed, and the processor time of queries with a typo.
pub(crate) fn rank(folder: &Path) -> Done<Value> {
    let queries: Vec<Query> = lines(&folder.join("queries.jsonl"))?.collect::<Done<_>>()?;
    let articles: Vec<Article> = lines(&folder.join("docs.jsonl"))?.collect::<Done<_>>()?;
    let mut ids = HashMap::new();
    let mut records = Vec::new();
    for (number, article) in articles.into_iter().enumerate() {
        let id = article.id.clone();
        let record = article.record(number)?;
        ids.insert(record.id.clone(), id);
        records.push(record);
    }
    let (ours, is_known, typo_ms) = ours(&queries, &records, &ids)?;
    let mut engines = plain(&queries, &records, &ids)?;
    engines.extend(peers(&queries, folder)?);
    engines.insert("curlew".to_owned(), ours);

    let mut means: BTreeMap<(&str, &str, &str), Mean> = BTreeMap::new();
    let mut known: BTreeMap<&str, Mean> = BTreeMap::new();
    let is_told = std::env::var_os("CURLEW_BENCH_QUERIES").is_some();
    for (number, query) in queries.iter().enumerate() {
        let mut told = String::new();
        for (engine, answers) in &engines {
            let answer = &answers[number];
            let score = ndcg(answer, &query.grades);
            for kind in ["all", query.kind.as_str()] {
                means.entry((&query.set, kind, engine)).or_default().add(score, answer.is_empty());
            }
            if engine == "curlew" && is_known[number] {
                known.entry(&query.set).or_default().add(score, answer.is_empty());
            }
            told += &format!("{engine} {score:.2} ");
        }
        if is_told {
            eprintln!("{told}{} {} {}: {}", query.grades.len(), query.set, query.kind, query.query);
        }
    }
    let mut sets = json!({});
    for ((set, kind, engine), mean) in means {
        sets[set][kind][engine] = mean.told();
    }
    for (set, mean) in known {
        sets[set]["known"] = mean.told();
    }
    sets["typo_ms"] = spread(typo_ms);
    Ok(sets)
}

/// Returns this engine's answers; for each query, whether every word is on some page; and for each query with a typo,
/// the processor time in milliseconds. Words are looked up one by one, because a stop word of one language may be
/// missing in others.
fn ours(queries: &[Query], records: &[Record], ids: &HashMap<PageId, String>) -> Done<(Answers, Vec<bool>, Vec<f64>)> {
    let built = build_split(records.iter().cloned(), &BuildBudget::default())?;
    let split = Split::open(built.bytes.into())?;
    let ask = |text: &str| -> Done<Results> {
        let request = Request::new(curlew_search::Query::read(text).0, LIMIT, Timestamp::EPOCH);
        Ok(search(&[&split], &Hidden::default(), &request)?)
    };
    let (mut answers, mut is_known, mut typo_ms) = (Vec::new(), Vec::new(), Vec::new());
    for judged in queries {
        let began = cpu()?;
        let results = ask(&judged.query)?;
        let spent = (cpu()? - began) * 1e3;
        typo_ms.extend((judged.kind == "typo").then_some(spent));
        answers.push(results.hits.iter().filter_map(|hit| ids.get(hit.id.as_ref()?).cloned()).collect());
        let is_alone = |word: &String| ask(word).map(|results| results.total > 0);
        let found: Vec<bool> = results.unknown.iter().map(is_alone).collect::<Done<_>>()?;
        is_known.push(!found.contains(&false));
    }
    Ok((answers, is_known, typo_ms))
}

/// Returns the answers of tantivy used directly: to any of the words, and to all of them.
fn plain(queries: &[Query], records: &[Record], ids: &HashMap<PageId, String>) -> Done<BTreeMap<String, Answers>> {
    let record =
        |record: &Record| Ok(Record { title: paired(&record.title), text: paired(&record.text), ..record.clone() });
    let mut plain = Plain::new(records.iter().map(record))?;
    let mut engines = BTreeMap::new();
    for name in ["tantivy-or", "tantivy-and"] {
        if name == "tantivy-and" {
            plain.ask_for_all_words();
        }
        let answer = |query: &Query| {
            let found = plain.ask(&paired(&query.query))?;
            Ok(found.iter().map(|record| ids[&record.id].clone()).collect())
        };
        engines.insert(name.to_owned(), queries.iter().map(answer).collect::<Done<_>>()?);
    }
    Ok(engines)
}

/// Returns the answers that the peers have left in the folder.
fn peers(queries: &[Query], folder: &Path) -> Done<BTreeMap<String, Answers>> {
    let mut engines = BTreeMap::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()?.strip_suffix(RANKS)) else { continue };
        let ranked: Vec<Ranked> = lines(&path)?.collect::<Done<_>>()?;
        if !ranked.iter().map(|ranked| &ranked.query).eq(queries.iter().map(|query| &query.query)) {
            return Err(format!("{name} has answered other queries").into());
        }
        engines.insert(name.to_owned(), ranked.into_iter().map(|ranked| ranked.ranks).collect());
    }
    Ok(engines)
}

#[derive(Default)]
struct Mean {
    queries: f64,
    score: f64,
    nothing: f64,
}

impl Mean {
    fn add(&mut self, score: f64, is_nothing: bool) {
        self.queries += 1.0;
        self.score += score;
        self.nothing += f64::from(u8::from(is_nothing));
    }

    fn told(&self) -> Value {
        let Mean { queries, score, nothing } = self;
        json!({"queries": queries, "ndcg": score / queries, "nothing": nothing / queries})
    }
}

/// Returns the normalised discounted cumulative gain of the first ten results.
fn ndcg(answer: &[String], grades: &BTreeMap<String, f64>) -> f64 {
    let sum = |gains: &mut dyn Iterator<Item = f64>| -> f64 {
        gains.take(LIMIT).enumerate().fold(0.0, |sum, (at, gain)| sum + gain / (at as f64 + 2.0).log2())
    };
    let mut best: Vec<f64> = grades.values().copied().collect();
    best.sort_by(|a, b| b.total_cmp(a));
    sum(&mut answer.iter().map(|id| grades.get(id).copied().unwrap_or_default())) / sum(&mut best.into_iter())
}
