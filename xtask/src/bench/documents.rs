//! Single components over generated documents: the robots.txt matcher and the feed parser.

use super::table::Table;
use super::{Bench, Checked};
use anyhow::{Result, bail};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Number of robots.txt documents, each with one question.
const ROBOTS: usize = 6_000;
/// Number of groups in each document, one product token per group; Curlew's is in the middle.
const GROUPS: usize = 60;
/// Number of rules of each group.
const RULES: usize = 10;

/// Number of questions with many URLs each about a file of typical size, so that the decisions dominate.
const DECISION_QUESTIONS: usize = 100;
/// Number of URLs in each of these questions.
const DECISION_URLS: usize = 5_000;
/// Maximum size of the robots.txt file in these questions, in bytes.
const DECISION_FILE: usize = 2 * 1024;
/// Maximum processor time of a decision, including its URL and answer, in microseconds: 100,000 per second.
const DECISION_BAR: f64 = 10.0;

/// Number of feeds, half of them RSS and half Atom.
pub(crate) const FEEDS: usize = 400;
/// Number of entries in each feed.
const ENTRIES: usize = 30;
/// Number of paragraphs of each entry's content.
const PARAGRAPHS: usize = 8;
const PARAGRAPH: &str = "<p>The ferry leaves at <b>seven</b>, and whoever misses it walks along the quay &amp; waits \
    under the <a href=\"/lamps?colour=yellow&amp;at=night\">yellow lamps</a> for the next one, as all of us did.</p>";

/// Measures the throughput of both components, including the reading of the questions, which are JSON.
pub(crate) fn measure(bench: &Bench, table: &mut Table) -> Result<()> {
    let texts: Vec<String> = (0..ROBOTS).map(robots).collect();
    let questions: Vec<Value> = texts.iter().enumerate().map(robots_question).collect();
    let checked = bench.check("robots", &questions)?;
    let allowed = checked.answers.iter().filter(|answer| answer["allowed"] == true).count();
    if allowed != ROBOTS / 2 {
        bail!("{allowed} of {ROBOTS} URLs are allowed, and it should be every other one");
    }
    table.figure("robots.txt (check robots), documents parsed and asked once", rate(&texts, &checked), "MB/s");

    let questions: Vec<Value> = (0..DECISION_QUESTIONS).map(decisions_question).collect();
    let checked = bench.check("robots", &questions)?;
    let decisions = checked.answers.iter().filter_map(|a| a["decisions"].as_array()).flatten();
    let (allowed, all) = decisions.fold((0, 0), |(yes, all), d| (yes + usize::from(d["allowed"] == true), all + 1));
    if all != DECISION_QUESTIONS * DECISION_URLS || allowed != all / 2 {
        bail!("{allowed} of {all} URLs are allowed, and it should be every other one");
    }
    let each = checked.used.cpu_seconds * 1e6 / all as f64;
    table.barred("robots.txt, processor time of a decision against a file of 2 KiB", each, "µs", DECISION_BAR);

    let texts: Vec<String> = (0..FEEDS).map(|n| if n % 2 == 0 { rss(n) } else { atom(n) }).collect();
    let questions: Vec<Value> = texts.iter().enumerate().map(feed_question).collect();
    let checked = bench.check("feed", &questions)?;
    let entries: usize = checked.answers.iter().filter_map(|a| a["feed"]["entries"].as_array()).map(Vec::len).sum();
    if entries != FEEDS * ENTRIES {
        bail!("{entries} entries were read, and there are {}", FEEDS * ENTRIES);
    }
    table.figure("feeds (check feed), RSS and Atom with full content", rate(&texts, &checked), "MB/s");
    table.figure("feeds, entries a second and core", entries as f64 / checked.used.cpu_seconds, "");
    Ok(())
}

fn rate(texts: &[String], checked: &Checked) -> f64 {
    let bytes: usize = texts.iter().map(String::len).sum();
    bytes as f64 / 1e6 / checked.used.cpu_seconds
}

/// Returns a question about a document that allows the question's URL if `n` is even, and forbids it otherwise.
fn robots_question((n, text): (usize, &String)) -> Value {
    let path = if n % 2 == 0 { format!("/{n}/open/page") } else { format!("/{n}/shelf-3/under/page.html") };
    json!({"id": n, "robots": text, "agent": "CurlewBot/1.0", "url": format!("https://shop.test{path}")})
}

/// Returns a question about a file of at most [`DECISION_FILE`] bytes that forbids every other URL of the question.
fn decisions_question(n: usize) -> Value {
    let mut text = String::from("User-agent: *\n");
    for shelf in 0.. {
        let line = match shelf % 3 {
            0 => format!("Disallow: /shelf-{shelf}/*/page*.html$\n"),
            1 => format!("Allow: /shelf-{shelf}/open/\n"),
            _ => format!("Disallow: /till-{shelf}?order=*&receipt=\n"),
        };
        if text.len() + line.len() > DECISION_FILE {
            break;
        }
        text.push_str(&line);
    }
    let path = |i: usize| match i % 4 {
        0 => format!("/shelf-{}/under/page-{n}.html", i % 16 * 3),
        1 => format!("/shelf-{}/open/{i}", i % 16 * 3 + 1),
        2 => format!("/till-{}?order={i}&receipt={n}", i % 16 * 3 + 2),
        _ => format!("/notes/2026/05/{i}/a-longer-title-of-a-page?view={n}"),
    };
    let urls: Vec<String> = (0..DECISION_URLS).map(|i| format!("https://shop.test{}", path(i))).collect();
    json!({"id": n, "robots": text, "agent": "CurlewBot/1.0", "urls": urls})
}

fn robots(n: usize) -> String {
    let mut text = String::new();
    for group in 0..GROUPS {
        let agent = if group == GROUPS / 2 { "CurlewBot".to_owned() } else { format!("Visitor{group}Bot") };
        // Writing to a String does not fail.
        let _ = writeln!(text, "# rules for guest {group}\nUser-agent: {agent}");
        for rule in 0..RULES {
            let _ = match rule % 3 {
                0 => writeln!(text, "Disallow: /{n}/shelf-{rule}/*/page*.html$"),
                1 => writeln!(text, "Allow: /{n}/shelf-{rule}/open/"),
                _ => writeln!(text, "Disallow: /{n}/till?order={group}&receipt=*"),
            };
        }
        text.push('\n');
    }
    text
}

fn feed_question((n, text): (usize, &String)) -> Value {
    json!({"id": n, "url": format!("https://feeds.test/{n}"), "body": text})
}

pub(crate) fn rss(n: usize) -> String {
    let content = PARAGRAPH.repeat(PARAGRAPHS);
    let mut items = String::new();
    for entry in 0..ENTRIES {
        let _ = writeln!(
            items,
            "<item><title>Notes from quay {n}, part {entry}</title><link>https://quay.test/{n}/{entry}</link>\
             <guid>https://quay.test/{n}/{entry}</guid><pubDate>Mon, 04 May 2026 {:02}:00:00 +0200</pubDate>\
             <dc:creator>Ada Rossi</dc:creator><description>What happened at the quay.</description>\
             <content:encoded><![CDATA[{content}]]></content:encoded></item>",
            entry % 24
        );
    }
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<rss version=\"2.0\" \
         xmlns:content=\"http://purl.org/rss/1.0/modules/content/\" xmlns:dc=\"http://purl.org/dc/elements/1.1/\">\
         <channel><title>The quay {n}</title><link>https://quay.test/</link>\
         <description>All that floats.</description>\n{items}</channel></rss>"
    )
}

pub(crate) fn atom(n: usize) -> String {
    let content = PARAGRAPH.repeat(PARAGRAPHS).replace('&', "&amp;").replace('<', "&lt;");
    let mut entries = String::new();
    for entry in 0..ENTRIES {
        let at = format!("2026-05-04T{:02}:00:00+02:00", entry % 24);
        let _ = writeln!(
            entries,
            "<entry><id>tag:quay.test,2026:{n}/{entry}</id><title>Notes from quay {n}, part {entry}</title>\
             <link href=\"https://quay.test/{n}/{entry}\"/><published>{at}</published><updated>{at}</updated>\
             <author><name>Ada Rossi</name></author><content type=\"html\">{content}</content></entry>"
        );
    }
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\">\
         <id>tag:quay.test,2026:{n}</id><title>The quay {n}</title><updated>2026-05-04T10:00:00+02:00</updated>\
         <link href=\"https://quay.test/\"/>\n{entries}</feed>"
    )
}
