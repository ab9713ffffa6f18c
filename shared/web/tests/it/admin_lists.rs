//! The operator's pages with long lists, damaged objects, slow actions, and requests under foreign host names.

use crate::admin::{PAGES, Session, is_blocked, log, operators_world, over_http};
use crate::support::{Backend, World, ready, settings};
use axum::http::StatusCode;
use curlew_model::Millis;
use curlew_people::messages::Message;
use curlew_ports::Clock;
use curlew_web::PageSettings;
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn put(world: &World, key: &str, object: &Value) {
    ready(world.ports.blobs.put(key, object.to_string().into())).unwrap();
}

#[tokio::test]
async fn an_act_goes_on_when_its_caller_hangs_up() {
    let world = operators_world();
    let ana = Session::of(&world, "ana", 1).await;
    let page = ana.open("/admin/holds").await;
    tokio::select! {
        biased;
        answer = ana.act(&page, "block", "", &[("about_typed", "example.org")]) => panic!("{}", answer.status),
        () = std::future::ready(()) => {}
    }
    assert!(!is_blocked(&world, "example.org"), "the action has not started yet");
    tokio::task::yield_now().await;
    assert!(is_blocked(&world, "example.org"));
    assert_eq!(log(&world), ["block example.org by ana"]);
}

#[tokio::test]
async fn an_act_that_takes_long_is_answered_and_named_before_it_ends() {
    let stuck = Backend { stuck: Some("hidden-hosts.json"), ..Backend::default() };
    let world = World::of(stuck).with_operators(over_http(), None);
    let ana = Session::of(&world, "ana", 1).await;
    let asked = ana.act_on("/admin/holds", "block", &[("about_typed", "example.org")]);
    let later = async {
        tokio::task::yield_now().await;
        world.clock.advance(Millis::from_secs(20));
    };
    let (answer, ()) = tokio::join!(asked, later);
    assert_eq!((answer.status, answer.text("h1").as_str()), (StatusCode::ACCEPTED, "Under way"));
    let listed = ana.open("/admin/audit").await.text(".kept");
    assert!(listed.contains("block example.org") && listed.contains("its end is not recorded"), "{listed}");
}

/// Returns the matches of a selector on all parts of a list, and the number of parts.
async fn whole(session: &Session<'_>, path: &str, selector: &str) -> (Vec<String>, usize) {
    let (mut all, mut parts, mut next) = (vec![], 0, Some(path.to_owned()));
    while let Some(path) = next {
        let page = session.open(&path).await;
        assert_eq!(page.status, StatusCode::OK, "{path}");
        all.extend(page.all(selector));
        (parts, next) = (parts + 1, page.attributes("a[rel=next]", "href").pop());
    }
    (all, parts)
}

#[tokio::test]
async fn long_lists_come_in_parts_and_lose_nothing() {
    const MANY: usize = 120;
    let world = operators_world();
    let mut overrides = vec![];
    for n in 0..MANY {
        if n % 50 == 0 {
            world.clock.advance(Millis::from_days(1));
        }
        ready(world.messages.take(&Message { text: format!("message {n:03}"), ..Message::default() })).unwrap();
        let host = format!("s{n:03}.example");
        let claims = [json!({ "challenge": format!("{n:040x}") })];
        put(&world, &format!("owners/{n:032x}.json"), &json!({ "host": &host, "claims": claims }));
        overrides.push(json!({ "scope": { "site": &host }, "verdict": "reject", "at": world.clock.now() }));
    }
    put(&world, "overrides.json", &json!({ "overrides": overrides }));
    let ana = Session::of(&world, "ana", 1).await;

    for path in ["/admin/owners", "/admin/overrides"] {
        let (titles, parts) = whole(&ana, path, ".kept bdi").await;
        assert_eq!((titles.len(), parts), (MANY, 3), "{path}");
        assert_eq!(titles.into_iter().collect::<BTreeSet<_>>().len(), MANY, "{path}: each item once");
    }
    let (lines, parts) = whole(&ana, "/admin/messages", ".kept .quiet").await;
    let texts: Vec<&String> = lines.iter().filter(|line| line.starts_with("message ")).collect();
    assert_eq!((texts.len(), parts), (MANY, 3));
    assert_eq!(texts.iter().collect::<BTreeSet<_>>().len(), MANY, "each message once");
    assert!(texts[..20].iter().all(|text| text.as_str() >= "message 100"), "the newest day comes first: {texts:?}");

    // Removing an entry while the list is read does not shift the next part.
    let first = ana.open("/admin/overrides").await;
    let last = first.all(".kept bdi").pop().unwrap();
    ana.act(&first, "take_back", &last, &[]).await;
    let second = ana.open(&first.attributes("a[rel=next]", "href")[0]).await;
    assert_eq!(second.all(".kept bdi").len(), 50);
    assert!(!first.all(".kept bdi").contains(&second.all(".kept bdi")[0]));
}

#[tokio::test]
async fn a_message_is_shown_whole() {
    let world = operators_world();
    let text = format!("{}the end", "mud ".repeat(495));
    ready(world.messages.take(&Message { text: text.clone(), ..Message::default() })).unwrap();
    let ana = Session::of(&world, "ana", 1).await;
    assert!(ana.open("/admin/messages").await.all(".kept .quiet").contains(&text));
}

#[tokio::test]
async fn a_damaged_object_hides_no_other() {
    let world = operators_world();
    ready(world.messages.take(&Message { text: "a whole message".into(), ..Message::default() })).unwrap();
    put(&world, "owners/00.json", &json!({ "host": "whole.example", "claims": [{ "challenge": "0".repeat(40) }] }));
    let ana = Session::of(&world, "ana", 1).await;
    let wanted = [("query", "a whole watch"), ("url", "https://hooks.example/new")];
    assert_eq!(ana.act_on("/admin/watches", "add_watch", &wanted).await.text("h1"), "Watch added");
    let keys = "messages/2026-11-21/ff.json owners/ff.json watches/ffffffffffffffff.json audit/acts/2026/11/21/ff.json";
    for key in keys.split(' ') {
        ready(world.ports.blobs.put(key, "{".into())).unwrap();
    }
    for path in PAGES.split(' ') {
        assert_eq!(ana.open(&format!("/admin{path}")).await.status, StatusCode::OK, "{path}");
    }
    for (path, text) in [("messages", "a whole message"), ("owners", "whole.example"), ("watches", "a whole watch")] {
        assert!(ana.open(&format!("/admin/{path}")).await.text(".kept").contains(text), "{path}");
    }
    let facts = ana.open("/admin").await.text(".facts");
    assert!(facts.contains("Messages to read2"), "a damaged message still counts: {facts}");
}

#[tokio::test]
async fn pages_for_this_machine_are_not_shown_under_a_name_of_others() {
    let status = async |world: &World, host: &str, path: &str| world.get_with(path, &[("host", host)]).await;
    let own = operators_world();
    for path in ["/", "/admin", "/api/v1/search?q=mud", "/style.css", "/nowhere"] {
        let refused = status(&own, "evil.example:8080", path).await;
        assert_eq!(refused.status, StatusCode::MISDIRECTED_REQUEST, "{path}");
        assert!(refused.body.contains("set base_url of [web]"), "{path}: {}", refused.body);
        for host in ["localhost:8080", "127.0.0.1:8080", "192.168.1.7", "[::1]:8080", "nas:8080"] {
            let answer = status(&own, host, path).await;
            assert_ne!(answer.status, StatusCode::MISDIRECTED_REQUEST, "{host} {path}");
        }
    }
    let of_this_machine = PageSettings { base_url: Some("http://localhost:8080".into()), ..settings() };
    let refused = status(&World::with(Backend::default(), of_this_machine), "evil.example", "/").await;
    assert_eq!(refused.status, StatusCode::MISDIRECTED_REQUEST);
    for open in [settings(), PageSettings { any_host: true, ..over_http() }] {
        let world = World::with(Backend::default(), open);
        assert_eq!(status(&world, "abc.lambda-url.eu-south-1.on.aws", "/").await.status, StatusCode::OK);
    }
}
