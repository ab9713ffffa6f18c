//! The tools for assistants over HTTP: their path, the permitted callers, and their limits.

use crate::support::{Answer, Backend, World, backend, from, page, problem, request, settings};
use axum::body::Body;
use axum::http::{Method, Request, StatusCode};
use curlew_policy::page::offer::Withheld;
use curlew_web::PageSettings;
use serde_json::{Value, json};

fn with_tools() -> PageSettings {
    PageSettings { mcp: true, ..settings() }
}

fn call(tool: &str, arguments: &Value) -> Request<Body> {
    let params = json!({"name": tool, "arguments": arguments});
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let kinds = [("content-type", "application/json"), ("accept", "application/json, text/event-stream")];
    let request = request(Method::POST, "/mcp", &[&kinds[..], &[("host", "localhost")]].concat());
    from([192, 0, 2, 1], request.map(|_| Body::from(call.to_string())))
}

async fn called(world: &World, tool: &str, arguments: Value) -> Value {
    let answer = world.send(call(tool, &arguments)).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
    answer.json()["result"].clone()
}

fn curlews(count: usize) -> Backend {
    backend((0..count).map(|n| page(&format!("https://tide.example/{n}"), "Curlew", "A curlew.")).collect())
}

fn must_be_error(result: &Value, sentence: &str) {
    assert_eq!((&result["isError"], &result["content"][0]["text"]), (&json!(true), &json!(sentence)));
}

#[tokio::test]
async fn there_are_no_tools_unless_they_are_switched_on() {
    let off = World::of(curlews(1)).send(call("search", &json!({"query": "curlew"}))).await;
    assert_eq!((off.status, &off.json()["type"]), (StatusCode::NOT_FOUND, &problem("not_found")));
    let on = World::with(curlews(1), with_tools());
    assert_eq!(called(&on, "search", json!({"query": "curlew"})).await["structuredContent"]["total"], 1);
}

#[tokio::test]
async fn calls_are_taken_from_the_allowance_of_searches() {
    let world = World::with(curlews(1), PageSettings { searches_per_minute: 4, ..with_tools() });
    for (tool, arguments) in [
        ("search", json!({"query": "curlew"})),
        ("newest", json!({"topic": "curlew"})),
        ("sites", json!({})),
        ("page", json!({"address": "https://tide.example/0"})),
    ] {
        assert_eq!(called(&world, tool, arguments).await["isError"], false, "{tool}");
    }
    let [nothing, query, address] = [json!({}), json!({"query": "x"}), json!({"address": "x"})];
    for (tool, arguments) in [("search", query), ("newest", nothing.clone()), ("sites", nothing), ("page", address)] {
        let refused = called(&world, tool, arguments).await;
        must_be_error(&refused, "Too many searches from this address; try again in 15 seconds.");
    }
}

#[tokio::test]
async fn a_tool_asks_what_the_api_asks() {
    let world = World::with(curlews(1), with_tools());
    for arguments in [json!({}), json!({"site": "www.Tide.example"}), json!({"topic": "sort:relevance mud"})] {
        called(&world, "newest", arguments).await;
    }
    let asked = world.asked();
    let queries: Vec<&str> = asked.iter().map(|(query, ..)| query.as_str()).collect();
    assert_eq!(queries, ["sort:date", "sort:date  site:tide.example", "sort:relevance mud"]);
    must_be_error(&called(&world, "newest", json!({"site": "a b"})).await, "`site` must be a host name.");
    for (arguments, part) in [(json!({"query": 7}), "expected a string"), (json!({}), "missing field `query`")] {
        let refused = called(&world, "search", arguments).await;
        assert!(refused["content"][0]["text"].as_str().unwrap().contains(part), "{refused}");
    }
    let unknown = world.send(call("delete", &json!({}))).await;
    assert_eq!(unknown.json()["error"]["message"], "there is no tool `delete`");
}

#[tokio::test]
async fn a_long_text_comes_in_parts_and_a_withheld_one_not_at_all() {
    let text = format!("A \u{202e}curlew\n\n{}", "é".repeat(30_000));
    let world = World::with(Backend { text: Some(Ok(text)), ..curlews(1) }, with_tools());
    let mut from = json!(0);
    let mut whole = String::new();
    while from != Value::Null {
        let part = called(&world, "page", json!({"address": "https://tide.example/0", "from": from})).await;
        let part = part["structuredContent"].clone();
        assert!(part["text"].as_str().unwrap().chars().count() <= 20_000);
        whole.push_str(part["text"].as_str().unwrap());
        from = part["next"].clone();
    }
    assert_eq!(whole, format!("A curlew\n\n{}", "é".repeat(30_000)));
    let beyond = called(&world, "page", json!({"address": "https://tide.example/0", "from": u64::MAX})).await;
    assert_eq!(beyond["structuredContent"]["text"], "");
    let world = World::with(Backend { text: Some(Err(Withheld::NoInput)), ..curlews(1) }, with_tools());
    let part = called(&world, "page", json!({"address": "https://tide.example/0"})).await["structuredContent"].clone();
    assert_eq!((&part["text"], &part["withheld"]), (&Value::Null, &json!(Withheld::NoInput.as_str())));
}

#[tokio::test]
async fn requests_and_answers_are_bounded() {
    let world = World::with(curlews(1), with_tools());
    let long = world.send(call("search", &json!({"query": "x".repeat(70_000)}))).await;
    assert_eq!(long.status, StatusCode::PAYLOAD_TOO_LARGE);
    let mut large = curlews(100);
    large.pages.iter_mut().for_each(|hit| hit.title = "x".repeat(4_000));
    let world = World::with(large, with_tools());
    let refused = called(&world, "search", json!({"query": "curlew", "limit": 100})).await;
    must_be_error(&refused, "The answer is longer than 262144 bytes; ask for fewer by `limit`.");
    assert_eq!(called(&world, "search", json!({"query": "curlew"})).await["isError"], false);
}

#[tokio::test]
async fn pages_of_others_do_not_reach_the_index_of_this_machines_user() {
    let own = World::with(curlews(1), PageSettings { base_url: None, ..with_tools() });
    let of_origin = |origin: &str| {
        let mut request = call("search", &json!({"query": "curlew"}));
        request.headers_mut().insert("origin", origin.parse().unwrap());
        request
    };
    let refused: Answer = own.send(of_origin("https://elsewhere.example")).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
    assert_eq!(own.send(call("search", &json!({"query": "curlew"}))).await.status, StatusCode::OK);
    let public = World::with(curlews(1), with_tools());
    let answer = public.send(of_origin("https://elsewhere.example")).await;
    assert_eq!((answer.status, answer.header("access-control-allow-origin")), (StatusCode::OK, ""));
}
