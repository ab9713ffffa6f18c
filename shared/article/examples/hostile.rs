//! What pages take that are made to be slow, deep or large: milliseconds of processor time and the peak of resident memory
//! (Linux) of each, in a process of its own, on a thread with a stack of 1 MiB. Each page has at most 4 MB.
//!
//! `cargo run --release -p curlew-article --example hostile`; it fails if a page takes more than [`MOST_MS`] or
//! [`MOST_MB`]. Rows are named after what they try.
#![allow(clippy::print_stdout, reason = "printing is what this program is for")]
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "it measures time, and starts itself")]

use curlew_article::{Limits, decode, extract, glance};
use std::error::Error;
use std::process::Command;

/// Most milliseconds for one page.
const MOST_MS: u64 = 500;
/// Most memory for one page, in MB.
const MOST_MB: u64 = 120;
/// Longest page, in bytes.
const LONGEST: usize = 4_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    if let Some(name) = std::env::args().nth(1) {
        return one(&name);
    }
    let mut failed = Vec::new();
    for (name, _) in PAGES {
        let run = Command::new(std::env::current_exe()?).arg(name).output()?;
        let line = String::from_utf8_lossy(&run.stdout);
        print!("{line}");
        if !run.status.success() {
            failed.push(*name);
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(format!("beyond the limits: {}", failed.join(", ")).into()) }
}

fn one(name: &str) -> Result<(), Box<dyn Error>> {
    let (_, make) = PAGES.iter().find(|(known, _)| *known == name).ok_or("there is no such page")?;
    let mut html = make();
    html.truncate(html.floor_char_boundary(LONGEST));
    let bytes = html.len();
    let before = peak()?;
    let thread = std::thread::Builder::new().stack_size(1024 * 1024);
    let (outcome, took) = thread
        .spawn(move || {
            let page = "https://news.example.org/2026/05/01/story.html".parse().map_err(|_| "no address".to_owned())?;
            let html = decode(html.as_bytes(), Some("text/html; charset=utf-8")).into_owned();
            let seen = glance(&html, &page, &Limits::default()).map(|seen| seen.tags);
            let read = extract(&html, &page, &Limits::default()).map(|article| article.text.len());
            Ok::<_, String>((format!("tags {seen:?}, text {read:?}"), busy().unwrap_or_default()))
        })?
        .join()
        .map_err(|_| "it panicked")??;
    let peak = peak()?;
    println!("{name:<24} {bytes:>9} bytes {took:>6} ms {peak:>5} MB ({before} MB before)  {outcome}");
    if took > MOST_MS || peak > MOST_MB { Err("beyond the limits".into()) } else { Ok(()) }
}

/// The processor time of this thread so far, in milliseconds (proc(5), schedstat), so that others on the machine count
/// little.
fn busy() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(text.split_whitespace().next()?.parse::<u64>().ok()? / 1_000_000)
}

/// The most memory that was resident so far, in MB.
fn peak() -> Result<u64, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no VmHWM")?;
    Ok(line.trim().trim_end_matches("kB").trim().parse::<u64>()? / 1_000)
}

/// A unit, as often as 4 MB hold it.
fn fill(unit: &str) -> String {
    unit.repeat(LONGEST / unit.len())
}

/// A unit for each number, up to 4 MB.
fn numbered(unit: impl Fn(usize) -> String) -> String {
    let mut out = String::new();
    for n in 0.. {
        if out.len() >= LONGEST {
            break;
        }
        out.push_str(&unit(n));
    }
    out
}

/// As many units as the limit of tags lets through.
fn tags(unit: &str) -> String {
    let each = unit.matches('<').count() - unit.matches("</").count();
    unit.repeat((LONGEST / unit.len()).min((Limits::default().tags - 10) / each.max(1)))
}

type Make = fn() -> String;

/// What is tried.
const PAGES: &[(&str, Make)] = &[
    ("b01-div", || fill("<div>")),
    ("b01-section-400-deep", || tags(&format!("{}x{}", "<section>".repeat(400), "</section>".repeat(400)))),
    ("b02-ul-li", || fill("<ul><li>")),
    ("b03-b-i", || fill("<b><i>")),
    ("b03-tables", || fill("<table><tr><td>")),
    ("b03-hidden-depth", || fill("<b><div></b>")),
    ("b03-span-depth", || fill("<span><div></span>")),
    ("b03-font-in-p", || numbered(|n| format!("<p><font size={n}>"))),
    ("b03-font-deep", || "<font color=red>".repeat(4_400) + &fill("word ")),
    ("b04-attributes", || format!("<div{}>", numbered(|n| format!(" a{n}=1")))),
    ("b04-as-many-as-allowed", || fill(&format!("<p{}>", (0..255).map(|n| format!(" a{n}")).collect::<String>()))),
    ("b04-same-name", || fill(&format!("<p{}>", " a".repeat(255)))),
    ("b04-quoted", || format!("<div{}>", fill(" a='>'"))),
    ("b05-svg-paths", || tags("<path d='M0 0L1 1'/>").replacen("<path", "<svg><path", 1)),
    ("b06-anchors", || "<a>".repeat(4_000) + &"<i>".repeat(4_000) + &"</a>".repeat(4_000)),
    ("b06-a-b-p", || tags("<a><b><p></a>")),
    ("b07-frameset", || fill("<frameset>")),
    ("b07-template", || fill("<template>")),
    ("b07-select", || fill("<select><option>")),
    ("b07-foreign", || fill("<svg><foreignObject>")),
    ("b07-math", || fill("<math><annotation-xml encoding='text/html'>")),
    ("b07-caption", || fill("<table><caption>")),
    ("b07-foster", || tags("<table>x<b>")),
    ("b07-plaintext", || format!("<plaintext>{}", fill("<p>"))),
    ("b07-nobr", || fill("<nobr>")),
    ("b07-button-p", || fill("<button><p>")),
    ("b07-ruby", || tags("<ruby><rt>x")),
    ("b08-data", || format!("<p>text<img src='data:image/png;base64,{}'>", fill("QUJD"))),
    ("b08-script", || format!("<p>text<script>{}</script>", fill("a<b&&c>'d';\n"))),
    ("b08-comment", || format!("<!--{}-->", fill("<a b='"))),
    ("b10-canonicals", || tags("<link rel=canonical href=/a>")),
    ("b10-different", || numbered(|n| format!("<link rel=canonical href=/{n}>"))),
    ("b15-hidden", || tags("<p style='display:none'>unseen words</p>")),
    ("b16-long-line", || fill("abandon all hope, ")),
    ("b16-long-word", || fill("a")),
    ("text-paragraphs", || tags("<p>The ferry sails again once the storm has passed over the bay.</p>")),
    ("text-phrases", || tags("<p>we use cookies, share this post, subscribe to our</p>")),
    ("text-marks", || fill("e\u{301}\u{302}\u{303}\u{304}\u{305}\u{306}\u{307}")),
    ("text-japanese", || tags("<p>港の入り口に立つ古い灯台が一日の朝、十年ぶりに公開された。</p>")),
    ("text-breaks", || tags("one line<br>")),
    ("text-headings", || tags("<h1>The ferry sails</h1>")),
    ("text-links", || tags("<a href=/x>one two</a> ")),
    ("text-parts", || {
        tags("<div class='related share comments'><p>one <a href=x>two</a></p><h2>Related posts</h2></div>")
    }),
    ("text-nested-parts", || {
        let open: String = (0..500).map(|n| format!("<div class='entry-content c{n}'>text of some words ")).collect();
        tags(&format!("{open}{}", "</div>".repeat(500)))
    }),
    ("text-classes", || numbered(|n| format!("<p class='a{n} b{n}-share'>x"))),
    ("text-articles", || tags("<article><p>The ferry sails again once the storm has passed.</p></article>")),
    ("dates", || tags("<time datetime=x class='post-date updated'>1 maj 2026 2 mai 2026</time>")),
    ("dates-in-script", || format!("<script>{}</script>", fill("\"datePublished\":\"x\","))),
    ("images", || tags("<img src=/a.jpg srcset='/b.jpg 1x, /c.jpg 2x'>")),
    ("metas", || tags("<meta property=og:image content='data:x'>")),
    ("title", || format!("<title>{}</title>", fill("A - B | "))),
    ("items", || tags("<div itemscope itemref='a b c'><b id=a itemprop=name>x</b></div>")),
    ("items-one-part", || {
        let part = tags("<i itemprop=name>x</i>").chars().take(2_000_000).collect::<String>();
        "<div itemscope itemtype=Article itemref=all></div>".repeat(30_000) + &format!("<div id=all>{part}</div>")
    }),
    ("json-ld", || {
        let graph = fill("{\"@id\":\"#a\",\"@type\":\"Article\",\"image\":{\"@id\":\"#a\"}},");
        format!(
            "<script type=application/ld+json>{{\"@graph\":[{}{{}}]}}</script>",
            graph.get(..1_000_000).map_or("", |g| g.rsplit_once("{\"@id\":\"#a\",\"@type").map_or("", |(g, _)| g))
        )
    }),
    ("json-ld-deep", || format!("<script type=application/ld+json>{}</script>", fill("["))),
    ("not-utf-8", || fill("\u{e2}\u{20ac}\u{201d}")),
];
