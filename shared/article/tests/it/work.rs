//! Tests that work grows at most linearly with the length of a page, whatever its content. Steps are counted, not
//! seconds.

use crate::story::linked;
use curlew_article::{Limits, Work, measure};
use proptest::prelude::*;
use url::Url;

/// Number of steps below which growth is meaningless: open elements accumulate until they reach their limits.
const FLOOR: u64 = 2_500_000;
/// Step limit: a constant, and an amount per byte of the page.
const LINE: (u64, u64) = (9_000_000, 12);

fn work(html: &str) -> Work {
    let page: Url = "https://news.example.org/2026/05/01/story.html".parse().unwrap();
    measure(html, &page, &Limits::default()).1
}

/// Returns a beginning followed by a unit repeated to about `bytes` bytes.
fn page(start: &str, unit: &str, bytes: usize) -> String {
    format!("{start}{}", unit.repeat((bytes / unit.len()).max(1)))
}

/// Checks that a page of twice the length takes at most two and a half times the work.
fn check(start: &str, unit: &str, bytes: usize) -> Result<(), TestCaseError> {
    let (one, two) = (work(&page(start, unit, bytes)).total(), work(&page(start, unit, 2 * bytes)).total());
    let (what, most) = (format!("{:.60} … {unit:.60}", start), one.max(FLOOR) * 5 / 2);
    prop_assert!(two <= most, "{what}: {one} steps, and {two} for twice the page");
    prop_assert!(two <= LINE.0 + LINE.1 * 2 * bytes as u64, "{what}: {two} steps");
    Ok(())
}

fn numbered(many: usize, unit: impl Fn(usize) -> String) -> String {
    (0..many).map(unit).collect()
}

#[test]
fn pages_made_to_be_slow_take_work_in_proportion_to_their_length() {
    let tangled = |many| numbered(many, |n| format!("<b id={n}>"));
    let names = numbered(250, |n| format!(" a{n}"));
    let starts = [
        ("", "<html a b c d e f><body g h i>"),
        (&*tangled(4_400), "</i>"),
        (&*tangled(100), "</i>"),
        (&*tangled(100), "<hr>"),
        (&*tangled(100), "</div>"),
        (&*tangled(100), "<b a=1 c=2></b>"),
        (&*format!("{}<div>", tangled(100)), "</i>"),
        (&*"<span>".repeat(400), "</i>"),
        (&*format!("{}<table>", "<div>".repeat(400)), "x<i>y</i>"),
        (&*"<span hidden>".repeat(400), "x<div>y</div>"),
        ("<div>x", "<span hidden>x<div>y</div></span><i aria-hidden=true>z</i>"),
        ("<x-host>", "<template shadowrootmode=open><slot></slot></template>x"),
        ("", "<x-host><template shadowrootmode=open><slot></slot></template>x</x-host>"),
        (&*"<x-host><template shadowrootmode=open><x-host>".repeat(60), "<slot></slot>"),
        (&*format!("<p><b{names}>"), "<p>x"),
        (&*format!("<p>{}", " ".repeat(60_000)), "<b></b>"),
        (&*format!("<p>{}", " ".repeat(60_000)), "<time class='entry-date'>a</time>"),
        ("", "&"),
        ("<p>", "< "),
        (&*"<span class=date itemprop=name>".repeat(300), "<i></i>"),
        ("<div itemscope itemref=all></div><div id=all>", "<!---->x"),
        (&*format!("{}<div id=all>", "<i itemscope itemref=all></i>".repeat(200)), "<!---->x<i itemprop=name>y</i>"),
        ("", "<tr></table><font size=3><time class='date published'>1 May 2026</time>"),
        ("", "<h1>One of the very many headings of a page</h1>"),
        ("<template id=B:0></template>", "<div hidden id=S:0><template id=B:0></template></div>"),
        ("<h1>One</h1>", "<div><h2>a</h2><p>A sentence of a section, of some forty letters.</p></div>"),
    ];
    for (start, unit) in starts {
        check(start, unit, 100_000).unwrap();
    }
    // Rules that examine lines repeatedly take few steps for each line.
    for (start, unit) in [
        ("<h1>One</h1>", "<h3>a</h3><div hidden><p>A sentence of a panel that is folded.</p></div>"),
        ("<article>", "<h2><a href=/x>Related posts</a></h2><p>a few words</p><p>some more</p><p>and more</p>"),
    ] {
        check(start, unit, 800_000).unwrap();
    }
}

#[test]
fn linked_data_that_is_referred_to_often_is_not_read_often() {
    let page = |many: usize| {
        let (ones, ids) = (vec!["1"; 4 * many].join(","), vec!["{\"@id\":\"x\"}"; many].join(","));
        let reviews = vec!["{\"@type\":\"Review\",\"author\":{\"@id\":\"x\"}}"; many].join(",");
        let blank = " ".repeat(many);
        linked(&format!(
            "{{\"@graph\":[{{\"@id\":\"x\",\"name\":[{ones}],\"alternateName\":\"{blank}\"}},{{\"@type\":\"Review\",\"author\":[{ids}]}},{reviews}]}}"
        ))
    };
    let most = Limits::default().json_values as u64;
    for many in [500, 1_000, 2_000, 4_000] {
        assert!(work(&page(many)).data <= most);
    }
}

#[test]
fn streamed_parts_in_a_chain_are_put_in_their_places_only_as_deep_as_a_page_can_be() {
    let page = |many: usize| {
        let parts = numbered(many, |n| format!("<div hidden id=S:{n}>x<template id=B:{}></template></div>", n + 1));
        format!("<template id=B:0></template>{parts}")
    };
    let (one, two) = (work(&page(4_000)), work(&page(8_000)));
    assert!(two.total() <= one.total() * 5 / 2, "{one:?} {two:?}");
}

fn piece() -> impl Strategy<Value = String> {
    let pieces = "<b>|<i x=1>|<font size=3>|<a href=/x>|</a>|</b>|</i>|</p>|</div>|</td>|</span>|<p>|<div>|<span>|<hr>|<br>|\
        <table>|<tr>|<td>|<caption>|</table>|<ul>|<li>|<dl><dd>|<button>|<select>|<option>|<svg>|<foreignObject>|\
        <math>|<mi>|<template>|</template>|<form>|<h1>|</h1>|<h2>Related posts</h2>|<nobr>|<html a b>|<body c d>|\
        <frameset>|<ruby><rt>|x |&|words, and more of them. |   |\n|<time class='date published'>1 May 2026</time>|\
        <i itemprop=name>|<div itemscope itemref='a b' id=a>|<div class='related share'>|<article>|\
        <div class=entry-content>|<div hidden id=S:1>|<template id=B:1>|<img src=a.jpg>|<!-- c -->|\
        <p style='display:none'>|<title>t|</title>|<textarea>|</textarea>|<a rel=next href=/y>next|\
        <meta name=robots content=all>|</html>|</body>";
    prop::sample::select(pieces.split('|').collect::<Vec<_>>()).prop_map(str::to_owned)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn twice_the_page_is_at_most_two_and_a_half_times_the_work(
        start in prop::collection::vec(piece(), 0..40),
        again in 1..30_usize,
        unit in prop::collection::vec(piece(), 1..6),
    ) {
        check(&start.concat().repeat(again), &unit.concat(), 100_000)?;
    }
}
