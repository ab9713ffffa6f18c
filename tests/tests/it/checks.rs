//! The `check` commands, each of which asks one component, without a store or a network.

use curlew_tests::{LIMIT, Store, curlew_with_input, start};
use serde_json::{Value, json};

/// Sends one object per line and returns the answers, in the same order, each with the id of its question.
#[track_caller]
fn ask(check: &str, questions: &[Value]) -> Vec<Value> {
    let lines: String = questions.iter().map(|question| format!("{question}\n")).collect();
    let answers = curlew_with_input(&["check", check], lines.as_bytes()).ok().rows();
    let ids = |rows: &[Value]| rows.iter().map(|row| row["id"].clone()).collect::<Vec<_>>();
    assert_eq!(ids(&answers), ids(questions));
    answers
}

const ROBOTS: &str =
    "User-agent: *\nDisallow: /private/\nAllow: /private/open/\nCrawl-delay: 4\n\nUser-agent: otherbot\nDisallow: /\n";

#[test]
fn robots() {
    let about = |id: u32, url: &str, agent: &str| json!({"id": id, "robots": ROBOTS, "agent": agent, "url": url});
    let answers = ask(
        "robots",
        &[
            about(1, "https://a.example/private/diary", "CurlewBot"),
            about(2, "https://a.example/private/open/door", "CurlewBot"),
            about(3, "https://a.example/", "OtherBot/2.1 (+https://o.example/)"),
            about(4, "https://a.example/robots.txt", "OtherBot"),
            json!({"id": "b64", "robots_b64": "VXNlci1hZ2VudDogKgpEaXNhbGxvdzogL3gK", "agent": "CurlewBot", "url": "https://a.example/x/y"}),
        ],
    );
    let allowed: Vec<bool> = answers.iter().map(|answer| answer["allowed"].as_bool().unwrap()).collect();
    assert_eq!(allowed, [false, true, false, true, false]);
    assert_eq!(answers[0]["crawl_delay"], 4);
    assert!(answers[0]["rule"].as_str().unwrap().contains("/private/"));
}

const RSS: &str = "<?xml version=\"1.0\"?><rss version=\"2.0\"><channel><title>Il faro</title><link>https://faro.example/</link>\
<description>Notizie dal molo</description><item><title>Nebbia &amp; vento</title><link>https://faro.example/nebbia</link>\
<guid>n-1</guid><pubDate>Sat, 14 Mar 2026 08:30:00 +0100</pubDate><description>Due giorni di nebbia.</description></item></channel></rss>";
const ATOM: &str = "<feed xmlns=\"http://www.w3.org/2005/Atom\"><title>Pier</title><id>urn:p</id><updated>2026-05-04T03:02:01Z</updated>\
<entry><id>urn:p:1</id><title>Low tide</title><link href=\"/low-tide\"/><updated>2026-05-04T03:02:01Z</updated><author><name>Ada Finch</name></author><summary>Mud.</summary></entry></feed>";

#[test]
fn feed() {
    let answers = ask(
        "feed",
        &[
            json!({"id": 1, "url": "https://faro.example/feed.xml", "body_b64": base64(RSS)}),
            json!({"id": 2, "url": "https://pier.example/atom.xml", "body_b64": base64(ATOM), "content_type": "application/atom+xml"}),
            json!({"id": 3, "url": "https://pier.example/", "body_b64": base64("<html><title>No feed</title></html>")}),
            json!({"id": 4, "url": "https://pier.example/", "body_b64": "not base64!"}),
        ],
    );
    let rss = &answers[0]["feed"];
    assert_eq!((&rss["title"], &rss["description"]), (&json!("Il faro"), &json!("Notizie dal molo")));
    let entry = &rss["entries"][0];
    assert_eq!(entry["title"], "Nebbia & vento");
    assert_eq!(entry["link"], "https://faro.example/nebbia");
    assert_eq!(entry["published"], "2026-03-14T07:30:00Z", "times are in UTC");
    let atom = &answers[1]["feed"];
    assert_eq!(atom["format"], "atom");
    assert_eq!(atom["entries"][0]["link"], "https://pier.example/low-tide", "links are made absolute");
    assert_eq!(atom["entries"][0]["author"], "Ada Finch");
    for member in ["format", "title", "description", "link", "updated", "entries"] {
        assert!(rss.get(member).is_some(), "{member}");
    }
    for member in ["id", "title", "link", "published", "updated", "author", "summary", "content"] {
        assert!(entry.get(member).is_some(), "{member}");
    }
    assert_refusal(&answers[2]);
    assert_refusal(&answers[3]);
}

const HOME: &str = "<!doctype html><html><head><title>Pier</title>\
<link rel=\"alternate\" type=\"application/rss+xml\" title=\"All news\" href=\"/feed.xml\">\
<link rel=\"alternate\" type=\"application/feed+json\" href=\"https://cdn.example/feed.json\">\
<link rel=\"stylesheet\" href=\"/a.css\"></head><body>A pier.</body></html>";

#[test]
fn discover() {
    let answers = ask(
        "discover",
        &[
            json!({"id": 1, "url": "https://pier.example/", "html": HOME}),
            json!({"id": 2, "url": "https://pier.example/", "body_b64": base64("<p>nothing here")}),
        ],
    );
    let feeds = answers[0]["feeds"].as_array().unwrap();
    let urls: Vec<&str> = feeds.iter().map(|feed| feed["url"].as_str().unwrap()).collect();
    assert_eq!(urls, ["https://pier.example/feed.xml", "https://cdn.example/feed.json"]);
    assert_eq!((&feeds[0]["title"], &feeds[0]["type"]), (&json!("All news"), &json!("application/rss+xml")));
    assert_eq!(answers[1]["feeds"], json!([]));
}

/// Returns an article that is long enough to be valid.
fn article(head: &str) -> String {
    let sentence =
        "At low tide the keeper walks out to the last post of the pier and writes down what the water has left there. ";
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>The last post – Pier</title>\
         <meta property=\"og:title\" content=\"The last post\"><meta property=\"og:type\" content=\"article\">\
         <meta property=\"og:image\" content=\"https://pier.example/post.jpg\">\
         <meta property=\"article:published_time\" content=\"2026-02-03T10:00:00+01:00\">\
         <meta name=\"author\" content=\"Ada Finch\"><link rel=\"canonical\" href=\"https://pier.example/last-post\">{head}</head>\
         <body><nav>Home About</nav><article><h1>The last post</h1><p>{0}</p><p>{0}{0}</p></article><footer>© Pier</footer></body></html>",
        sentence.repeat(2)
    )
}

#[test]
fn page() {
    let url = "https://pier.example/last-post?utm_source=feed";
    let noindex = article("<meta name=\"robots\" content=\"noindex, nofollow\">");
    let answers = ask(
        "page",
        &[
            json!({"id": 1, "url": url, "html": article("")}),
            json!({"id": 2, "url": url, "html": noindex}),
            json!({"id": 3, "url": url, "html": article(""), "headers": {"X-Robots-Tag": "noindex"}}),
            json!({"id": 4, "url": url, "html": "<html><title>Too little</title><p>Nothing.</p></html>"}),
            json!({"id": 5, "url": url, "body_b64": base64(&article("")), "content_type": "text/html; charset=utf-8"}),
            json!({"id": 6, "url": url, "html": article("").replace("T10:00:00+01:00", "T06:20:00+07:00")}),
        ],
    );
    let page = &answers[0];
    assert_eq!(page["title"], "The last post");
    assert!(page["text"].as_str().unwrap().starts_with("At low tide the keeper"));
    assert!(!page["text"].as_str().unwrap().contains("Home About"));
    assert_eq!(page["image"], "https://pier.example/post.jpg");
    assert_eq!(page["canonical"], "https://pier.example/last-post");
    assert_eq!(page["language"], "en");
    assert_eq!(page["published"], "2026-02-03T09:00:00Z");
    assert_eq!(page["author"], "Ada Finch");
    assert_eq!((&page["valid"], &page["directives"]), (&json!(true), &json!([])));
    assert!(page.get("modified").is_some() && page.get("site_name").is_some());
    assert_eq!(answers[1]["valid"], false);
    assert_eq!(answers[1]["directives"], json!(["noindex", "nofollow"]));
    assert_eq!((&answers[2]["valid"], &answers[2]["reason"]), (&json!(false), &json!("noindex")));
    assert_eq!((&answers[3]["valid"], &answers[3]["reason"]), (&json!(false), &json!("short_text")));
    assert_eq!(answers[4]["text"], page["text"], "a document as bytes reads like one as text");
    assert_eq!(answers[5]["published"], "2026-02-03T06:20:00+07:00", "the date is the readers' local one");
}

#[test]
fn an_owner_is_told_what_was_found_and_why() {
    let url = "https://pier.example/last-post";
    let explained = |html: &str| {
        let answers = ask("page", &[json!({"id": 1, "url": url, "html": html, "explain": true})]);
        let summary = answers[0]["explanation"]["summary"].as_array().unwrap().clone();
        summary.iter().map(|sentence| sentence.as_str().unwrap().to_owned()).collect::<Vec<_>>().join("\n")
    };
    let good = explained(&article(""));
    for part in [
        "The page would be accepted.",
        "“The last post”",
        "<article> element",
        "named by the meta tag og:image: https://pier.example/post.jpg",
        "according to <link rel=canonical>, is https://pier.example/last-post",
        "2026-02-03T09:00:00Z, according to the meta tag article:published_time (high confidence)",
        "no directives for robots",
    ] {
        assert!(good.contains(part), "{part}: {good}");
    }
    let short = explained("<title>Too little</title><meta name=robots content=nosnippet><p>Nothing.</p>");
    for part in [
        "its text has 8 of the 250 characters or 1 of the 50 words that it needs",
        "It has no main image",
        "does not state its canonical address",
        "does not say when it was published",
        "directives for robots: nosnippet",
    ] {
        assert!(short.contains(part), "{part}: {short}");
    }
    assert!(explained(&article("<meta name=robots content=noindex>")).contains("asks not to be indexed"));
}

#[test]
fn screen() {
    let answers = ask(
        "screen",
        &[
            json!({"id": 1, "title": "The last post", "text": "The keeper walks out to the pier at low tide and writes down what the water has left."}),
            json!({"id": 2, "title": "Casino online bonus", "text": "Online casino bonus: free spins, slot machines, roulette, bet now and win real money at the best casino online, no deposit bonus, poker jackpot."}),
        ],
    );
    assert_eq!(answers[0]["verdict"], "pass");
    assert_eq!(answers[1]["verdict"], "reject");
    let topics = answers[1]["topics"].as_array().unwrap();
    assert!(topics.iter().any(|topic| topic["topic"].is_string() && topic["score"].is_number()), "{topics:?}");
}

#[test]
fn address() {
    let refused = [
        "http://127.0.0.1:9001/2018-06-01/runtime/invocation/next",
        "http://169.254.169.254/latest/meta-data/",
        "http://2130706433/",
        "http://0x7f.1/",
        "http://[::ffff:169.254.169.254]/",
        "http://localhost/",
        "file:///etc/passwd",
        "http://example.org:22/",
        "no url at all",
    ];
    let mut questions: Vec<Value> = refused.iter().enumerate().map(|(n, url)| json!({"id": n, "url": url})).collect();
    questions.push(json!({"id": "ok", "url": "https://example.org/"}));
    questions.push(json!({"id": "public", "url": "https://example.org/", "addresses": ["93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"]}));
    questions.push(json!({"id": "rebound", "url": "https://example.org/", "addresses": ["93.184.215.14", "10.0.0.1"]}));
    let answers = ask("address", &questions);
    let (no, yes) = answers.split_at(refused.len());
    for (answer, url) in no.iter().zip(refused) {
        assert_eq!(answer["allowed"], false, "{url}");
        assert!(answer["reason"].as_str().is_some_and(|reason| !reason.is_empty()), "{url}");
    }
    assert_eq!(yes.iter().map(|answer| answer["allowed"] == true).collect::<Vec<_>>(), [true, true, false]);
    let opened = start(["check", "address", "--url", "http://127.0.0.1:8080/", "--allow-net", "127.0.0.0/8"]);
    assert_eq!(opened.wait(LIMIT).ok().json()["allowed"], true, "a network may be opened");
}

#[test]
fn a_line_that_cannot_be_read_is_answered_and_the_next_goes_on() {
    let good = |id: u32| json!({"id": id, "robots": "", "agent": "CurlewBot", "url": "https://a.example/"}).to_string();
    let not_text: &[u8] = b"\xff\xfe\x00{";
    let lines: Vec<Vec<u8>> = vec![
        good(1).into(),
        b"{\"id\": 2, \"robots\": ".to_vec(),
        b"[1, 2]".to_vec(),
        not_text.to_vec(),
        Vec::new(),
        b"{\"id\": 6, \"agent\": \"CurlewBot\", \"url\": \"https://a.example/\"}".to_vec(),
        b"{\"id\": 7, \"robots\": \"\", \"agent\": \"CurlewBot\"}".to_vec(),
        format!("{{\"id\": 8, \"deep\": {}{}}}", "[".repeat(100_000), "]".repeat(100_000)).into(),
        good(9).into(),
    ];
    // The last line does not end with a newline, as in many files.
    let ran = curlew_with_input(&["check", "robots"], &lines.join(&b'\n')).ok();
    let answers = ran.rows();
    let shapes: Vec<&str> = answers.iter().map(|a| if a["error"].is_object() { "error" } else { "answer" }).collect();
    assert_eq!(shapes, ["answer", "error", "error", "error", "error", "error", "error", "answer"], "{}", ran.stdout);
    for answer in answers.iter().filter(|answer| answer["error"].is_object()) {
        assert_refusal(answer);
    }
    let ids: Vec<&Value> = answers.iter().map(|answer| &answer["id"]).collect();
    assert_eq!(ids[0], 1);
    assert_eq!((ids[4], ids[5]), (&json!(6), &json!(7)), "an id that can be read is carried over");
    assert_eq!(ids[7], 9);
}

#[test]
fn many_lines_keep_their_order() {
    let questions: Vec<Value> =
        (0..2_000).map(|n| json!({"id": format!("q{n}"), "url": format!("http://10.0.{}.1/", n % 250)})).collect();
    assert!(ask("address", &questions).iter().all(|answer| answer["allowed"] == false));
    assert_eq!(curlew_with_input(&["check", "address"], b"").ok().stdout, "", "no question, no answer");
}

#[test]
fn a_plain_document_is_asked_about_by_its_file() {
    let folder = Store::alone();
    let check = |args: &[&str]| start([&["check"], args].concat()).wait(LIMIT);
    let page = folder.file("page.html", article(""));
    let answer = check(&["page", &page, "--url", "https://pier.example/x"]).ok().json();
    assert_eq!((&answer["title"], &answer["valid"]), (&json!("The last post"), &json!(true)));
    let right = folder.file("right.txt", "The last words.\n");
    let case = check(&["page", &page, "--url", "https://pier.example/x", "--label", &right]).ok().json();
    assert_eq!((&case["text"], &case["body_b64"]), (&json!("The last words."), &json!(base64(&article("")))));
    let feed = folder.file("feed.xml", RSS);
    assert_eq!(
        check(&["feed", &feed, "--url", "https://faro.example/feed.xml"]).ok().json()["feed"]["title"],
        "Il faro"
    );
    let home = folder.file("home.html", HOME);
    let found = check(&["discover", &home, "--url", "https://pier.example/"]).ok().json();
    assert_eq!(found["feeds"].as_array().unwrap().len(), 2);
    let robots = folder.file("robots.txt", ROBOTS);
    assert_eq!(check(&["robots", &robots, "--url", "https://a.example/private/x"]).ok().json()["allowed"], false);
    assert_eq!(check(&["robots", &robots, "--url", "/", "--agent", "OtherBot"]).ok().json()["allowed"], false);
    let text = folder.file("text.txt", "The keeper walks out to the pier at low tide.");
    assert_eq!(check(&["screen", &text, "--title", "Low tide"]).ok().json()["verdict"], "pass");

    check(&["page", &page]).refused(2, &["--url"]);
    let missing = folder.around().join("missing.html");
    check(&["page", missing.to_str().unwrap(), "--url", "https://pier.example/"])
        .refused(1, &["missing.html", "cannot be read"]);
}

#[test]
fn every_check_asks_for_the_agent_of_the_settings_unless_a_flag_names_another() {
    let folder = Store::alone();
    let settings = folder.file("curlew.toml", "[agent]\nname = \"HeronBot\"\n");
    let robots = folder.file("robots.txt", "User-agent: HeronBot\nDisallow: /\n");
    let page = folder.file("page.html", article("<meta name=\"heronbot\" content=\"noindex\">"));
    let asked = |check: &str, file: &str, more: &[&str]| {
        let args = [&["check", check, file, "--url", "https://pier.example/x"], more].concat();
        start(args).wait(LIMIT).ok().json()
    };
    for (more, is_heron) in
        [(&[][..], false), (&["--config", &settings], true), (&["--config", &settings, "--agent", "Egret"], false)]
    {
        assert_eq!(asked("robots", &robots, more)["allowed"], !is_heron, "{more:?}");
        assert_eq!(asked("page", &page, more)["valid"], !is_heron, "{more:?}");
    }
    let environment = |mut command: std::process::Command| {
        command.env("CURLEW_AGENT_NAME", "HeronBot");
        curlew_tests::Child::spawn(command).wait(LIMIT).ok().json()
    };
    let refused = environment(curlew_tests::curlew(["check", "robots", &robots, "--url", "/"]));
    assert_eq!(refused["allowed"], false);
}

#[track_caller]
fn assert_refusal(answer: &Value) {
    let error = &answer["error"];
    for member in ["kind", "message"] {
        assert!(error[member].as_str().is_some_and(|text| !text.is_empty() && !text.contains('\n')), "{answer}");
    }
    assert_ne!(error["kind"], "panic", "{answer}");
}

/// Encodes a text as base64 (RFC 4648 §4).
fn base64(text: &str) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let letters = |chunk: &[u8]| {
        let bits = chunk.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        let letter = |n: usize| char::from(LETTERS[(bits >> (18 - 6 * n)) as usize & 63]);
        (0..4).map(|n| if n <= chunk.len() { letter(n) } else { '=' }).collect::<String>()
    };
    text.as_bytes().chunks(3).map(letters).collect()
}
