//! Searches as feeds, and the description of the API for programs.

use crate::support::{Backend, World, backend, page, settings};
use axum::http::StatusCode;
use curlew_model::QueryError;
use curlew_web::PageSettings;
use quick_xml::events::Event;
use serde_json::{Value, json};

/// Returns the names of elements in order; fails if the XML is malformed.
pub(crate) fn elements(xml: &str) -> Vec<String> {
    let mut reader = quick_xml::Reader::from_str(xml);
    let mut names = Vec::new();
    loop {
        match reader.read_event().unwrap() {
            Event::Eof => return names,
            Event::Start(tag) | Event::Empty(tag) => {
                names.push(tag.name().as_ref().to_owned());
            }
            _ => {}
        }
    }
}

fn world() -> World {
    let mut dated = page("https://tide.example/a?x=1&y=2", "Curlews & <godwits>", "A curlew walked by.");
    dated.date = "2026-05-01T10:00:00Z".parse().unwrap();
    dated.published = Some(dated.date);
    dated.site = "The Tide".into();
    let mut undated = page("https://mud.example/", "", "curlew");
    undated.published = None;
    undated.date = "2026-05-02T09:00:00Z".parse().unwrap();
    let nowhere = page("javascript:alert(1)", "curlew", "");
    World::of(backend(vec![dated, undated, nowhere]))
}

#[tokio::test]
async fn an_answer_of_a_part_of_the_index_says_so_wherever_it_is_given() {
    let said = "about 12,345 pages were not searched";
    let whole = world();
    let said_of_years = "The pages of 2025, 2026 were not searched";
    let pages = || backend(vec![page("https://tide.example/a", "Curlews", "A curlew walked by.")]);
    let part = World::of(Backend { unsearched: 12_345, ..pages() });
    let years = World::of(Backend { unsearched_years: vec![2025, 2026], ..pages() });
    for path in ["/?q=curlew", "/?q=nothing", "/feed/atom?q=curlew", "/feed/rss?q=curlew", "/feed/json?q=curlew"] {
        let here = whole.get(path).await;
        assert!(!here.body.contains("not searched"), "{path}: {}", here.body);
        for (world, said) in [(&part, said), (&years, said_of_years)] {
            let there = world.get(path).await;
            assert!(there.status == StatusCode::OK && there.body.contains(said), "{path}: {}", there.body);
            assert_eq!(there.header("cache-control"), "no-cache", "{path}");
        }
    }
    let italian = part.get_in("it", "/?q=curlew").await;
    assert!(italian.body.contains("circa 12.345 pagine non sono state esaminate"), "{}", italian.body);
    let italian = years.get_in("it", "/?q=curlew").await;
    assert!(italian.body.contains("Le pagine del 2025, 2026 non sono state esaminate"), "{}", italian.body);
    let atom = part.get("/feed/atom?q=curlew").await;
    assert!(elements(&atom.body).contains(&"subtitle".to_owned()), "{}", atom.body);
    let json = part.get("/feed/json?q=curlew").await.json();
    assert!(json["description"].as_str().unwrap().contains(said), "{json}");
    assert_eq!(part.get("/api/v1/search?q=curlew").await.json()["unsearched"], 12_345);
    let api = years.get("/api/v1/search?q=curlew").await.json();
    assert_eq!(api["unsearched_years"], json!([2025, 2026]));
    assert!(api.get("unsearched").is_none());
    let api = whole.get("/api/v1/search?q=curlew").await.json();
    assert!(api.get("unsearched").is_none() && api.get("unsearched_years").is_none());
}

#[tokio::test]
async fn a_search_can_be_followed_in_three_forms() {
    let world = world();
    let atom = world.get("/feed/atom?q=curlew").await;
    assert_eq!((atom.status, atom.header("content-type")), (StatusCode::OK, "application/atom+xml; charset=utf-8"));
    assert_eq!(elements(&atom.body).iter().filter(|name| *name == "entry").count(), 2, "{}", atom.body);
    let parts = "<id>https://tide.example/a?x=1&#38;y=2</id> | <title>Curlews &#38; &#60;godwits&#62;</title> | \
         <published>2026-05-01T10:00:00Z</published> | href=\"https://search.example/feed/atom?q=curlew\" | \
         href=\"https://search.example/?q=curlew\" | <name>The Tide</name>";
    for part in parts.split(" | ") {
        assert!(atom.body.contains(part), "{part} is missing: {}", atom.body);
    }
    let rss = world.get("/feed/rss?q=curlew").await;
    assert_eq!(rss.header("content-type"), "application/rss+xml; charset=utf-8");
    assert_eq!(elements(&rss.body).iter().filter(|name| *name == "item").count(), 2);
    assert!(rss.body.contains("<pubDate>Fri, 01 May 2026 10:00:00 GMT</pubDate>"), "{}", rss.body);
    let json = world.get("/feed/json?q=curlew").await;
    assert_eq!(json.header("content-type"), "application/feed+json");
    let json = json.json();
    assert_eq!(json["version"], "https://jsonfeed.org/version/1.1");
    assert_eq!(
        (json["items"].as_array().unwrap().len(), &json["items"][0]["title"]),
        (2, &"Curlews & <godwits>".into())
    );
    assert_eq!(json["items"][1]["title"], "https://mud.example/");
    let asked = world.asked();
    assert!(asked.iter().all(|(query, offset, limit)| query == "sort:date curlew" && (*offset, *limit) == (0, 30)));
}

#[tokio::test]
async fn entries_have_the_dates_by_which_they_are_sorted() {
    let world = world();
    let mut later = page("https://sea.example/", "curlew", "");
    later.published = Some("2099-01-01T00:00:00Z".parse().unwrap());
    let future = World::of(backend(vec![later]));
    let atom = world.get("/feed/atom?q=curlew").await.body;
    // The first date is that of the feed, which equals its latest entry's. The dates of the entries follow.
    let updated: Vec<&str> = atom.split("<updated>").skip(1).map(|rest| &rest[..20]).collect();
    assert_eq!(updated, ["2026-05-02T09:00:00Z", "2026-05-01T10:00:00Z", "2026-05-02T09:00:00Z"]);
    assert_eq!(atom.matches("<published>").count(), 1, "{atom}");
    let rss = world.get("/feed/rss?q=curlew").await.body;
    assert!(rss.contains("<pubDate>Sat, 02 May 2026 09:00:00 GMT</pubDate>"), "{rss}");
    let json = world.get("/feed/json?q=curlew").await.json();
    assert_eq!(json["items"][1]["date_modified"], "2026-05-02T09:00:00Z");
    assert!(json["items"][1].get("date_published").is_none(), "{json}");
    for form in ["atom", "rss", "json"] {
        let feed = future.get(&format!("/feed/{form}?q=curlew")).await.body;
        assert!(feed.contains("2026") && !feed.contains("2099"), "{feed}");
    }
}

#[tokio::test]
async fn entries_have_their_authors_pictures_and_categories() {
    let mut signed = page("https://sea.example/", "curlew", "");
    (signed.author, signed.image) = (Some("Bo & Ek".into()), Some("https://sea.example/a.jpg?b&c".into()));
    signed.categories = vec!["Birds & mud".into(), "Wadden\u{0} Sea".into()];
    let mut odd = page("https://mud.example/", "curlew", "");
    odd.image = Some("javascript:alert(1)".into());
    let world = World::of(backend(vec![signed, odd]));
    let atom = world.get("/feed/atom?q=curlew").await.body;
    let rss = world.get("/feed/rss?q=curlew").await.body;
    let (in_atom, in_rss) = ("<author><name>Bo &#38; Ek</name></author>", "<dc:creator>Bo &#38; Ek</dc:creator>");
    for (feed, author, category) in
        [(&atom, in_atom, "<category term=\"Birds &#38; mud\"/>"), (&rss, in_rss, "<category>Wadden Sea</category>")]
    {
        let image = "<media:content medium=\"image\" url=\"https://sea.example/a.jpg?b&#38;c\"/>";
        for part in [author, category, image, "Tidal Notes"] {
            assert!(feed.contains(part), "{part}: {feed}");
        }
        assert!(feed.matches("<media:content").count() == 1 && !elements(feed).is_empty(), "{feed}");
    }
    let json = world.get("/feed/json?q=curlew").await.json();
    assert_eq!(json["items"][0]["authors"], json!([{"name": "Bo & Ek"}]));
    assert_eq!(json["items"][0]["image"], "https://sea.example/a.jpg?b&c");
    assert_eq!(json["items"][0]["tags"], json!(["Birds & mud", "Wadden Sea"]));
    let hit = world.get("/api/v1/search?q=curlew").await.json()["hits"][0].take();
    assert_eq!(hit["categories"], json["items"][0]["tags"]);
    assert_eq!((&json["items"][1]["authors"][0]["name"], json["items"][1].get("image")), (&"Tidal Notes".into(), None));
}

#[tokio::test]
async fn a_feed_says_what_of_its_query_was_left_out() {
    let pages = backend(vec![page("https://tide.example/a", "Curlews", "A curlew walked by.")]);
    let world = World::of(Backend { notes: vec![QueryError::Date("soon".into())], ..pages });
    for form in ["atom", "rss", "json"] {
        let feed = world.get(&format!("/feed/{form}?q=curlew")).await;
        assert_eq!((feed.status, feed.header("x-robots-tag")), (StatusCode::OK, "noindex"));
        assert_eq!(feed.header("cache-control"), "public, max-age=3600");
        assert!(feed.body.contains("is not a date; write for example"), "{}", feed.body);
    }
}

#[tokio::test]
async fn what_readers_take_for_html_has_no_markup_of_a_site_or_a_query() {
    let script = "<script>alert(1)</script>";
    let mut hit = page("https://tide.example/", &format!("safe{script}"), &format!("curlew {script} & co"));
    hit.site = script.into();
    let world = World::of(backend(vec![hit]));
    let rss = world.get("/feed/rss?q=curlew").await.body;
    // A description is HTML within XML (RSS 2.0), so it is escaped twice; the rest is text.
    assert!(rss.contains("<description>curlew &#38;lt;script&#38;gt;alert(1)"), "{rss}");
    assert!(rss.contains("/script&#38;gt; &#38;amp; co</description>"), "{rss}");
    let asked = world.get("/feed/rss?q=curlew%3Cscript%3E").await.body;
    assert!(asked.contains("<description>curlew&#38;lt;script&#38;gt;"), "{asked}");
    for xml in [rss, asked] {
        assert!(!elements(&xml).contains(&"script".to_owned()), "{xml}");
    }
}

#[tokio::test]
async fn a_feed_may_have_no_word_but_needs_an_address_of_our_own() {
    for path in ["/feed/atom?q=-godwit", "/feed/rss?q=sort:date"] {
        assert_eq!(world().get(path).await.status, StatusCode::OK, "{path}");
    }
    let bare = World::with(Backend::default(), PageSettings { base_url: None, ..settings() });
    assert!(bare.get("/?q=curlew").await.attributes("link[rel=alternate]", "href").is_empty());
}

#[tokio::test]
async fn the_results_and_the_browser_s_description_lead_to_the_feeds() {
    let world = world();
    let results = world.get("/?q=curlew+%22a+b%22").await;
    assert_eq!(
        results.attributes("head link[rel=alternate]", "href"),
        ["/feed/atom?q=curlew+%22a+b%22", "/feed/rss?q=curlew+%22a+b%22", "/feed/json?q=curlew+%22a+b%22"]
    );
    assert_eq!(world.get("/?q=curlew").await.attributes("a.button", "href"), ["/feed/atom?q=curlew"]);
    let description = world.get("/opensearch.xml").await.body;
    for form in ["atom", "rss"] {
        let url = format!("template=\"https://search.example/feed/{form}?q={{searchTerms}}\"");
        assert!(description.contains(&url), "{description}");
    }
}

#[tokio::test]
async fn the_interface_for_programs_is_described_and_is_as_described() {
    let world = world();
    let answer = world.get("/api/v1/openapi.json").await;
    assert_eq!(
        (answer.header("content-type"), answer.header("access-control-allow-origin")),
        ("application/json", "*")
    );
    let document = answer.json();
    assert_eq!(document["openapi"], "3.1.0");
    for path in document["paths"].as_object().unwrap().keys() {
        let path = path.replace("{form}", "json");
        let answer = world.get(&format!("{path}?q=curlew")).await;
        assert_eq!(answer.status, StatusCode::OK, "{path}");
    }
    let hit = world.get("/api/v1/search?q=curlew").await.json()["hits"][0].take();
    let described = &document["components"]["schemas"]["Hit"];
    let mut ours: Vec<&str> = hit.as_object().unwrap().keys().map(String::as_str).collect();
    let mut always: Vec<&str> =
        described["required"].as_array().unwrap().iter().filter_map(|name| name.as_str()).collect();
    ours.sort_unstable();
    always.sort_unstable();
    assert_eq!(ours, always);
    assert!(always.iter().chain(&["copies"]).all(|name| described["properties"][name].is_object()));
    let schemas = &document["components"]["schemas"];
    for (name, path) in [("Found", "/api/v1/search?q=curlew"), ("Sites", "/api/v1/sites"), ("Status", "/status.json")] {
        must_fit(&world.get(path).await.json(), &schemas[name], schemas);
    }
    must_fit(&world.get("/api/v1/search").await.json(), &schemas["Problem"], schemas);
    let members = |name: &str| schemas[name]["properties"].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let status = ["activity", "counted", "counted_at", "due_since", "index", "queues"];
    assert_eq!(members("SystemStatus"), status);
    assert_eq!(schemas["Hit"]["properties"]["author"]["type"], json!(["string"]), "missing, never null");
    assert_eq!(schemas["Hit"]["properties"]["published"]["type"], json!(["string", "null"]));
    assert!(members("Found").contains(&"notes".to_owned()) && !members("Hit").contains(&"explanation".to_owned()));
}

/// Checks that each member of a value, at any depth, is described with its type, and that no required member is
/// missing.
fn must_fit(value: &Value, schema: &Value, schemas: &Value) {
    if let Some(name) = schema["$ref"].as_str().and_then(|path| path.strip_prefix("#/components/schemas/")) {
        return must_fit(value, &schemas[name], schemas);
    }
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let kinds = schema["type"].as_array().cloned().unwrap_or_else(|| vec![schema["type"].clone()]);
    assert!(kinds.contains(&json!(kind)), "{value} is no {schema}");
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        assert!(value.get(name).is_some(), "{name} is missing in {value}");
    }
    for (name, member) in value.as_object().into_iter().flatten() {
        let described = schema["properties"].get(name).unwrap_or(&schema["additionalProperties"]);
        must_fit(member, described, schemas);
    }
    value.as_array().into_iter().flatten().for_each(|item| must_fit(item, &schema["items"], schemas));
}

fn parameter<'a>(document: &'a Value, path: &str, name: &str) -> &'a Value {
    let all = document["paths"][path]["get"]["parameters"].as_array().unwrap();
    &all.iter().find(|parameter| parameter["name"] == name).unwrap()["schema"]
}

#[tokio::test]
async fn the_limits_that_are_described_are_those_that_hold() {
    let world = world();
    let document = world.get("/api/v1/openapi.json").await.json();
    let number = |name: &str, limit: &str| parameter(&document, "/api/v1/search", name)[limit].as_u64().unwrap();
    let status = async |path: String| world.get(&path).await.status;
    for path in ["/", "/api/v1/search", "/feed/atom"] {
        let longer = "a".repeat(10_000);
        let refused = world.get(&format!("{path}?q={longer}")).await.body;
        let (asked, ..) = world.asked().pop().unwrap();
        assert!(asked.ends_with(&longer), "{path}: the index reports the cut query: {refused:.200}");
    }
    let reach = number("limit", "maximum");
    for limit in [number("limit", "minimum"), number("limit", "default"), reach] {
        for offset in [number("offset", "minimum"), number("offset", "maximum")] {
            let path = format!("/api/v1/search?q=curlew&limit={limit}&offset={offset}");
            assert_eq!(status(path).await, StatusCode::OK, "two valid values must be valid together: {limit} {offset}");
        }
    }
    let asked = world.asked();
    assert!(asked.iter().all(|(_, offset, limit)| offset + limit <= reach as usize), "{asked:?}");
    for beyond in [
        format!("limit={}", number("limit", "minimum") - 1),
        format!("limit={}", reach + 1),
        format!("offset={}", number("offset", "maximum") + 1),
    ] {
        assert_eq!(status(format!("/api/v1/search?q=curlew&{beyond}")).await, StatusCode::BAD_REQUEST, "{beyond}");
    }
}
