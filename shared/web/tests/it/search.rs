//! Searches by people and by programs.

use crate::support::{Backend, World, backend, from, page, problem, request, settings};
use axum::http::{Method, StatusCode};
use curlew_catalog::results::SearchHit;
use curlew_model::{Millis, ThumbnailId, Timestamp};
use curlew_web::PageSettings;
use serde_json::Value;
use tower::ServiceExt;

fn many(count: usize) -> World {
    let pages = (1..=count).map(|n| page(&format!("https://tide.example/{n}"), &format!("Curlew {n}"), "On the mud."));
    World::of(backend(pages.collect()))
}

#[tokio::test]
async fn the_start_page_has_the_form_and_explains_the_language() {
    let home = many(0).get("/").await;
    assert!(home.all(".new li, dt a").is_empty(), "without pages there is no news and no example");
    assert_eq!(home.status, StatusCode::OK);
    assert_eq!(home.text("h1"), "Curlew");
    assert_eq!(home.attributes("form", "action"), ["/"]);
    assert_eq!(home.attributes("input", "name"), ["q"]);
    let examples = home.all("dt").join(" ");
    for word in ["\"spring tide\"", "-stone", "author:", "site:", "lang:", "before:", "after:", "sort:date"] {
        assert!(examples.contains(word), "{word} in {examples}");
    }
    assert_eq!(home.header("cache-control"), "no-cache", "pages that are gone must vanish from the start page, too");
    assert_eq!(many(0).get("/?q=++").await.text("h1"), "Curlew", "an empty query gives the start page");
}

#[tokio::test]
async fn the_start_page_shows_what_is_new_and_searches_that_find_something() {
    let mut first = page("https://tide.example/1", "Whimbrels & mudflats", "A curlew.");
    first.author = Some("Anna Rossi".into());
    first.date = Timestamp::parse_day_or_instant("2026-11-20").unwrap();
    first.published = Some(first.date);
    let mut second = page("https://www.other.example/2", "Neap tides: quiet water", "A curlew.");
    (second.language, second.site) = (Some("it".into()), "Other".into());
    let world = World::of(backend(vec![first, second]));
    let home = world.get("/").await;
    assert_eq!(home.all(".new h3"), ["Whimbrels & mudflats", "Neap tides: quiet water"]);
    assert_eq!(home.all(".day"), ["Yesterday", "Earlier"]);
    assert_eq!(home.all(".new time"), ["1 May"], "the group's name gives the other date");
    assert_eq!(home.attributes(".new .source a", "href"), ["/site/tide.example", "/site/other.example"]);
    assert!(home.text(".quiet").starts_with("2 pages from 2 sites"), "{}", home.text(".quiet"));
    let examples = home.all("dt a");
    assert_eq!(examples[0], "whimbrels mudflats");
    assert!(examples.contains(&"\"quiet water\"".to_owned()), "{examples:?}");
    assert!(examples.contains(&"author:\"Anna Rossi\"".to_owned()), "{examples:?}");
    assert!(examples.contains(&"quiet site:www.other.example".to_owned()), "{examples:?}");
    let nothing = world.get("/?q=albatross").await;
    assert_eq!((nothing.status, nothing.text("h1").as_str()), (StatusCode::OK, "Nothing found for albatross"));
    assert_eq!(nothing.all("dt a"), examples);
    assert!(nothing.attributes("main a", "href").contains(&"/suggest".to_owned()));
    assert!(world.get_in("it", "/").await.text(".quiet").starts_with("2 pagine da 2 siti"));
}

#[tokio::test]
async fn the_start_page_stays_while_the_index_is_out_of_reach_or_the_caller_has_searched_enough() {
    let world = World::of(Backend { broken: Some(true), ..backend(vec![page("https://a.example/", "Mud", "")]) });
    let home = world.get("/").await;
    assert_eq!((home.status, home.all(".new li").len()), (StatusCode::OK, 0));
    let settings = PageSettings { searches_per_minute: 1, ..settings() };
    let world = World::with(backend(vec![page("https://a.example/", "Mud", "")]), settings);
    assert_eq!(world.get("/").await.all(".new li").len(), 1);
    let tired = world.get("/").await;
    assert_eq!((tired.status, tired.all(".new li").len()), (StatusCode::OK, 0));
}

#[tokio::test]
async fn a_search_can_be_changed_by_links() {
    let mut one = page("https://tide.example/1", "Curlew", "A curlew.");
    one.language = Some("it".into());
    let mut two = page("https://tide.example/2", "Curlew", "A curlew.");
    (two.language, two.published) = (Some("en".into()), None);
    let more_of = ["tide.example".to_owned()].into();
    let results = World::of(Backend { more_of, ..backend(vec![one, two]) }).get("/?q=curlew").await;
    assert_eq!(results.all(".chips li"), ["Best first", "Newest first", "Italian", "English"]);
    assert_eq!(results.all(".orders li"), ["Best first", "Newest first"]);
    assert_eq!(results.attributes(".chips", "aria-label"), ["Order", "Filters"]);
    assert_eq!(results.all(".chips [aria-current]"), ["Best first"]);
    assert_eq!(results.attributes(".chips a", "href")[1], "/?q=lang%3Ait+curlew");
    assert_eq!(results.all(".more"), ["More from Tidal Notes"]);
    assert_eq!(results.attributes(".more a", "href"), ["/?q=site%3Atide.example+curlew"]);
}

#[tokio::test]
async fn a_site_has_a_page_and_a_place_in_the_list() {
    let mut pages: Vec<_> = (1..=12).map(|n| page(&format!("https://tide.example/{n}"), "Mud", "A curlew.")).collect();
    (pages[0].feed, pages[0].language) = (Some("https://tide.example/feed".into()), Some("it".into()));
    pages[0].author = Some("Anna Rossi".into());
    pages[11].published = Some(Timestamp::parse_day_or_instant("2019-02-03").unwrap());
    pages.push(page("https://xn--mnchen-3ya.example/", "Isar", "A curlew."));
    pages[12].site = String::new();
    let world = World::of(backend(pages));
    let list = world.get("/sites").await;
    assert_eq!(list.all(".sites h2"), ["münchen.example", "Tidal Notes"]);
    assert_eq!(list.attributes(".sites a", "href"), ["/site/xn--mnchen-3ya.example", "/site/tide.example"]);
    assert_eq!(list.all(".sites .source"), ["1 page 1 May", "tide.example 12 pages 1 May Italian"]);
    assert_eq!(list.all(".letters a"), ["All", "M", "T"]);
    assert_eq!(list.attributes(".letters a", "href")[2], "/sites?letter=T");
    assert_eq!(world.get("/sites?page=2").await.status, StatusCode::NOT_FOUND);
    for (path, names) in [
        ("/sites?filter=TIDAL", ["Tidal Notes"].as_slice()),
        ("/sites?letter=M", &["münchen.example"]),
        ("/sites?order=pages", &["Tidal Notes", "münchen.example"]),
        ("/sites?filter=nobody", &[]),
    ] {
        assert_eq!(world.get(path).await.all(".sites h2"), names, "{path}");
    }
    assert_eq!(world.get_in("it", "/sites?filter=x%22%3Cb").await.attributes("#filter", "value"), ["x\"<b"]);

    let site = world.get("/site/tide.example").await;
    assert_eq!(site.text("h1"), "Tidal Notes");
    assert!(site.text(".quiet").contains("12 pages can be found here, the oldest of 3 February 2019."));
    assert_eq!(site.all(".new li").len(), 10);
    assert_eq!(site.all(".new .source")[..2], ["Anna Rossi 1 May", "1 May"], "the site must be named once");
    assert_eq!(site.all(".chips a"), ["Visit the site", "Its feed", "Follow it here", "This is my site"]);
    assert_eq!(site.attributes(".chips a", "href")[0], "https://tide.example/");
    assert_eq!(site.attributes("input[name=q]", "value"), ["site:tide.example "]);
    for none in ["nowhere.example", "tide.example%20lang:it", "127.0.0.1", "..", "%00"] {
        assert_eq!(world.get(&format!("/site/{none}")).await.status, StatusCode::NOT_FOUND, "{none}");
    }
    assert_eq!(world.get("/site/WWW.TIDE.example").await.status, StatusCode::OK);
}

#[tokio::test]
async fn the_search_box_of_a_site_leads_to_the_search_of_that_site() {
    let world = many(1);
    let led = world.get("/?site=WWW.tide.example&q=mud+flats").await;
    assert_eq!((led.status, led.header("location")), (StatusCode::SEE_OTHER, "/?q=site%3Atide.example+mud+flats"));
    assert_eq!(world.get("/?site=tide.example&q=").await.header("location"), "/?q=site%3Atide.example");
    assert_eq!(world.get("/?site=no+host&q=curlew").await.all("article").len(), 1, "an invalid host is ignored");
}

#[tokio::test]
async fn a_result_shows_title_snippet_site_date_and_thumbnail() {
    let id = ThumbnailId::new("0123456789abcdef0123456789abcdef").unwrap();
    let mut hit = page("https://tide.example/2026/mud", "Mud & tide", "A curlew probes the mud, gently.");
    hit.thumbnail = Some(id.clone());
    hit.language = Some("it".into());
    let mut plain = page("https://other.example/", "Curlew, plain", "No picture.");
    plain.site = String::new();
    plain.published = None;
    let jpeg = bytes::Bytes::from_static(&[0xff, 0xd8, 0xff, 0xe0, 1, 2, 3]);
    let world = World::of(Backend { pages: vec![hit, plain], thumbnails: [(id, jpeg)].into(), ..Backend::default() });

    let results = world.get("/?q=curlew").await;
    assert_eq!(results.status, StatusCode::OK);
    assert_eq!(results.text("h1"), "2 pages for curlew");
    assert_eq!(results.all("article h2"), ["Mud & tide", "Curlew, plain"]);
    assert_eq!(results.attributes("article h2 a", "href"), ["https://tide.example/2026/mud", "https://other.example/"]);
    assert_eq!(results.all("mark"), ["curlew"]);
    assert_eq!(results.all(".source a"), ["Tidal Notes", "More like this", "other.example", "More like this"]);
    let links = results.attributes(".source a", "href");
    assert_eq!(links, ["/site/tide.example", "/?q=mud+tide", "/site/other.example", "/?q=curlew+plain"]);
    assert_eq!(results.all("cite"), ["tide.example/2026/mud", "other.example"]);
    assert_eq!(results.all("time"), ["1 May"]);
    assert_eq!(results.text(".source span"), "Italian");
    assert_eq!(results.attributes("article [lang]", "lang"), ["it", "it"], "the title and the snippet have a language");
    assert_eq!(results.attributes("time", "datetime"), ["2026-05-01"]);
    assert_eq!(results.attributes("article img", "src"), ["/thumb/0123456789abcdef0123456789abcdef"]);
    assert_eq!(results.all(".letter"), ["O"], "the other hit has a letter");
    assert_eq!(results.attributes("input[name=q]", "value"), ["curlew"]);
    assert_eq!(results.attributes("meta[name=robots]", "content"), ["noindex"]);

    let thumb = world.get("/thumb/0123456789abcdef0123456789abcdef").await;
    assert_eq!((thumb.status, thumb.header("content-type")), (StatusCode::OK, "image/jpeg"));
    assert!(thumb.header("cache-control").contains("immutable"));
}

#[tokio::test]
async fn copies_that_are_not_shown_are_counted() {
    for (copies, said, of_all) in [
        (0, "", ""),
        (1, "One later page says the same.", "One more page says the same as one of them."),
        (3, "3 later pages say the same.", "3 more pages say the same as one of them."),
    ] {
        let world = World::of(backend(vec![SearchHit { copies, ..page("https://tide.example/", "Mud", "A curlew.") }]));
        let results = world.get("/?q=curlew").await;
        assert_eq!(results.all(".source").get(2).map_or("", String::as_str), said);
        assert_eq!(results.text("h1"), "1 page for curlew", "copies must not be counted as shown");
        assert_eq!(results.text("h1 ~ p.quiet"), of_all);
        let answer = world.get("/api/v1/search?q=curlew").await.json();
        assert_eq!((answer["total"].as_u64(), answer["copies"].as_u64().unwrap_or_default()), (Some(1), copies.into()));
    }
}

#[tokio::test]
async fn a_thumbnail_that_is_none_is_not_found() {
    let html = ThumbnailId::new("11111111111111111111111111111111").unwrap();
    let thumbnails = [(html, bytes::Bytes::from_static(b"<html><script>alert(1)</script>"))].into();
    let world = World::of(Backend { thumbnails, ..Backend::default() });
    for hash in
        ["22222222222222222222222222222222", "11111111111111111111111111111111", "..%2f..%2fetc", "ABC", "%00", "x.jpg"]
    {
        let answer = world.get(&format!("/thumb/{hash}")).await;
        assert_eq!((answer.status, answer.text("h1").as_str()), (StatusCode::NOT_FOUND, "Nothing here"), "{hash}");
    }
}

#[tokio::test]
async fn results_come_ten_a_page() {
    let world = many(25);
    let second = world.get("/?q=curlew&page=2").await;
    assert_eq!(second.text("h1"), "11–20 of 25 pages for curlew");
    assert_eq!(second.all("article h2").first().map(String::as_str), Some("Curlew 11"));
    assert_eq!(second.attributes("nav.pages a[rel=prev]", "href"), ["/?q=curlew"]);
    assert_eq!(second.attributes("nav.pages a[rel=next]", "href"), ["/?q=curlew&page=3&from=20"]);
    assert_eq!(second.all("nav.pages a[aria-current=page]"), ["Page 2"]);
    assert_eq!(second.all("nav.pages .place"), ["2 of 3"]);
    assert_eq!(world.asked(), [("curlew".to_owned(), 10, 10)]);

    let third = world.get("/?q=curlew&page=3&from=20").await;
    assert_eq!(third.text("h1"), "21–25 of 25 pages for curlew");
    assert_eq!(third.attributes("nav.pages a[rel=prev]", "href"), ["/?q=curlew&page=2"]);
    let damaged = world.get("/?q=curlew&page=3&from=nonsense").await;
    assert_eq!((damaged.status, damaged.text("h1").as_str()), (StatusCode::OK, "21–25 of 25 pages for curlew"));
    let too_deep = many(150).get("/?q=curlew&page=3&from=100").await;
    assert_eq!(too_deep.status, StatusCode::BAD_REQUEST);

    let beyond = world.get("/?q=curlew&page=7").await;
    assert_eq!(beyond.status, StatusCode::OK);
    assert_eq!(beyond.attributes("nav.pages a[rel=prev]", "href"), ["/?q=curlew&page=3"]);

    assert!(many(150).get("/?q=curlew&page=10").await.body.contains("first hundred"));
    assert_eq!(many(3).get("/?q=curlew").await.all("nav.pages").len(), 0);
}

#[tokio::test]
async fn it_is_said_which_words_a_page_lacks() {
    let mut some = page("https://tide.example/2", "Curlew", "A curlew, but no other wader.");
    (some.all_words, some.missing) = (false, vec!["whimbrel".into(), "x<b>".into()]);
    let all = page("https://tide.example/1", "Curlew", "A curlew.");
    let world = World::of(backend(vec![all, some.clone()]));
    let results = world.get("/?q=curlew").await;
    assert_eq!(results.text("h1"), "2 pages for curlew");
    assert_eq!(results.all("p.quiet")[0], "One of them has all of your words.");
    assert_eq!(results.all(".source s"), ["whimbrel", "x<b>"]);
    assert_eq!(results.all("p.notice"), ["No page here has “x<b>”."]);
    assert_eq!(world.get("/?q=curlew&lang=it").await.status, StatusCode::OK);
    let none = World::of(backend(vec![some])).get("/?q=curlew").await;
    assert_eq!(none.all("p.quiet").len(), 0, "the notice already says that no page has the word");
    let answer = world.get("/api/v1/search?q=curlew").await.json();
    assert_eq!((answer["total"].as_u64(), answer["partial"].as_u64()), (Some(1), Some(1)));
    assert_eq!((&answer["hits"][0]["all_words"], &answer["hits"][1]["all_words"]), (&Value::Null, &false.into()));
    assert_eq!(answer["hits"][1]["missing"][0], "whimbrel");
    assert_eq!(answer["unknown"][0], "x<b>");
}

#[tokio::test]
async fn a_slip_is_mended_in_one_line_unless_it_is_asked_for_as_typed() {
    let pages = vec![page("https://tide.example/1", "Harbour tide", "The tide in the harbour.")];
    let world = World::of(Backend { slip: Some(("harbor tidde", "harbour tide")), ..backend(pages) });
    let results = world.get("/?q=harbor+tidde").await;
    assert_eq!(results.all("p.notice"), ["Showing results for harbour tide. Search for harbor tidde instead."]);
    assert_eq!(results.attributes("p.notice a", "href"), ["/?q=harbor+tidde&typed=1"]);
    assert_eq!(results.attributes("form input", "value"), ["harbor tidde"]);
    assert_eq!(results.all("h1"), ["1 page for harbour tide"]);
    assert_eq!(results.all("p.quiet").len() + results.all(".source s").len(), 0);
    let typed = world.get("/?q=harbor+tidde&typed=1").await;
    assert_eq!(typed.text("h1"), "Nothing found for harbor tidde");
    assert_eq!(typed.all("p.notice"), ["Did you mean harbour tide?"]);
}

#[tokio::test]
async fn a_long_query_is_not_repeated_all_over_the_page() {
    let word = "curlew ".repeat(1_500);
    let pages = (1..=40).map(|n| {
        let title = format!("Curlews on the mud of the long river, number {n}");
        page(&format!("https://tide{n}.example/a/long/path/to/it"), &title, &"On the curlew's mud. ".repeat(12))
    });
    let world = World::of(Backend { reads_long: true, ..backend(pages.collect()) });
    let long = |words: &str| format!("/?q={}", words.trim().replace(' ', "+"));
    for length in [250, 600, 1_000, 10_000] {
        let results = world.get(&long(&word[..length])).await;
        assert_eq!((results.status, results.all("nav.pages a[rel=next]").len()), (StatusCode::OK, 1), "{length}");
        assert!(results.body.len() <= 40 * 1024, "{length}: {}", results.body.len());
    }
    let short = world.get("/?q=curlew").await;
    assert_eq!((short.all("nav.pages a.number").len(), short.all("nav.pages a[rel=next]").len()), (4, 1));
}

#[tokio::test]
async fn a_page_is_chosen_at_random_and_pages_like_one_are_a_link_away() {
    let pages = (1..=3).map(|n| page(&format!("https://tide{n}.example/"), "A Heron's nest", "By the mud."));
    let world = World::of(backend(pages.collect()));
    assert!(world.get("/").await.attributes("a", "href").contains(&"/random".to_owned()));
    let mut led = std::collections::BTreeSet::new();
    for _ in 0..40 {
        let random = world.get("/random").await;
        assert_eq!((random.status, random.header("cache-control")), (StatusCode::SEE_OTHER, "no-store"));
        led.insert(random.header("location").to_owned());
    }
    assert_eq!(led.len(), 3, "{led:?}");
    let nothing = World::of(backend(vec![])).get("/random").await;
    assert_eq!((nothing.status, nothing.header("location")), (StatusCode::SEE_OTHER, "/"));
    let like = world.get("/?q=heron").await.attributes("article .source cite + a", "href");
    assert_eq!(like[0], "/?q=a+heron+s+nest");
}

#[tokio::test]
async fn the_api_answers_as_the_command_line_does() {
    let mut hit = page("https://tide.example/1", "Curlew", "A curlew.");
    hit.image = Some("https://tide.example/1.jpg".into());
    hit.author = Some("Anna Rossi\u{0}".into());
    let world = World::of(backend(vec![hit, page("https://tide.example/2", "Curlew too", "")]));
    let answer = world.get("/api/v1/search?q=curlew&limit=1").await;
    assert_eq!((answer.status, answer.header("content-type")), (StatusCode::OK, "application/json"));
    assert_eq!(answer.header("access-control-allow-origin"), "*");
    assert_eq!(answer.header("access-control-allow-credentials"), "");
    assert_eq!(
        answer.body,
        r#"{"total":2,"hits":[{"url":"https://tide.example/1","title":"Curlew","snippet":"A curlew.","image":"https://tide.example/1.jpg","site":"Tidal Notes","author":"Anna Rossi","published":"2026-05-01T00:00:00Z","score":1.5}],"next":"1"}"#
    );
    let after = world.get("/api/v1/search?q=curlew&limit=1&cursor=1").await.json();
    assert_eq!(after["hits"][0]["url"], "https://tide.example/2");
    assert!(after["next"].is_null());
    let second = world.get("/api/v1/search?q=curlew&limit=1&offset=1").await.json();
    assert_eq!(second["hits"][0]["url"], "https://tide.example/2");
    assert!(second["hits"][0]["image"].is_null());
    assert_eq!(world.asked()[2], ("curlew".to_owned(), 1, 1));
}

#[tokio::test]
async fn the_index_of_this_machines_user_is_not_for_pages_of_other_origins() {
    let allowed = async |settings: PageSettings| {
        let world = World::with(Backend::default(), settings);
        let mut allowed = Vec::new();
        for path in ["/api/v1/search?q=curlew", "/api/v1/search", "/api/v1/openapi.json", "/api/v1/nowhere"] {
            allowed.push(world.get(path).await.header("access-control-allow-origin").to_owned());
        }
        let preflight = request(Method::OPTIONS, "/api/v1/search", &[("origin", "https://evil.example")]);
        allowed.push(world.send(preflight).await.header("access-control-allow-origin").to_owned());
        let post = world.post("/api/v1/search?q=x", &[]).await;
        allowed.push(post.header("access-control-allow-origin").to_owned());
        let description = world.get("/api/v1/openapi.json").await.json()["info"]["description"].to_string();
        assert_eq!(description.contains("every origin"), allowed[0] == "*", "{description}");
        allowed
    };
    for own in [None, Some("http://localhost:8080"), Some("http://127.0.0.1:8080"), Some("http://[::1]:8080")] {
        let own = PageSettings { base_url: own.map(str::to_owned), ..settings() };
        assert_eq!(allowed(own.clone()).await, [""; 6], "{:?}", own.base_url);
    }
    for open in [settings(), PageSettings { base_url: None, any_host: true, ..settings() }] {
        assert_eq!(allowed(open.clone()).await, ["*"; 6], "{:?}", open.base_url);
    }
}

#[tokio::test]
async fn a_link_to_a_page_with_a_cursor_that_is_none_of_ours_falls_back_on_its_number() {
    let world = many(25);
    let page = world.get("/?q=curlew&page=2&from=forged").await;
    assert_eq!((page.status, page.all(".hits li").len()), (StatusCode::OK, 10));
    assert!(page.text(".notice").contains("counted anew"), "{}", page.body);
    assert_eq!(world.asked().last(), Some(&("curlew".to_owned(), 10, 10)));
}

#[tokio::test]
async fn what_a_caller_has_is_not_sent_again() {
    let world = many(3);
    let paths = "/ /?q=curlew /bot /api/v1/search?q=curlew /api/v1/openapi.json /robots.txt /opensearch.xml \
         /feed/atom?q=curlew /feed/rss?q=curlew /feed/json?q=curlew";
    for path in paths.split(' ') {
        let first = world.get(path).await;
        let tag = first.header("etag").to_owned();
        assert!(first.status == StatusCode::OK && tag.starts_with("W/\""), "{path}: {tag}");
        for known in [tag.clone(), format!("\"x\", {}", tag.trim_start_matches("W/")), "*".to_owned()] {
            let same = world.get_with(path, &[("if-none-match", &known)]).await;
            assert_eq!((same.status, same.body.as_str()), (StatusCode::NOT_MODIFIED, ""), "{path} {known}");
            for header in ["etag", "cache-control", "vary"] {
                assert_eq!(same.header(header), first.header(header), "{path} {header}");
            }
        }
        assert_eq!(world.get_with(path, &[("if-none-match", "W/\"x\"")]).await.status, StatusCode::OK, "{path}");
    }
    let in_italian = world.get_in("it", "/").await;
    assert_ne!(in_italian.header("etag"), world.get("/").await.header("etag"));
    for path in ["/suggest", "/contact", "/owner", "/status", "/nowhere", "/?q=x&page=99"] {
        let answer = world.get_with(path, &[("if-none-match", "*")]).await;
        assert!(answer.header("etag").is_empty() && answer.status != StatusCode::NOT_MODIFIED, "{path}");
    }
}

#[tokio::test]
async fn text_is_compressed_unless_it_holds_a_secret_or_is_short() {
    let world = many(10);
    let encoding = async |path: &str, accepted: &str| {
        let request = request(Method::GET, path, &[("accept-encoding", accepted)]);
        let response = world.router.clone().oneshot(request).await.unwrap();
        let vary: Vec<&str> = response.headers().get_all("vary").iter().map(|v| v.to_str().unwrap()).collect();
        let encoding = response.headers().get("content-encoding").map(|v| v.to_str().unwrap().to_owned());
        (encoding, vary.contains(&"accept-encoding"))
    };
    let style = world.get("/").await.attributes("link[rel=stylesheet]", "href").remove(0);
    for path in ["/", "/?q=curlew", "/bot", "/feed/atom?q=curlew", "/api/v1/openapi.json", style.as_str()] {
        assert_eq!(encoding(path, "gzip, br").await, (Some("gzip".into()), true), "{path}");
        assert_eq!(encoding(path, "identity").await, (None, true), "{path}");
    }
    // A compressed `no-store` response could reveal a form's token or the key of a claim by its length (BREACH).
    for path in ["/suggest", "/contact", "/owner", "/status", "/robots.txt"] {
        assert_eq!(encoding(path, "gzip").await.0, None, "{path}");
    }
}

#[tokio::test]
async fn trouble_behind_the_page_is_told_without_its_details() {
    for (broken, status) in [(true, 503), (false, 500)] {
        let world = World::of(Backend { broken: Some(broken), ..Backend::default() });
        for path in
            ["/?q=x", "/sites", "/site/a.example", "/status", "/status.json", "/thumb/11111111111111111111111111111111"]
        {
            let answer = world.get(path).await;
            assert_eq!(answer.status.as_u16(), status, "{path}");
            assert!(!answer.body.contains("torn") && !answer.body.contains("manifest"));
            assert_eq!(answer.header("retry-after"), if broken { "5" } else { "" });
        }
    }
}

#[tokio::test]
async fn w02_a_flood_of_searches_is_told_to_wait() {
    let world = World::with(backend(Vec::new()), PageSettings { searches_per_minute: 2, ..settings() });
    let get =
        async |world: &World, ip: [u8; 4], path: &str| world.send(from(ip, request(Method::GET, path, &[]))).await;
    for path in ["/?q=x", "/api/v1/search?q=x"] {
        assert_eq!(get(&world, [192, 0, 2, 1], path).await.status, StatusCode::OK);
    }
    let page = get(&world, [192, 0, 2, 1], "/?q=x").await;
    assert_eq!((page.status, page.header("retry-after")), (StatusCode::TOO_MANY_REQUESTS, "30"));
    let api = get(&world, [192, 0, 2, 1], "/api/v1/search?q=x").await;
    assert_eq!((api.status, api.header("retry-after")), (StatusCode::TOO_MANY_REQUESTS, "30"));
    assert_eq!(api.json()["type"], problem("too_many_requests"));
    assert_eq!(get(&world, [192, 0, 2, 1], "/").await.status, StatusCode::OK, "the form must always be there");
    assert_eq!(get(&world, [192, 0, 2, 2], "/?q=x").await.status, StatusCode::OK);
    let last = async |world: &World| {
        let mut last = StatusCode::OK;
        for _ in 0..5 {
            last = get(world, [127, 0, 0, 1], "/?q=x").await.status;
        }
        last
    };
    assert_eq!(last(&world).await, StatusCode::TOO_MANY_REQUESTS, "a proxy that does not name its client is limited");
    let settings = PageSettings { searches_per_minute: 2, base_url: None, ..settings() };
    assert_eq!(last(&World::with(backend(Vec::new()), settings)).await, StatusCode::OK, "the local user has no limit");
    world.clock.advance(Millis::from_secs(30));
    assert_eq!(get(&world, [192, 0, 2, 1], "/?q=x").await.status, StatusCode::OK);
}

#[tokio::test]
async fn w10_a_forwarded_for_header_is_not_believed() {
    let world = World::with(backend(Vec::new()), PageSettings { searches_per_minute: 1, ..settings() });
    for (claimed, status) in [("192.0.2.1", StatusCode::OK), ("127.0.0.1", StatusCode::TOO_MANY_REQUESTS)] {
        let headers = [("x-forwarded-for", claimed), ("forwarded", &format!("for={claimed}"))];
        let request = from([198, 51, 100, 7], request(Method::GET, "/?q=x", &headers));
        assert_eq!(world.send(request).await.status, status, "{claimed}");
    }
}
