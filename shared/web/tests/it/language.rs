//! The pages in the language that the caller prefers.

use crate::support::{Answer, Backend, World, backend, form, page, settings};
use curlew_people::stats::PublicCounts;
use curlew_web::{PageSettings, SystemStatus};
use std::collections::BTreeSet;

const ITALIAN: &str = "it-IT,it;q=0.9,en;q=0.5";
fn world() -> World {
    let mut pages: Vec<_> = (0..150).map(|n| page(&format!("https://t.example/{n}"), "curlew", "curlew")).collect();
    pages[0].copies = 1;
    pages[1].copies = 2;
    let status = SystemStatus { counted: Some(PublicCounts::default()), ..SystemStatus::default() };
    World::of(Backend { pages, status, ..Backend::default() })
}

/// Pages that exist, and some that do not.
const PATHS: &str =
    "/ /?q=curlew /?q=curlew&page=10 /?q=nothing /?q=x&page=11 /?q=panic /suggest /bot /status /nowhere";

#[tokio::test]
async fn each_page_is_in_the_language_that_is_asked_for() {
    let world = world();
    for path in PATHS.split(' ') {
        for (asked, given) in [("", "en"), ("en", "en"), ("fr;q=1", "en"), (ITALIAN, "it"), ("it", "it")] {
            let answer = world.get_in(asked, path).await;
            assert_eq!(answer.attributes("html", "lang"), [given], "{path} for {asked}");
        }
    }
    let split = world.get_with("/", &[("accept-language", "en;q=0.1"), ("accept-language", "it;q=0.2")]).await;
    assert_eq!(split.attributes("html", "lang"), ["it"]);
}

#[tokio::test]
async fn no_sentence_is_left_in_the_other_language() {
    let world = world();
    for path in PATHS.split(' ') {
        let (english, italian) = (texts(&world.get(path).await), texts(&world.get_in(ITALIAN, path).await));
        let same: Vec<&String> = english.intersection(&italian).filter(|t| t.split(' ').count() > 2).collect();
        assert_eq!(same, Vec::<&String>::new(), "{path}");
        assert!(english.len() >= 5 && italian.len() >= 5, "{path}");
    }
}

/// Returns the texts of a page that depend on its language, without code, typed text and results.
fn texts(answer: &Answer) -> BTreeSet<String> {
    let dom = answer.dom();
    let ours = dom.tree.nodes().filter_map(|node| {
        let mut around = node.ancestors().filter_map(|a| a.value().as_element().map(|e| e.name()));
        let is_theirs = around.any(|name| ["title", "code", "article", "q", "td"].contains(&name));
        node.value().as_text().filter(|_| !is_theirs)
    });
    ours.map(|text| text.split_whitespace().collect::<Vec<_>>().join(" ")).filter(|t| !t.is_empty()).collect()
}

#[tokio::test]
async fn days_numbers_and_copies_are_written_as_the_language_has_them() {
    let mut first = page("https://t.example/", "curlew", "curlew");
    first.copies = 3;
    let mut pages = vec![first];
    pages.extend((0..1_233).map(|n| page(&format!("https://t.example/{n}"), "curlew", "curlew")));
    let world = World::of(backend(pages));
    let results = world.get_in(ITALIAN, "/?q=curlew").await;
    assert_eq!(results.text("h1"), "1–10 di 1.234 pagine per curlew");
    assert_eq!(results.text("time"), "1 mag");
    assert_eq!(results.all("article .source")[2], "Altre 3 pagine, più recenti, dicono lo stesso.");
    assert_eq!(results.all("nav.pages a[rel=next]"), ["Successiva"]);
    assert_eq!(world.get("/?q=curlew").await.text("h1"), "1–10 of 1,234 pages for curlew");
}

/// Suggests a site as a person who reads Italian.
async fn suggest(world: &World, url: &str, token: &str) -> Answer {
    let mut request = form("/suggest", &[("url", url), ("token", token)]);
    request.headers_mut().insert("accept-language", ITALIAN.parse().unwrap());
    world.send(request).await
}

#[tokio::test]
async fn what_people_send_is_answered_in_their_language() {
    let world = world();
    let token = world.token().await;
    let taken = suggest(&world, "tide.example", &token).await;
    assert!(taken.text(".good").starts_with("Grazie. https://tide.example/"), "{}", taken.body);
    let wild = world.get_in(ITALIAN, "/?q=*x").await;
    for (answer, said) in [
        (suggest(&world, "tide.example", &token).await, "Questo modulo è già stato inviato. Eccone uno nuovo."),
        (wild, "Di «<*x>» non si è tenuto conto: * sta dopo almeno tre lettere di una parola, come in mar*."),
        (
            suggest(&world, "https://blocked.example", &world.token().await).await,
            "«https://blocked.example/» non si può visitare: è escluso dalla regola the substring 'blocked'.",
        ),
    ] {
        assert_eq!(answer.text(".bad"), said);
    }
}

#[tokio::test]
async fn what_programs_read_says_that_it_depends_on_the_language_or_does_not() {
    let world = world();
    let xml = world.get_in(ITALIAN, "/opensearch.xml").await;
    assert_eq!((xml.header("vary"), xml.header("content-language")), ("accept-language", "it"));
    assert!(xml.body.contains("<Description>Cerca con Curlew</Description>"));
    let api = world.get_in(ITALIAN, "/api/v1/search?q=").await;
    assert_eq!(api.json()["detail"], "Say what to look for: q is empty.");
    for path in ["/style.css", "/robots.txt", "/feed/atom?q=curlew", "/api/v1/search?q=curlew", "/status.json"] {
        assert!(["", "accept-encoding"].contains(&world.get_in(ITALIAN, path).await.header("vary")), "{path}");
    }
}

#[tokio::test]
async fn the_bot_page_has_the_same_rules_and_numbers_in_both() {
    let world = World::of(Backend::default());
    let (english, italian) = (world.get("/bot").await, world.get_in(ITALIAN, "/bot").await);
    assert_eq!(english.all("pre"), italian.all("pre"));
    assert_eq!(english.all("code"), italian.all("code").into_iter().filter(|c| c != "Referer").collect::<Vec<_>>());
    assert_eq!(english.attributes("h2", "id"), italian.attributes("h2", "id"));
    assert!(english.body.contains("every 8 hours") && english.body.contains("at least 1 hour apart"));
    assert!(italian.body.contains("ogni 8 ore"));
    let bare = World::with(Backend::default(), PageSettings { contact: None, ..settings() });
    assert!(bare.get_in(ITALIAN, "/bot").await.body.contains("non ha indicato un indirizzo"));
}
