//! Measures pages that are made to be slow, deep or large. For each it prints milliseconds of processor time and peak
//! resident memory (Linux), measured in a separate process on a thread with a stack of 1 MiB. Pages have at most 4 MB.
//!
//! `cargo run --release -p curlew-article --example hostile` fails if a page takes more than [`MOST_MS`] or
//! [`MOST_MB`]. Each row is named after its attack.
//!
//! `… --example hostile -- search 1 500` makes 500 random pages with the seed 1, and prints the slow ones. Each page
//! consists of a beginning, a repeated unit and an end, made of pieces that some rule examines.
#![allow(clippy::print_stdout, reason = "printing is what this program is for")]
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "it measures time, and starts itself")]

use curlew_article::{Limits, decode, measure, scan_head};
use std::error::Error;
use std::process::Command;

/// Maximum processor time for one page, in milliseconds.
const MOST_MS: u64 = 500;
/// Maximum memory for one page, in MB.
const MOST_MB: u64 = 120;
/// Maximum length of a page, in bytes.
const LONGEST: usize = 4_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => {}
        ["search", seed, pages] => return search(seed.parse()?, pages.parse()?),
        [name, ..] => return one(name),
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
    let (outcome, took) = read(html)?;
    let peak = peak()?;
    println!("{name:<24} {bytes:>9} bytes {took:>6} ms {peak:>5} MB ({before} MB before)  {outcome}");
    if took > MOST_MS || peak > MOST_MB { Err("beyond the limits".into()) } else { Ok(()) }
}

/// Reads a page on a separate thread. Returns the outcome, and the processor time in milliseconds.
fn read(html: String) -> Result<(String, u64), Box<dyn Error>> {
    let thread = std::thread::Builder::new().stack_size(1024 * 1024);
    let read = thread.spawn(move || {
        let page = "https://news.example.org/2026/05/01/story.html".parse().map_err(|_| "no address".to_owned())?;
        let html = decode(html.as_bytes(), Some("text/html; charset=utf-8")).into_owned();
        let seen = scan_head(&html, &page, &Limits::default()).map(|seen| seen.tags);
        let (read, work) = measure(&html, &page, &Limits::default());
        let read = read.map(|article| article.text.len());
        let outcome = format!("tags {seen:?}, text {read:?}, steps {}", work.total());
        Ok::<_, String>((outcome, busy().unwrap_or_default()))
    });
    Ok(read?.join().map_err(|_| "it panicked")??)
}

/// Makes random pages and prints the slow ones: those over [`MOST_MS`] at a quarter of the maximum length.
fn search(seed: u64, pages: usize) -> Result<(), Box<dyn Error>> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    // Xorshift (Marsaglia, 2003).
    let mut draw = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state >> 33).unwrap_or_default() % below
    };
    let pieces: Vec<&str> = PIECES.split('|').collect();
    let mut some = |most: usize| -> String { (0..=draw(most)).map(|_| pieces[draw(pieces.len())]).collect() };
    let mut slow = 0;
    for _ in 0..pages {
        let (start, unit, end) = (some(4), some(6), some(3));
        let whole = tags(&unit);
        let quarter = whole.get(..whole.floor_char_boundary(whole.len() / 4)).unwrap_or_default();
        let (outcome, took) = read(format!("{start}{quarter}{end}"))?;
        if took > MOST_MS {
            slow += 1;
            println!("{took:>6} ms  {start:?} + {unit:?} + {end:?}: {outcome}");
        }
    }
    if slow == 0 { Ok(()) } else { Err(format!("{slow} of {pages} pages are slow").into()) }
}

/// Pieces of random pages.
const PIECES: &str = "<p>A sentence of a section that has some forty letters or more in it.</p>|\
    <p>The ferry sails again once the storm has passed over the bay, and it takes the mail, the bread and the children with it to the island, as it has done on every day of the last hundred years but two.</p>|\
    <p>a few words</p>|<p>港の入り口に立つ古い灯台が一日の朝、十年ぶりに公開された。</p>|<p>Share this article</p>|<p>By Ada Example</p>|\
    <p><a href=/x>Read more about the ferry of the bay</a></p>|<p><b>Question</b></p>|\
    <p>we use cookies, share this post, subscribe to our newsletter</p>|<h1>The ferry sails</h1>|\
    <h2>Related posts</h2>|<h2><a href=/y>Related posts</a></h2>|<h2>The ferry</h2>|<h2>港</h2>|<h3>a</h3>|\
    <h3><a href=/2026/05/02/other.html>Another story of the harbour and its boats</a></h3>|<h4>Contents</h4>|<ul>|\
    </ul>|<li>two eggs</li>|<li><a href=/z>one two</a></li>|<li><a href='#part'>The ferry</a></li>|\
    <ol><li>Stir it until the flour has taken up all of the milk.</li></ol>|<div>|</div>|<div hidden>|\
    <div class='related share comments'>|<div class='entry-content'>|<div class=post id=post-1>|\
    <div class=author-box>|<div class=sidebar>|<div class=card>|<div style='display:none'>|\
    <div itemprop=articleBody>|<div itemscope itemtype='https://schema.org/Article'>|<div aria-hidden=true>|\
    <section>|</section>|<article>|</article>|<main>|</main>|<header>|</header>|<footer>|</footer>|<nav>|</nav>|\
    <aside>|</aside>|<details><summary>a label</summary>|</details>|<blockquote>|</blockquote>|<table><tr><td>|\
    <td>cell</td>|</table>|\
    <figure><img src=/a.jpg width=900 height=600><figcaption>A caption.</figcaption></figure>|\
    <img src=/b.jpg srcset='/c.jpg 900w'>|<time datetime=2026-05-01 class=published>1 May 2026</time>|\
    <span class=author itemprop=author>Ada Example</span>|<a rel=author href=/authors/ada>Ada Example</a>|\
    <a href=/tag/x>x</a> |<a href=/next>Next »</a>|<br>|word |A line that breaks.<br><br>|<pre>code();\n</pre>|<b>|\
    </b>|<em>|</em>|<span>|</span>|<noscript>|</noscript>|<title>The ferry sails</title>|\
    <title>港港港港港港港港港港港港港港港港港港港港 - The Harbour</title>|<meta property=og:title content='The ferry sails'>|\
    <meta property=og:image content=/a.jpg>|<meta name=author content='Ada Example'>|\
    <script type=application/ld+json>{\"@type\":\"Article\",\"headline\":\"The ferry sails\",\"author\":\"Ada\"}</script>|\
    <button>Subscribe</button>|<form><input><label>Mail</label></form>|\
    <iframe src=https://video.example/1></iframe>|<!-- x -->|&nbsp;";

/// Returns the processor time of this thread in milliseconds (proc(5), schedstat), which other load hardly changes.
fn busy() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(text.split_whitespace().next()?.parse::<u64>().ok()? / 1_000_000)
}

/// Returns the peak resident memory so far, in MB.
fn peak() -> Result<u64, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no VmHWM")?;
    Ok(line.trim().trim_end_matches("kB").trim().parse::<u64>()? / 1_000)
}

/// Repeats a unit up to 4 MB.
fn fill(unit: &str) -> String {
    unit.repeat(LONGEST / unit.len())
}

/// Concatenates one unit for each number, up to 4 MB.
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

/// Repeats a unit up to the limit of tags.
fn tags(unit: &str) -> String {
    let each = unit.matches('<').count() - unit.matches("</").count();
    unit.repeat((LONGEST / unit.len()).min((Limits::default().tags - 10) / each.max(1)))
}

/// Returns `many` attributes with different names.
fn attributes(many: usize) -> String {
    (0..many).map(|n| format!(" a{n}")).collect()
}

/// Returns `many` formatting elements, all different and left open.
fn tangled(many: usize) -> String {
    (0..many).map(|n| format!("<b id={n}>")).collect()
}

/// Repeats tags of one name, each with different attributes.
fn many_attributes(tag: &str) -> String {
    let tag = tag.trim_matches(['<', '>']);
    numbered(|n| format!("<{tag}{}>", attributes(250).replace('a', &format!("n{}x", usize::MAX - n))))
}

/// Returns a page with a script of JSON-LD.
fn linked(json: &str) -> String {
    format!("<title>T</title><script type=application/ld+json>{json}</script><p>word word word")
}

/// Returns a page with JSON-LD of a thing, and of reviews whose author is that thing.
fn reviewed(thing: &str, reviews: usize) -> String {
    let reviews = vec![r#"{"@type":"Review","author":{"@id":"x"}}"#; reviews].join(",");
    linked(&format!(r#"{{"@graph":[{{"@id":"x",{thing}}},{reviews}]}}"#))
}

/// Returns a page with 200 microdata items that share a part.
fn items(part: &str) -> String {
    format!("{}<div id=all>{part}", "<div itemscope itemref=all></div>".repeat(200))
}

/// Returns nested elements that mark the article. Each contains the rest of the page.
fn nested_marks() -> String {
    ["<article>", "<main>", "<div class=entry-content>", "<div itemprop=articleBody>"].map(|tag| tag.repeat(4)).concat()
}

const PROSE: &str = "<p>The ferry sails again once the storm has passed over the bay.</p>";

type Make = fn() -> String;

/// The pages to measure, by name.
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
    ("b03-b-ids-end-tags", || tangled(4_400) + &fill("</i>")),
    ("b03-b-ids-rules", || tangled(4_400) + &tags("<hr>")),
    ("b03-b-ids-div-end-tags", || tangled(4_400) + &fill("</div>")),
    ("b03-b-few-end-tags", || tangled(120) + &fill("</i>")),
    ("b03-b-few-in-div-end-tags", || tangled(120) + "<div>" + &fill("</i>")),
    ("b03-b-few-rules", || tangled(120) + &tags("<hr>")),
    ("b03-b-few-bold", || tangled(120) + &tags("<b a=1 c=2></b>")),
    ("b03-b-few-paragraphs", || tangled(120) + &tags("<p>x")),
    ("b03-deep-end-tags", || "<div>".repeat(500) + &fill("</u>")),
    ("b03-deep-spans-end-tags", || "<span>".repeat(500) + &fill("</u>")),
    ("b03-deep-foster", || "<div>".repeat(500) + "<table>" + &tags("x<b>y</b>")),
    ("b03-deep-leaves", || "<div>".repeat(500) + &tags("<b><i></i></b>")),
    ("b03-unclosed-end-tags", || tags("<p>") + &fill("</i>")),
    ("b04-end-tag", || format!("<p>text</p{}>", numbered(|n| format!(" a{n}")))),
    ("b04-end-tag-quoted", || fill("</p a='")),
    ("b04-html", || many_attributes("html")),
    ("b04-body", || many_attributes("body")),
    ("b04-names", || numbered(|n| format!("<p a{n} b{n} c{n} d{n} e{n} f{n} g{n} h{n}>"))),
    ("b04-opened-again", || format!("<p><b{}>{}", attributes(250), tags("<p>x"))),
    ("b04-compared", || numbered(|n| format!("<b id={n}{}>", attributes(200)))),
    ("b04-attributes", || format!("<div{}>", numbered(|n| format!(" a{n}=1")))),
    ("b04-as-many-as-allowed", || fill(&format!("<p{}>", attributes(255)))),
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
    ("text-blanks-in-line", || format!("<p>{}{}", " ".repeat(64_000), tags("<b></b>"))),
    ("text-blanks-times", || format!("<p>{}{}", " ".repeat(64_000), tags("<time class='updated entry-date'>a</time>"))),
    ("text-ampersands", || fill("&")),
    ("text-less-than", || fill("< ")),
    ("text-references", || fill("&nbsp;")),
    ("text-dots", || format!("<p>{}", fill("·"))),
    ("text-soft-hyphens", || format!("<p>{}", fill("a\u{AD}"))),
    ("text-quotes", || format!("<p>{}", fill("« a »"))),
    ("text-streamed", || {
        let parts = (0..45_000).map(|n| format!("<div hidden id=S:{n}>t<template id=B:{}></template></div>", n + 1));
        "<template id=B:0></template>".to_owned() + &parts.collect::<String>()
    }),
    ("text-headings-of-words", || format!("<title>{}</title><h1>{}</h1>", "y ".repeat(500), "x ".repeat(1_500_000))),
    ("text-headings-alike", || {
        format!("<title>{}</title>", "y ".repeat(495)) + &tags(&format!("<h1>{}</h1>", "x ".repeat(495)))
    }),
    ("text-nested-times", || tags(&format!("{}x{}", "<span class=date>".repeat(400), "</span>".repeat(400)))),
    ("text-nested-properties", || {
        tags(&("<span itemprop=name>".repeat(400) + &"<i></i>".repeat(1_000) + &"</span>".repeat(400)))
    }),
    ("text-short-lines-no-agreement", || tags("<div><p>word <a href=x>one</a>, two</p></div>")),
    ("text-divs-of-lines", || tags("<div>some words, and more <br>of them<p>one</p></div>")),
    ("text-table-comments", || format!("<table><tr>{}", fill("<!--x-->x"))),
    ("text-tails", || tags("<h2>Related posts</h2>")),
    ("text-tails-linked", || {
        let tail = "<h2><a href=/x>Related posts</a></h2><p>a few words</p><p>some more</p><p>and more";
        format!("<article>{}</article>", tags(tail))
    }),
    ("text-panels", || {
        let panels = tags("<h3>a</h3><div hidden><p>A sentence of a panel that is folded.</p></div>");
        format!("<title>One</title><h1>One</h1>{panels}")
    }),
    ("text-headings-short", || {
        let text = tags("<h2>港</h2>") + "<p>" + &"The ferry sails. ".repeat(20);
        format!("<title>{}</title><article>{text}</article>", "港".repeat(1_000))
    }),
    ("text-blocks-without-tags", || fill("a</p>")),
    ("text-labels-folded", || {
        let (label, link) = ("y".repeat(500), "é".repeat(4_000));
        nested_marks() + &fill(&format!("<p>{label}<a href=/x>{link} a b c d e f</a></p>"))
    }),
    ("text-headlines-folded", || {
        nested_marks() + &fill(&format!("<p><a href=/x>{} a b c d</a></p>", "é".repeat(4_000)))
    }),
    ("text-own-address", || nested_marks() + &fill("www.a</p>")),
    ("text-closing-signs", || nested_marks() + &fill(&format!("<p>a{}", ")".repeat(9_000)))),
    ("text-leads-repeated", || {
        let lead = format!("<p>{}.</p>", "é".repeat(60)).repeat(22);
        format!("<title>One</title><h1>One</h1>{lead}<article><p>{}.", "é".repeat(1_900_000))
    }),
    ("text-headings-for-fallback", || {
        let (many, long) = ("<h2>zq</h2>".repeat(20_000), "ab cd ".repeat(130_000));
        format!("<article>abc</article><div>{PROSE}{PROSE}</div>{many}<h1>{long}</h1>")
    }),
    ("text-deep-for-fallback", || format!("<article>abc</article>{}<p>{}", "<div>".repeat(120), "é".repeat(500_000))),
    ("text-long-class-in-headings", || {
        format!("{}<span class='{}'></span>", "<h2><div>".repeat(240), "a ".repeat(1_900_000))
    }),
    ("text-headings-of-nothing", || {
        fill(&format!("{}{}{}", "<h2><div>".repeat(50), "\u{7f}".repeat(4_097), "</div></h2>".repeat(50)))
    }),
    ("text-long-blank-link", || format!("{}<a href=#x>{}</a>", "<h2><div>".repeat(240), " ".repeat(3_900_000))),
    ("bylines-of-nothing", || {
        fill(&format!("{}{}{}", "<b class=fn>".repeat(16), "e\u{301}".repeat(171), "</b>".repeat(16)))
    }),
    ("bylines-in-comments", || "<b>".repeat(4_400) + "<div class=comments>" + &tags("<a href=/u/x>a</a>")),
    ("author-long", || {
        let names = "文:".repeat(990_000);
        format!("<meta property=article:author name=author http-equiv=dc.creator itemprop=author content='{names}'>")
    }),
    ("head-relations", || {
        format!("<link href=/x rel='{}' type='{}'>", "license ".repeat(240_000), "x".repeat(1_900_000))
    }),
    ("head-blank-image", || format!("<link rel='{}' href='{}'>", "image_src ".repeat(190_000), " ".repeat(1_900_000))),
    ("head-links-in-links", || format!("{PROSE}<!--{}-->", format!("{}>", "<link".repeat(818)).repeat(970))),
    ("items-content", || items(&format!("<b itemprop='a b c d e f g h' content='{}'>", "x".repeat(3_900_000)))),
    ("items-srcset", || items(&format!("<img itemprop='a b c d e f g h' srcset='{}'>", "a 1x, ".repeat(600_000)))),
    ("items-many-srcsets", || {
        let srcset = format!("srcset='{}'", "a, ".repeat(5_461));
        let image = format!("<img itemprop='a b c d e f g h' {srcset} data-{srcset} data-lazy-{srcset}>");
        items(&image.repeat(25))
    }),
    ("b04-opened-again-with-values", || {
        let style = ";".repeat(16_384);
        format!("<p><b style='{style}'><i style='{style}'>") + &tags("<p>x")
    }),
    ("text-signs-at-ends", || nested_marks() + &fill(&format!("{}</p>", "჻".repeat(64)))),
    ("text-deep-widget-for-fallback", || {
        format!("<article>abc</article><div class=widget>{}<p>{}", "<div>".repeat(27), "Σჼჼჼ".repeat(90_000))
    }),
    ("json-ld-long-type", || reviewed(&format!(r#""name":"y","@type":"{}""#, "a".repeat(600_000)), 9_000)),
    ("items-classes", || {
        let (names, class) = ("datePublished ".repeat(8), "a".repeat(3_900_000));
        items(&format!("<b itemprop='{names}'><i datetime=2026-05-01 class='{class}'>"))
    }),
    ("items-attributes", || {
        let (names, values) = ("datePublished ".repeat(8), format!("<i{}></i>", attributes(250)).repeat(46));
        items(&fill(&format!("<b itemprop='{names}'>{values}</b>")))
    }),
    ("json-ld-steps", || {
        let list = vec!["1"; 450_000].join(",");
        let list = format!(r#"{{"@id":"x","itemListElement":[{{"@id":"x"}},{list}]}}"#);
        linked(&format!(r#"{{"@graph":[{list},{{"@type":"HowTo","step":{{"@id":"x"}}}}]}}"#))
    }),
    ("json-ld-types", || reviewed(&format!(r#""name":"y","@type":[{}]"#, vec![r#""a""#; 125_000].join(",")), 10_000)),
    ("titles-blank", || format!("<title>{}</title>", " ".repeat(8_000)) + &tags("<title> </title>")),
    ("text-paragraphs", || tags(PROSE)),
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
    ("items-comments", || {
        let part = fill("<!--x-->x").chars().take(3_000_000).collect::<String>();
        "<div itemscope itemtype=Article itemref=all></div>".repeat(10_000) + &format!("<div id=all>{part}</div>")
    }),
    ("items-names", || {
        format!("<div itemscope><b itemprop='{}'>{}</b>", "a ".repeat(1_500_000), "<i></i>".repeat(1_000))
    }),
    ("json-ld-names", || {
        let (ones, ids) = (vec!["1"; 260_000].join(","), vec![r#"{"@id":"x"}"#; 35_000].join(","));
        linked(&format!(r#"{{"@graph":[{{"@id":"x","name":[{ones}]}},{{"@type":"Review","author":[{ids}]}}]}}"#))
    }),
    ("json-ld-blanks", || reviewed(&format!(r#""name":"{}""#, " ".repeat(500_000)), 10_000)),
    ("json-ld-tags", || linked(&format!(r#"{{"@type":"Article","articleBody":"{}"}}"#, "<a ".repeat(330_000)))),
    ("json-ld-author-tags", || linked(&format!(r#"{{"@type":"Article","author":"{}"}}"#, "<a".repeat(500_000)))),
    ("json-ld", || {
        let graph = fill("{\"@id\":\"#a\",\"@type\":\"Article\",\"image\":{\"@id\":\"#a\"}},");
        format!(
            "<script type=application/ld+json>{{\"@graph\":[{}{{}}]}}</script>",
            graph.get(..1_000_000).map_or("", |g| g.rsplit_once("{\"@id\":\"#a\",\"@type").map_or("", |(g, _)| g))
        )
    }),
    ("stored-noscript", || format!("<noscript>{}", "<div class=post><p>some word ".repeat(100_000))),
    ("stored-values", || format!("<script type=application/json>[{}\"\"]</script>", "[],".repeat(160_000))),
    ("stored-deep", || {
        let prose = format!("{}\"one of the many words of a text that is long\"{}", "[".repeat(120), "]".repeat(120));
        format!("<script type=application/json>[{}[]]</script>", format!("{prose},").repeat(1_500))
    }),
    ("stored-html", || {
        let html = "<b><i><p>one of the many words of a text that is long</b> ".repeat(4_000);
        format!("<script type=application/json>[\"{html}\"]</script>")
    }),
    ("stored-rows", || format!("<script>self.__next_f.push([1,\"{}\"])</script>", "1:T\\n".repeat(100_000))),
    ("stored-lines", || format!("<script>self.__next_f.push([1,\"{}:\"])</script>", "\\n".repeat(250_000))),
    ("json-ld-deep", || format!("<script type=application/ld+json>{}</script>", fill("["))),
    ("not-utf-8", || fill("\u{e2}\u{20ac}\u{201d}")),
];
