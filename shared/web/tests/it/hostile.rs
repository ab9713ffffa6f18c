//! Hostile inputs: texts of pages, queries, requests and forms that try to mislead readers or exhaust the server.

use crate::feeds::elements;
use crate::support::{Backend, World, backend, body_in_pieces, form, page, problem, request, settings};
use axum::body::Body;
use axum::http::{Method, StatusCode};
use curlew_model::{MAX_QUERY_BYTES, MAX_QUERY_TERMS, Millis};
use curlew_web::PageSettings;
use std::sync::atomic::Ordering::SeqCst;

/// Length of a piece of a body, in bytes.
const PIECE: usize = 2_048;
const SCRIPT: &str = "<script>alert(1)</script>";

#[tokio::test]
async fn o01_a_script_in_a_title_is_text() {
    let mut hit = page("https://tide.example/", &format!("curlew {SCRIPT}"), &format!("]]>{SCRIPT}<!--"));
    hit.site = SCRIPT.into();
    hit.author = Some(format!("Anna {SCRIPT}"));
    let world = World::of(backend(vec![hit]));
    let results = world.get("/?q=curlew").await;
    assert_eq!(results.text("article h2"), format!("curlew {SCRIPT}"));
    assert_eq!(results.text(".source a"), SCRIPT);
    assert_eq!(results.text(".source span"), format!("Anna {SCRIPT}"));
    for (path, named) in [("/", SCRIPT.to_owned()), ("/site/tide.example", format!("Anna {SCRIPT}"))] {
        let page = world.get(path).await;
        assert_eq!(page.all(".new h3, .new .source a, .new .source b"), [format!("curlew {SCRIPT}"), named]);
        assert!(page.all("script").is_empty(), "{path}");
    }
    let list = world.get("/sites").await;
    assert_eq!((list.text(".sites h2").as_str(), list.all("script").len()), (SCRIPT, 0));
    assert!(results.text(".snippet").contains(SCRIPT));
    assert!(results.all("script").is_empty());
}

#[tokio::test]
async fn o02_a_query_is_echoed_as_text_wherever_it_is_echoed() {
    let world = World::of(backend(vec![page("https://tide.example/", "x", "onerror")]));
    let queries = "\"><img src=x onerror=alert(1)> | </title><script>alert(1)</script> | \
         ' autofocus onfocus=alert(1) ' | {{7*7}}${7*7}";
    for query in queries.split(" | ") {
        let encoded: String = url::form_urlencoded::byte_serialize(query.as_bytes()).collect();
        for path in [format!("/?q={encoded}"), format!("/?q={encoded}&page=99")] {
            let answer = world.get(&path).await;
            assert_eq!(answer.attributes("input[name=q]", "value"), [query]);
            assert_eq!(answer.text("title"), format!("{query} – Curlew"));
            assert!(answer.all("img").is_empty() && answer.all("script").is_empty());
            assert!(answer.all("[onerror], [onfocus]").is_empty());
        }
    }
    let world = World::of(backend((0..11).map(|_| page("https://tide.example/", "a\"b'<c>&d", "")).collect()));
    let linked = world.get("/?q=a%22b%27%3Cc%3E%26d").await;
    assert_eq!(linked.attributes("a[rel=next]", "href"), ["/?q=a%22b%27%3Cc%3E%26d&page=2&from=10"]);
    assert_eq!(world.get(&linked.attributes("a[rel=next]", "href")[0]).await.attributes("#q", "value"), ["a\"b'<c>&d"]);
}

#[tokio::test]
#[allow(clippy::reversed_empty_ranges, reason = "hostile on purpose")]
async fn o03_marks_are_set_on_bytes_and_each_piece_is_escaped() {
    let mut hit = page("https://tide.example/", "curlew", "<mark>a</mark> & <b>mud</b> é &amp;");
    let mud = hit.snippet.find("mud").unwrap();
    hit.marks = vec![mud..mud + 3, 1..5, 0..2, 7..3, 9_999..10_000, 5..9_999];
    let e = hit.snippet.find('é').unwrap();
    hit.marks.push(e + 1..e + 2);
    let snippet = hit.snippet.clone();
    let results = World::of(backend(vec![hit])).get("/?q=curlew").await;
    assert_eq!(results.text(".snippet"), snippet, "no text is lost, doubled or changed");
    assert_eq!(results.all("mark"), ["<m", "ark", "mud"]);
    assert!(results.all(".snippet b").is_empty());
}

#[tokio::test]
async fn o04_only_web_addresses_become_links() {
    let bad = [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        "data:text/html,<script>alert(1)</script>",
        " javascript:alert(1)",
        "vbscript:x",
        "//evil.example/",
        "https://me:pw@tide.example/",
    ];
    let mut pages: Vec<_> = bad.iter().map(|url| page(url, "curlew", "")).collect();
    let mut good = page("https://tide.example/?a=1&b=\"", "curlew", "");
    good.image = Some("javascript:alert(1)".into());
    pages.push(good);
    let world = World::of(backend(pages));
    let results = world.get("/?q=curlew").await;
    assert_eq!(results.all("article").len(), bad.len() + 1);
    assert_eq!(results.attributes("article h2 a", "href"), ["https://tide.example/?a=1&b=%22"]);
    assert_eq!(results.attributes("article h2 a", "rel"), ["noopener nofollow ugc"]);
    assert_eq!(results.attributes("article h2 a", "referrerpolicy"), ["no-referrer"]);
    let hits = world.get("/api/v1/search?q=curlew").await.json()["hits"].take();
    assert_eq!(hits.as_array().unwrap().len(), 1, "the API must leave out such URLs, too");
    assert!(hits[0]["image"].is_null());
}

#[tokio::test]
async fn u31_a_host_that_could_pass_for_another_is_shown_in_punycode() {
    let pages = ["https://аррӏе.com/login", "https://xn--mnchen-3ya.example/"].map(|url| page(url, "curlew", ""));
    let results = World::of(backend(pages.into())).get("/?q=curlew").await;
    assert_eq!(results.all("cite bdi"), ["xn--80ak6aa92e.com", "münchen.example"]);
}

#[tokio::test]
async fn o10_what_we_write_from_hostile_text_is_sound() {
    let nasty = "curlew \0\u{1}\u{b}\u{1b}[31m\u{fffe}\u{ffff}\u{202e}]]>&<\"'\\";
    let mut hit = page("https://tide.example/\"><x>", nasty, nasty);
    hit.site = nasty.into();
    hit.score = f32::NAN;
    let settings = PageSettings { title: "A & <B> \"C\"".into(), ..settings() };
    let world = World::with(backend(vec![hit]), settings);
    let json = world.get("/api/v1/search?q=curlew").await.json();
    for field in ["title", "snippet", "site"] {
        assert_eq!(json["hits"][0][field], "curlew [31m]]>&<\"'\\", "{field}");
    }
    assert_eq!(json["hits"][0]["score"], 0.0);
    assert_eq!(world.get("/?q=curlew").await.text("article h2"), "curlew [31m]]>&<\"'\\");
    let xml = world.get("/opensearch.xml").await.body;
    assert!(!elements(&xml).is_empty() && xml.contains("<ShortName>A &#38; &#60;B&#62;"), "{xml}");
    for form in ["atom", "rss"] {
        let xml = world.get(&format!("/feed/{form}?q=curlew")).await.body;
        assert!(elements(&xml).iter().all(|name| !["x", "B"].contains(&name.as_str())), "{xml}");
        assert!(xml.contains("curlew [31m]]&#62;&#38;&#60;"), "{xml}");
    }
    let json = world.get("/feed/json?q=curlew").await.json();
    assert_eq!(json["items"][0]["title"], "curlew [31m]]>&<\"'\\");
}

#[tokio::test]
async fn o11_nothing_leads_away_on_demand() {
    let world = World::of(Backend::default());
    let paths = "/out?u=https://evil.example /?url=https://evil.example /?q=x&next=//evil.example \
         /suggest?return=//evil.example //evil.example /https://evil.example /bot/";
    for path in paths.split(' ') {
        let answer = world.get(path).await;
        assert!(!answer.status.is_redirection() && answer.header("location").is_empty(), "{path}");
        assert!(!answer.body.contains("evil.example"), "{path}");
    }
    let sent = world.fill_in("/suggest", &[("url", "https://evil.example"), ("next", "//evil.example")]).await;
    assert!(sent.header("location").is_empty());
    assert!(sent.attributes("a", "href").iter().all(|href| !href.contains("evil")), "a suggestion is not even a link");
}

#[tokio::test]
async fn o12_a_query_beyond_the_limits_gets_a_sentence_and_keeps_the_form() {
    let world = World::of(Backend::default());
    let cases = ["a".repeat(MAX_QUERY_BYTES + 1), "a ".repeat(MAX_QUERY_TERMS + 1), "*x".to_owned(), "(".repeat(200)];
    for query in cases {
        let encoded: String = url::form_urlencoded::byte_serialize(query.as_bytes()).collect();
        let answer = world.get(&format!("/?q={encoded}")).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{query}");
        assert!(answer.text(".bad").ends_with('.'), "{}", answer.body);
        let kept = query.trim();
        assert_eq!(answer.attributes("#q", "value"), [&kept[..kept.len().min(MAX_QUERY_BYTES)]]);
    }
    let huge = world.get(&format!("/?q={}", "a+".repeat(10_000))).await;
    assert_eq!((huge.status, huge.all(".bad").len()), (StatusCode::BAD_REQUEST, 1));
    let asked = world.asked().len();
    for page in ["0", "11", "-1", "1e9", "18446744073709551616", "x", "1%00"] {
        let answer = world.get(&format!("/?q=x&page={page}")).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{page}");
        assert_eq!(answer.attributes("#q", "value"), ["x"]);
    }
    assert_eq!(world.asked().len(), asked, "no such page was asked for");
}

#[tokio::test]
async fn w01_a_body_of_six_megabytes_is_not_read() {
    let world = World::of(Backend::default());
    let six = 6 * 1024 * 1024;
    let kind = ("content-type", "application/x-www-form-urlencoded");
    let suggest = |headers: &[(&str, &str)], bytes: usize| {
        let (body, reads) = body_in_pieces((0..bytes / PIECE).map(|_| Some(vec![b'a'; PIECE])));
        (request(Method::POST, "/suggest", headers).map(|_| body), reads)
    };
    let (told, reads) = suggest(&[kind, ("content-length", &six.to_string())], six);
    assert_eq!((world.send(told).await.status, reads.load(SeqCst)), (StatusCode::PAYLOAD_TOO_LARGE, 0));

    let (untold, reads) = suggest(&[kind], six);
    assert_eq!(world.send(untold).await.status, StatusCode::PAYLOAD_TOO_LARGE);
    assert!(reads.load(SeqCst) <= 17, "{} pieces were read", reads.load(SeqCst));

    for media_type in ["multipart/form-data; boundary=x", "application/json", "text/plain", ""] {
        let (form, reads) = suggest(&[("content-type", media_type)], PIECE);
        let answer = world.send(form).await;
        assert_eq!((answer.status, reads.load(SeqCst)), (StatusCode::UNSUPPORTED_MEDIA_TYPE, 0), "{media_type}");
    }
    assert!(world.suggested().is_empty());
}

#[tokio::test]
async fn w05_a_form_filled_in_by_a_machine_is_not_taken() {
    for (path, field) in [("/suggest", ("url", "https://tide.example/")), ("/contact", ("text", "hello"))] {
        let world = World::of(Backend::default());
        let send = async |token: &str| world.post(path, &[field, ("token", token)]).await;
        let token = world.token().await;
        let machine = world.fill_in(path, &[field, ("subject", "Cheap watches")]).await;
        assert_eq!(machine.status, StatusCode::BAD_REQUEST);
        assert!(machine.text(".bad").contains("hidden field"));
        for forged in ["", "1.1.00", &token.replace('.', ""), &format!("{token}0")] {
            assert!(send(forged).await.text(".bad").contains("not one of ours"), "{path} {forged}");
        }
        let fresh = world.get(path).await.token();
        let quick = send(&fresh).await;
        assert!(quick.text(".bad").contains("quick"));
        assert_eq!((quick.status, quick.token()), (StatusCode::BAD_REQUEST, fresh.clone()), "it is only too early");
        assert!(world.suggested().is_empty() && world.told().is_empty());

        world.clock.advance(Millis::from_secs(30));
        assert_eq!(send(&fresh).await.status, StatusCode::OK);
        assert!(send(&fresh).await.text(".bad").contains("sent before"), "a token works once");
        world.clock.advance(Millis::from_hours(2));
        assert!(send(&token).await.text(".bad").contains("old"));
        assert_eq!(world.suggested().len() + world.told().len(), 1);
    }
}

#[tokio::test]
async fn w05_in_a_rush_of_forms_each_waits_a_minute() {
    let settings = PageSettings { calm_forms_per_hour: 2, ..settings() };
    let world = World::with(Backend::default(), settings);
    let send = async |url: &str, token: &str| world.post("/suggest", &[("url", url), ("token", token)]).await;
    for url in ["https://one.example/", "https://two.example/"] {
        let token = world.token().await;
        assert_eq!(send(url, &token).await.status, StatusCode::OK);
    }
    assert!(world.get("/suggest").await.text("#rush").contains("open for a minute"));
    assert!(world.get("/").await.all("#rush").is_empty(), "a search never waits");

    let (token, other) = (world.token().await, world.token().await);
    let early = send("https://three.example/", &token).await;
    assert_eq!((early.status, early.header("retry-after")), (StatusCode::TOO_MANY_REQUESTS, "40"));
    assert_eq!(early.token(), token, "the same form can be sent later");
    assert_eq!(early.attributes("#url", "value"), ["https://three.example/"]);

    // Only one form per minute is accepted, however many were opened.
    world.clock.advance(Millis::from_secs(50));
    assert_eq!(send("https://three.example/", &token).await.status, StatusCode::OK);
    let beside = send("https://four.example/", &other).await;
    assert_eq!((beside.status, beside.header("retry-after")), (StatusCode::TOO_MANY_REQUESTS, "60"));
    // The rush is over after an hour.
    world.clock.advance(Millis::from_hours(2));
    let token = world.token().await;
    assert!(world.get("/suggest").await.all("#rush").is_empty());
    assert_eq!(send("https://four.example/", &token).await.status, StatusCode::OK);
}

#[tokio::test]
async fn w09_a_form_on_another_site_is_not_taken() {
    let world = World::of(Backend::default());
    let from = |headers: &[(&'static str, &str)], token: &str| {
        let mut request = form("/suggest", &[("url", "https://tide.example/"), ("token", token)]);
        request.headers_mut().remove("sec-fetch-site");
        headers.iter().for_each(|(n, v)| drop(request.headers_mut().insert(*n, v.parse().unwrap())));
        request
    };
    let cross: [&[(&str, &str)]; 5] = [
        &[("sec-fetch-site", "cross-site")],
        &[("sec-fetch-site", "same-site"), ("origin", "https://search.example")],
        &[("origin", "https://evil.example")],
        &[("origin", "https://evil.example"), ("host", "evil.example")],
        &[("origin", "null")],
    ];
    for headers in cross {
        let token = world.token().await;
        let answer = world.send(from(headers, &token)).await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN, "{headers:?}");
        assert_eq!(answer.header("access-control-allow-origin"), "");
    }
    assert!(world.suggested().is_empty());
    let token = world.token().await;
    assert_eq!(world.send(from(&[("origin", "https://search.example")], &token)).await.status, StatusCode::OK);

    let preflight = request(Method::OPTIONS, "/api/v1/search", &[("origin", "https://evil.example")]);
    let answer = world.send(preflight).await;
    assert_eq!((answer.status, answer.header("access-control-allow-methods")), (StatusCode::NO_CONTENT, "GET"));
    assert_eq!(answer.header("access-control-allow-origin"), "*");
    assert_eq!(answer.header("access-control-allow-headers"), "");
    for path in ["/", "/suggest", "/status.json", "/bot"] {
        assert_eq!(world.get(path).await.header("access-control-allow-origin"), "", "{path}");
    }
}

#[tokio::test]
async fn w11_host_tricks_and_odd_paths_lead_nowhere() {
    let world = World::with(Backend::default(), PageSettings { base_url: None, ..settings() });
    for path in
        ["/", "/?q=x", "/bot", "/suggest", "/opensearch.xml", "/.well-known/security.txt", "/robots.txt", "/nowhere"]
    {
        let answer = world.get_with(path, &[("host", "evil.example"), ("x-forwarded-host", "evil.example")]).await;
        assert!(!answer.body.contains("evil") && answer.header("location").is_empty(), "{path}");
    }
    let paths = "// //bot /bot/ /%2fbot /bot%2f /./bot /../bot /BOT /thumb/ /thumb// /thumb/a/b /api /%00 /style.css/x \
         /bot;x=1 /.well-known/";
    for path in paths.split(' ') {
        let answer = world.get(path).await;
        assert_eq!((answer.status, answer.text("h1").as_str()), (StatusCode::NOT_FOUND, "Nothing here"), "{path}");
    }
    let asked = world.asked().len();
    let crowded: String = (0..100).map(|n| format!("p{n}=1&")).collect();
    assert_eq!(world.get(&format!("/?q=x&{crowded}")).await.status, StatusCode::BAD_REQUEST);
    assert_eq!(world.get(&format!("/api/v1/search?q=x&{crowded}")).await.json()["type"], problem("bad_query"));
    assert_eq!(world.asked().len(), asked, "no such question was asked");
}

#[tokio::test]
async fn w08_there_is_no_way_to_what_only_the_operator_may_do() {
    let world = World::of(Backend::default());
    let commands = "admin crawl sample index publish export import feeds pages holds parked redrive audit block \
         unblock overrule config settings debug metrics login shutdown";
    for command in commands.split(' ') {
        for path in [format!("/{command}"), format!("/admin/{command}"), format!("/api/{command}")] {
            for method in [Method::GET, Method::POST, Method::PUT, Method::DELETE, Method::PATCH] {
                let request = request(method.clone(), &path, &[("authorization", "Bearer x")]);
                let answer = world.send(request.map(|_| Body::from("host=tide.example"))).await;
                assert_eq!(answer.status, StatusCode::NOT_FOUND, "{method} {path}");
            }
        }
    }
    assert!(world.suggested().is_empty());
}
