//! `cargo xtask score PATH [pages|feeds|robots]`: scores `curlew check` on labelled documents.
//!
//! PATH is a file of cases or a folder with `extraction/pages.jsonl.gz`, `feeds/cases.jsonl.gz` and
//! `robots/cases.jsonl`. The documents belong to others and stay outside of this repository. The function of each part
//! documents its comparison.
//!
//! With `CURLEW_BENCH_PYTHON` set to a Python that has trafilatura, the same run also scores trafilatura on the same
//! pages.

mod labels;

use crate::bench::process;
use crate::run::{cargo, root, run, target};
use anyhow::{Context, Result, bail};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Answers by the id of their question.
type Answers = HashMap<String, Value>;

/// Asks the program about all cases, and prints the scores.
type Judge = fn(&Path, &[Value]) -> Result<()>;

/// Number of correct cases, and number of all cases.
#[derive(Clone, Copy, Default)]
struct Tally {
    right: usize,
    all: usize,
}

impl Tally {
    fn count(&mut self, right: bool) {
        self.right += usize::from(right);
        self.all += 1;
    }

    fn print(self, what: &str) {
        eprintln!("  {what}: {} of {} ({:.4})", self.right, self.all, self.right as f64 / self.all.max(1) as f64);
    }
}

pub(crate) fn score(words: &[String]) -> Result<()> {
    let Some((path, parts)) = words.split_first() else {
        bail!("say where the cases are: cargo xtask score PATH [pages|feeds|robots]");
    };
    let path = root().join(path);
    let parts: Vec<&str> =
        if parts.is_empty() { vec!["pages", "feeds", "robots"] } else { parts.iter().map(String::as_str).collect() };
    run(cargo().args(["build", "--release", "--locked", "-p", "curlew"]))?;
    let curlew = target()?.join("release/curlew");
    for part in parts {
        let (file, judge): (&str, Judge) = match part {
            "pages" => ("extraction/pages.jsonl.gz", pages),
            "feeds" => ("feeds/cases.jsonl.gz", feeds),
            "robots" => ("robots/cases.jsonl", robots),
            _ => bail!("there is no score '{part}', only pages, feeds and robots"),
        };
        let file = if path.is_dir() { path.join(file) } else { path.clone() };
        let cases = read(&file)?;
        eprintln!("xtask: {part}, {} cases of {}", cases.len(), file.display());
        judge(&curlew, &cases)?;
    }
    Ok(())
}

/// Reads cases from a file of JSON Lines, gzipped or plain.
fn read(file: &PathBuf) -> Result<Vec<Value>> {
    let text = if file.extension().is_some_and(|end| end == "gz") {
        let unpacked = Command::new("gzip").arg("-dc").arg(file).output().context("gzip cannot be started")?;
        if !unpacked.status.success() {
            bail!("{} cannot be unpacked", file.display());
        }
        String::from_utf8(unpacked.stdout)?
    } else {
        std::fs::read_to_string(file).with_context(|| format!("{} cannot be read", file.display()))?
    };
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.map(|line| serde_json::from_str(line).context("a line is no JSON")).collect()
}

/// Returns the cases as questions with only the named fields and those of `also`, so that no label is passed on.
fn questions(cases: &[Value], fields: &[&str], also: &Value) -> String {
    let mut questions = String::new();
    for case in cases {
        let mut question: Map<String, Value> = also.as_object().cloned().unwrap_or_default();
        for name in fields {
            if let Some(value) = case.get(name).filter(|value| !value.is_null()) {
                question.insert((*name).to_owned(), value.clone());
            }
        }
        questions.push_str(&Value::Object(question).to_string());
        questions.push('\n');
    }
    questions
}

/// Asks `curlew check` about every case.
fn ask(curlew: &Path, what: &str, cases: &[Value], fields: &[&str], also: &Value) -> Result<Answers> {
    let mut command = Command::new(curlew);
    command.args(["check", what]);
    Ok(answers(command, cases.len(), questions(cases, fields, also))?.0)
}

/// Returns a program's answers to `cases` questions, and its processor time in seconds.
fn answers(command: Command, cases: usize, questions: String) -> Result<(Answers, f64)> {
    let used = process::measure(command, Some(questions.into_bytes()))?;
    let seconds = used.cpu_seconds.max(0.01);
    eprintln!(
        "  {:.0} a second of processor time ({seconds:.2} s), reading the questions included; at most {:.0} MB",
        cases as f64 / seconds,
        used.peak_bytes / 1e6
    );
    let lines = used.stdout.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    Ok((lines.map(|answer| (id(&answer), answer)).collect(), seconds))
}

/// The program that answers the questions with trafilatura; without a question it only starts.
const OTHER: &str = "\
import base64, json, sys, trafilatura
for line in sys.stdin:
    q = json.loads(line)
    d = trafilatura.bare_extraction(base64.b64decode(q['body_b64']), url=q['url'], with_metadata=True)
    d = d.as_dict() if d else {}
    print(json.dumps({'id': q['id'], 'text': d.get('text'), 'title': d.get('title'), 'published': d.get('date'),
                      'author': d.get('author'), 'image': d.get('image'), 'canonical': d.get('url')}))";

fn id(value: &Value) -> String {
    value.get("id").map(Value::to_string).unwrap_or_default()
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Scores pages: first Curlew's answers, then those of trafilatura if `CURLEW_BENCH_PYTHON` is set.
fn pages(curlew: &Path, cases: &[Value]) -> Result<()> {
    let asked = questions(cases, &["id", "url", "body_b64"], &json!({}));
    let mut command = Command::new(curlew);
    command.args(["check", "page"]);
    let (ours, seconds) = answers(command, cases.len(), asked.clone())?;
    judge_pages(cases, &ours)?;
    if let Some(python) = std::env::var_os("CURLEW_BENCH_PYTHON") {
        eprintln!(" trafilatura");
        let other = || {
            let mut command = Command::new(&python);
            command.args(["-c", OTHER]);
            command
        };
        let start = process::measure(other(), Some(Vec::new()))?.cpu_seconds;
        let (theirs, other_seconds) = answers(other(), cases.len(), asked)?;
        let seconds = seconds / (other_seconds - start).max(0.01);
        eprintln!("  processor time of ours / of trafilatura, its start ({start:.2} s) left out: {seconds:.3}");
        judge_pages(cases, &theirs)?;
    }
    Ok(())
}

/// Prints precision and recall by runs of four words, averaged over the pages; shares of equal titles, authors and days
/// of publication; of forbidden snippets that are absent; of main images and canonical URLs for pages with [`labels`].
/// Also prints each score for two halves of the cases (by a hash of the id), to show rules that fit only one half.
fn judge_pages(cases: &[Value], answers: &Answers) -> Result<()> {
    let labels = labels::load()?;
    for (name, half) in [("first half", Some(0)), ("second half", Some(1)), ("all", None)] {
        eprintln!(" {name}");
        let chosen = cases.iter().filter(|case| half.is_none_or(|half| hash(&id(case)) % 2 == half));
        let (mut precision, mut recall, mut count) = (0.0, 0.0, 0.0_f64);
        let (mut title, mut day, mut without) = (Tally::default(), Tally::default(), Tally::default());
        let (mut image, mut canonical, mut author) = (Tally::default(), Tally::default(), Tally::default());
        for case in chosen {
            let none = Value::Null;
            let answer = answers.get(&id(case)).unwrap_or(&none);
            let (p, r) = overlap(text(case, "text"), text(answer, "text"));
            precision += p;
            recall += r;
            count += 1.0;
            if !text(case, "title").is_empty() {
                title.count(folded(text(case, "title")) == folded(text(answer, "title")));
            }
            if !text(case, "published").is_empty() {
                let first = |value: &Value| text(value, "published").chars().take(10).collect::<String>();
                day.count(first(case) == first(answer));
            }
            if !text(case, "author").is_empty() {
                author.count(folded(text(case, "author")) == folded(text(answer, "author")));
            }
            let kept = folded(text(answer, "text"));
            for snippet in case.get("without").and_then(Value::as_array).into_iter().flatten() {
                without.count(!kept.contains(&folded(snippet.as_str().unwrap_or_default())));
            }
            labels::count(&labels, text(case, "url"), answer, &mut image, &mut canonical);
        }
        let (p, r) = (precision / count.max(1.0), recall / count.max(1.0));
        eprintln!("  text: precision {p:.4}, recall {r:.4}, F1 {:.4}, {count} pages", 2.0 * p * r / (p + r).max(1e-9));
        title.print("titles");
        day.print("days of publication");
        author.print("authors");
        without.print("boilerplate kept out");
        image.print("main images");
        canonical.print("canonical addresses");
    }
    Ok(())
}

/// Returns the FNV-1a hash of a text, so that the halves are the same on every machine.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3))
}

/// Returns precision and recall of `mine` against `gold` by runs of four words, which count as often as they occur.
fn overlap(gold: &str, mine: &str) -> (f64, f64) {
    let (gold, mine) = (runs(gold), runs(mine));
    let size = |runs: &HashMap<Vec<&str>, usize>| runs.values().sum::<usize>() as f64;
    let common: usize = gold.iter().map(|(run, n)| *mine.get(run).unwrap_or(&0).min(n)).sum();
    let share = |of: f64, none: f64| if of > 0.0 { common as f64 / of } else { none };
    (share(size(&mine), 0.0), share(size(&gold), 1.0))
}

fn runs(text: &str) -> HashMap<Vec<&str>, usize> {
    /// Number of words in a run.
    const RUN: usize = 4;
    let letter = |c: char| c.is_alphanumeric() || c == '_';
    let words: Vec<&str> = text.split(|c: char| !letter(c)).filter(|word| !word.is_empty()).collect();
    let mut out = HashMap::new();
    for run in words.windows(RUN.min(words.len()).max(1)) {
        *out.entry(run.to_vec()).or_default() += 1;
    }
    out
}

/// Returns the words of a text in lower case, separated by single spaces.
fn folded(text: &str) -> String {
    let text = unescaped(text);
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ").to_lowercase()
}

/// Replaces the character references that labels contain.
fn unescaped(text: &str) -> String {
    [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&nbsp;", " "), ("&amp;", "&")]
        .iter()
        .fold(text.to_owned(), |text, (name, character)| text.replace(name, character))
}

/// Scores feeds by each labelled field, with white space normalised. A date may be in `published` or `updated`.
fn feeds(curlew: &Path, cases: &[Value]) -> Result<()> {
    let fields = ["id", "body_b64", "content_type"];
    let answers = ask(curlew, "feed", cases, &fields, &json!({"url": "https://example.org/feed"}))?;
    let (mut readable, mut right) = (Tally::default(), Tally::default());
    for case in cases {
        let feed = answers.get(&id(case)).and_then(|answer| answer.get("feed"));
        readable.count(feed.is_some());
        for (name, wanted) in case.get("expect").and_then(Value::as_object).into_iter().flatten() {
            let same = |name: &str| feed.is_some_and(|feed| same(&field(feed, name), wanted));
            let other = if name.ends_with("published") {
                name.replace("published", "updated")
            } else {
                name.replace("updated", "published")
            };
            right.count(same(name) || (other != *name && wanted.is_i64() && same(&other)));
        }
    }
    readable.print("read without error");
    right.print("fields");
    Ok(())
}

/// Returns the field that a label names, such as `feed.title`, `entry_count` or `entries[2].link`.
fn field(feed: &Value, name: &str) -> Value {
    let entries = feed.get("entries").and_then(Value::as_array);
    if name == "entry_count" {
        return json!(entries.map_or(0, Vec::len));
    }
    if let Some((at, name)) = name.strip_prefix("entries[").and_then(|rest| rest.split_once("].")) {
        let entry = at.parse::<usize>().ok().and_then(|at| entries?.get(at));
        return entry.and_then(|entry| entry.get(name)).cloned().unwrap_or_default();
    }
    let name = name.trim_start_matches("feed.");
    feed.get(if name == "subtitle" { "description" } else { name }).cloned().unwrap_or_default()
}

fn same(got: &Value, wanted: &Value) -> bool {
    match (got, wanted) {
        (Value::String(got), Value::String(wanted)) => {
            let plain = |text: &str| {
                let text = unescaped(&unescaped(text));
                let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
                let inner = line.strip_prefix("<div>").and_then(|rest| rest.strip_suffix("</div>"));
                inner.unwrap_or(&line).trim_end_matches('/').to_owned()
            };
            plain(got) == plain(wanted)
        }
        (Value::String(got), Value::Number(wanted)) => seconds(got).is_some_and(|got| wanted.as_i64() == Some(got)),
        _ => got == wanted,
    }
}

/// Parses a time as Curlew prints it, in RFC 3339 and UTC. Returns the seconds since 1970.
fn seconds(text: &str) -> Option<i64> {
    let number = |range: std::ops::Range<usize>| text.get(range)?.parse::<i64>().ok();
    let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
    // Days from a civil date: years begin in March, so that the leap day is the last day of a year.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days =
        365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + (153 * month + 2) / 5 + day
            - 1
            - 719_468;
    Some(days * 86_400 + number(11..13)? * 3_600 + number(14..16)? * 60 + number(17..19)?)
}

/// Scores robots.txt decisions and crawl delays, by the tier of the case.
fn robots(curlew: &Path, cases: &[Value]) -> Result<()> {
    let answers = ask(curlew, "robots", cases, &["id", "agent", "url", "robots", "robots_b64"], &json!({}))?;
    let mut tiers: std::collections::BTreeMap<&str, Tally> = std::collections::BTreeMap::new();
    for case in cases {
        let name = if text(case, "kind") == "allow" { "allowed" } else { "crawl_delay" };
        let got = answers.get(&id(case)).and_then(|answer| answer.get(name)).unwrap_or(&Value::Null);
        let wanted = case.get("expected").unwrap_or(&Value::Null);
        let equal = got == wanted || got.as_f64().zip(wanted.as_f64()).is_some_and(|(got, wanted)| got == wanted);
        tiers.entry(text(case, "tier")).or_default().count(equal);
    }
    for (tier, tally) in tiers {
        tally.print(&format!("tier {tier}"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_words_are_counted_as_often_as_they_occur() {
        assert_eq!(overlap("a b c d e", "a b c d e"), (1.0, 1.0));
        assert_eq!(overlap("a b c d", "a b c d e"), (0.5, 1.0));
        assert_eq!(overlap("a b c d a b c d", "a b c d"), (1.0, 0.2));
        assert_eq!(overlap("a b", "a b"), (1.0, 1.0));
        assert_eq!(overlap("a", ""), (0.0, 0.0));
    }

    #[test]
    fn times_are_read_and_texts_folded() {
        assert_eq!(seconds("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(seconds("2026-03-01T00:00:01Z"), Some(1_772_323_201));
        assert_eq!(folded(" Tom &amp; Ann – “one”  "), "tom ann one");
    }
}
