//! The judged queries, and the articles that answer them.
//!
//! Each query names the facts that an answering article states. The queries in `judged.jsonl` have other inflections
//! than the articles, or no accents. Those in `habits.jsonl` are questions, have typos, or contain names or a word too
//! many. `languages/` has one file for each of eight languages, with short articles, queries, and the ids of the
//! articles that answer them.

use crate::{Article, Done, lines};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

/// Number of articles that the judged queries are run against.
const JUDGED: usize = 3_200;
/// Query sets by name.
const SETS: [(&str, &str); 2] =
    [("words", include_str!("../judged.jsonl")), ("habits", include_str!("../habits.jsonl"))];
/// Articles and queries by language.
const LANGUAGES: [(&str, &str); 8] = [
    ("ar", include_str!("../languages/ar.jsonl")),
    ("de", include_str!("../languages/de.jsonl")),
    ("en", include_str!("../languages/en.jsonl")),
    ("fr", include_str!("../languages/fr.jsonl")),
    ("it", include_str!("../languages/it.jsonl")),
    ("ja", include_str!("../languages/ja.jsonl")),
    ("th", include_str!("../languages/th.jsonl")),
    ("zh", include_str!("../languages/zh.jsonl")),
];

/// A query, with grades for the articles that answer the query.
#[derive(Deserialize, Serialize)]
pub(crate) struct Query {
    pub(crate) query: String,
    /// Set of the query; queries without one belong to a set without a name.
    #[serde(default, alias = "half")]
    pub(crate) set: String,
    #[serde(default)]
    pub(crate) kind: String,
    /// Language of the query, which is passed to peers but not to this engine.
    #[serde(default)]
    language: String,
    /// Grades by article id. An article without a grade is no answer.
    pub(crate) grades: BTreeMap<String, f64>,
}

/// A line of the file of a language.
#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    Query(Query),
    Article(Article),
}

/// A query as judged by a person.
#[derive(Deserialize)]
struct Judgement {
    query: String,
    kind: String,
    language: String,
    answers: Vec<Rule>,
}

/// Facts that an article must all state to be given a grade.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    grade: f64,
    #[serde(default)]
    title: String,
    #[serde(default)]
    text: String,
}

impl Rule {
    fn is_met(&self, article: &Article) -> bool {
        article.title.contains(&self.title) && article.text.contains(&self.text)
    }
}

/// Writes the articles and the queries with their grades.
pub(crate) fn judge(folder: &Path) -> Done<Value> {
    let articles = lines(&folder.join("texts.jsonl"))?.take(JUDGED).enumerate();
    let articles = articles.map(|(number, article)| Ok(Article { id: number.to_string(), ..article? }));
    let mut articles: Vec<Article> = articles.collect::<Done<_>>()?;
    let mut queries = Vec::new();
    for (set, judgements) in SETS {
        for line in judgements.lines() {
            queries.push(serde_json::from_str::<Judgement>(line)?.resolved(set, &articles)?);
        }
    }
    for (language, lines) in LANGUAGES {
        let language = language.to_owned();
        for line in lines.lines() {
            match serde_json::from_str(line)? {
                Line::Query(query) => {
                    queries.push(Query { set: language.clone(), language: language.clone(), ..query })
                }
                Line::Article(article) => articles.push(Article { language: language.clone(), ..article }),
            }
        }
    }
    write(&folder.join("docs.jsonl"), &articles)?;
    write(&folder.join("queries.jsonl"), &queries)?;
    Ok(json!({"articles": articles.len(), "queries": queries.len()}))
}

impl Judgement {
    /// Gives each article the best grade of the rules that it meets.
    fn resolved(self, set: &str, articles: &[Article]) -> Done<Query> {
        let mut grades = BTreeMap::new();
        for rule in &self.answers {
            let met: Vec<&Article> = articles.iter().filter(|article| rule.is_met(article)).collect();
            if met.is_empty() {
                return Err(format!("no article answers '{}' as '{}{}' does", self.query, rule.title, rule.text).into());
            }
            for article in met {
                let grade: &mut f64 = grades.entry(article.id.clone()).or_default();
                *grade = grade.max(rule.grade);
            }
        }
        Ok(Query { query: self.query, set: set.to_owned(), kind: self.kind, language: self.language, grades })
    }
}

fn write<T: Serialize>(path: &Path, rows: &[T]) -> Done<()> {
    let mut file = BufWriter::new(File::create(path)?);
    for row in rows {
        serde_json::to_writer(&mut file, row)?;
        file.write_all(b"\n")?;
    }
    Ok(file.flush()?)
}
