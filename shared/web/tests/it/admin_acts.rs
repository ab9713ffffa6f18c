//! Tests of the operator's pages: their content, and the actions of their forms, each with its undo.

use crate::admin::{PAGES, Session, fields, log, operators_world};
use crate::support::{World, ready, request};
use axum::http::{Method, StatusCode};
use curlew_model::{
    DiscoverJob, HostKey, Job, Millis, Page, PageId, PageState, QueueName, Rejection, Screened, Timestamp,
};
use curlew_people::messages::{About, Message};
use curlew_policy::address;

/// A world with something on each page: hostile texts, a dead job, a rejected page, a message.
fn busy() -> World {
    let world = operators_world();
    let url = "https://example.org/<b>offer</b>?a=1&b=2".parse().unwrap();
    let id: PageId = address::page_id(&url);
    let why = Screened::new(vec!["gambling".into()], Some("gambling 0.97: \"free spins\", <jackpot>".into()));
    let why = Screened { picture: Some("Qk0=".into()), ..why };
    let state = PageState::Rejected { reason: Rejection::Screened(why) };
    let host = HostKey::new("example.org").unwrap();
    let page = Page::new(id, url.to_string(), host, state, Timestamp::from_millis(1_795_000_000_000));
    assert!(ready(world.ports.pages.insert(&page)).unwrap());
    let key = address::source_key(&"https://gone.example/".parse().unwrap());
    let job = Job::new(DiscoverJob::new(key, "https://gone.example/".into()));
    let now = Timestamp::from_millis(1_795_000_000_000);
    ready(world.ports.queue.send(&[(job, now)])).unwrap();
    let received = ready(world.ports.inbox.receive(QueueName::Discover, 1, Millis::from_mins(1), now)).unwrap();
    let error = "the page <x> is out of reach: connection refused: os error 111";
    ready(world.ports.inbox.dead_letter(&received[0].receipt, error, now)).unwrap();
    let message = Message {
        about: About::Abuse,
        address: "https://example.org/".into(),
        text: "This <script>alert(1)</script>\nis no good".into(),
        reply_to: "ana@example.org".into(),
    };
    ready(world.messages.take(&message)).unwrap();
    world
}

#[tokio::test]
async fn every_page_shows_what_there_is_and_gives_no_text_of_others_a_meaning() {
    let world = busy();
    let ana = Session::of(&world, "ana <i>", 1).await;
    for path in PAGES.split(' ').map(|path| format!("/admin{path}")).chain(["/admin/site/example.org".into()]) {
        let page = ana.open(&path).await;
        assert_eq!(page.status, StatusCode::OK, "{path}");
        assert!(!page.body.contains("<script>") && !page.body.contains("ana <i>"), "{path}");
        assert_eq!(page.text(".who span"), "ana <i>");
    }
    for (path, text) in [
        ("dead", "out of reach: connection refused: os error 111"),
        ("screening", "\"free spins\", <jackpot>"),
        ("messages", "<script>alert(1)</script>"),
        ("site/example.org", "https://example.org/feed"),
        ("settings", "\"<Notes>\" (file)"),
    ] {
        assert!(ana.open(&format!("/admin/{path}")).await.text("main").contains(text), "{path}");
    }
    let rejected = ana.open("/admin/screening").await;
    assert!(rejected.body.contains("<img src=\"data:image/bmp;base64,Qk0=\""), "{}", rejected.body);
    assert!(rejected.header("content-security-policy").contains("img-src 'self' data:;"));
    assert_eq!(ana.open("/admin/nowhere").await.status, StatusCode::NOT_FOUND);
    let put = request(Method::PUT, "/admin/holds", &[("cookie", &ana.cookie)]);
    assert_eq!(world.send(put).await.status, StatusCode::METHOD_NOT_ALLOWED);
}

#[tokio::test]
async fn each_act_is_done_logged_and_undone_and_a_second_undo_says_that_it_changes_nothing() {
    let world = busy();
    let ana = Session::of(&world, "ana", 1).await;
    let bo = Session::of(&world, "bo", 2).await;
    let host = ana.open("/admin/site/example.org").await;

    let held = ana.act(&host, "hold", "example.org", &[("length", "7d")]).await;
    assert_eq!(held.text("h1"), "Held", "{}", held.body);
    let state = ready(world.ports.ledger.load(&HostKey::new("example.org").unwrap())).unwrap().0;
    assert!(state.left_alone_until.is_some());
    let others = bo.open("/admin/holds").await;
    let lifted = ana.act(&held, "lift_hold", "example.org", &[]).await;
    assert_eq!(lifted.text("h1"), "Hold lifted");
    let second = bo.act(&others, "lift_hold", "example.org", &[]).await;
    assert_eq!(second.text("h1"), "Nothing was changed");
    assert!(second.text(".notice").contains("was not held"), "{}", second.body);

    let screening = ana.open("/admin/screening").await;
    let url = "https://example.org/%3Cb%3Eoffer%3C/b%3E?a=1&b=2";
    let allowed = ana.act(&screening, "allow", url, &[]).await;
    assert!(allowed.text(".notice").contains("1 will be fetched once more"), "{}", allowed.body);
    let row = ready(world.ports.pages.get(&address::page_id(&url.parse().unwrap()))).unwrap().unwrap().0;
    assert!(!serde_json::to_string(&row).unwrap().contains("picture"), "nothing is kept of its picture");
    assert!(ana.open("/admin/screening").await.text("main").contains("There is none."));
    assert!(ana.open("/admin/overrides").await.text(".kept").contains("allowed"));
    let taken_back = ana.act(&allowed, "take_back", url, &[]).await;
    assert_eq!(taken_back.text("h1"), "Override removed");
    assert_eq!(ana.act(&taken_back, "allow", url, &[]).await.text("h1"), "Allowed");

    let dead = ana.open("/admin/dead").await;
    let receipt = ready(world.ports.inbox.dead(9)).unwrap()[0].receipt.0.clone();
    let unsure = ana.act(&dead, "discard", &receipt, &[]).await;
    assert_eq!(unsure.text("h1"), "Nothing was changed");
    assert_eq!(ana.act(&dead, "redrive", &receipt, &[]).await.text("h1"), "Put back");
    assert_eq!(ready(world.ports.inbox.dead(9)).unwrap(), []);
    let gone = ana.act(&dead, "redrive_all", "", &[]).await;
    assert!(gone.text(".notice").contains("No job was given up"));

    let messages = ana.open("/admin/messages").await;
    let closed = ana.act(&messages, "close_message", "", &[("sure", "yes")]).await;
    assert_eq!(closed.text("h1"), "Deleted", "{}", closed.body);
    assert_eq!(world.told(), []);

    let audit = ana.open("/admin/audit").await.text(".kept");
    for what in
        ["hold example.org", "lift hold example.org", "override https://example.org/", "redrive dead-", "close message"]
    {
        assert!(audit.contains(what), "{what}: {audit}");
    }
    assert!(audit.contains("by ana") && !audit.contains("by bo"), "a no-op is no act: {audit}");
}

#[tokio::test]
async fn sites_feeds_and_lists_are_added_and_polled() {
    let world = operators_world();
    let ana = Session::of(&world, "ana", 1).await;
    let add = async |act: &str, field, value: &str| ana.act_on("/admin/sources", act, &[(field, value)]).await;
    let added = add("add_site", "url", "tide.example").await;
    assert_eq!(added.text("h1"), "Added", "{}", added.body);
    assert_eq!(world.suggested(), ["https://tide.example/"]);
    let again = add("add_site", "url", "tide.example").await;
    assert!(again.text(".notice").contains("known already"));
    let refused = add("add_feed", "url", "http://blocked.example/feed").await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(refused.text(".notice").contains("excluded"), "{}", refused.body);

    let opml = "<opml version=\"2.0\"><body><outline text=\"a\" xmlUrl=\"https://a.example/feed\"/>\
        <outline text=\"b\" xmlUrl=\"https://blocked.example/feed\"/></body></opml>";
    let imported = add("import", "opml", opml).await;
    assert!(imported.text(".notice").contains("1 new, 0 known, 1 refused"), "{}", imported.body);
    let nonsense = add("import", "opml", "no list").await;
    assert_eq!(nonsense.status, StatusCode::UNPROCESSABLE_ENTITY);

    let site = ana.open("/admin/site/a.example").await;
    let polled = ana.act(&site, "poll", "https://a.example/feed", &[]).await;
    assert_eq!(polled.text("h1"), "Asked for", "{}", polled.body);
    assert_eq!(world.polls(), 1);
    let filtered = ana.open("/admin/sources?filter=A.example").await;
    assert_eq!(filtered.all("tbody th"), ["a.example"]);
    assert_eq!(filtered.all("tbody td")[..3], ["1", "0", "0"]);
    assert_eq!(filtered.attributes("tbody a", "href"), ["/admin/site/a.example"]);
    let all = ana.open("/admin/sources?order=news").await;
    assert_eq!(all.all("tbody th").len(), 3, "{}", all.body);
    assert_eq!(all.attributes("option[selected]", "value"), ["news"]);
    assert!(log(&world).contains(&"poll https://a.example/feed by ana".to_owned()), "{:?}", log(&world));
}

#[tokio::test]
async fn bad_input_is_bounded_and_said() {
    let world = operators_world();
    let ana = Session::of(&world, "ana", 1).await;
    for (path, status) in [
        (format!("/admin/sources?filter={}", "x".repeat(60_000)), StatusCode::NOT_FOUND),
        (format!("/admin/sources?filter={}", "x".repeat(3_000)), StatusCode::OK),
        ("/admin/sources?page=garbage".into(), StatusCode::NOT_FOUND),
        ("/admin/screening?after=%00".into(), StatusCode::NOT_FOUND),
        ("/admin/screening?filter=%3Cb%3E".into(), StatusCode::OK),
        (format!("/admin/holds?after={}", "y".repeat(3_000)), StatusCode::NOT_FOUND),
        ("/admin/site/nowhere.example".into(), StatusCode::NOT_FOUND),
        ("/admin/site/".into(), StatusCode::NOT_FOUND),
        ("/admin/site/%20".into(), StatusCode::NOT_FOUND),
        (format!("/admin/site/{}", "z".repeat(3_000)), StatusCode::NOT_FOUND),
    ] {
        assert_eq!(ana.open(&path).await.status, status, "{}", &path[..path.len().min(80)]);
    }
    let import = async |opml: &str| ana.act_on("/admin/sources", "import", &[("opml", opml)]).await;
    let big = import(&"<outline/>".repeat(1 << 20)).await;
    assert_eq!(big.status, StatusCode::PAYLOAD_TOO_LARGE);
    let feeds: String = (0..3_000).map(|n| format!("<outline xmlUrl=\"https://f{n}.example/\"/>")).collect();
    let many = import(&format!("<opml><body>{feeds}</body></opml>")).await;
    assert_eq!(many.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(many.text(".notice").contains("curlew import opml"), "{}", many.body);
    for (about, status) in [
        ("", StatusCode::OK),
        ("no host", StatusCode::UNPROCESSABLE_ENTITY),
        ("http://[::1", StatusCode::UNPROCESSABLE_ENTITY),
        (&"h".repeat(3_000), StatusCode::UNPROCESSABLE_ENTITY),
    ] {
        let answer = ana.act_on("/admin/holds", "block", &[("about_typed", about)]).await;
        assert_eq!(answer.status, status, "{}", &about[..about.len().min(20)]);
        assert_ne!(answer.text("h1"), "Blocked");
    }
    let topic = [("about_typed", "example.org"), ("topic", "weather")];
    let unknown = ana.act_on("/admin/overrides", "allow", &topic).await;
    assert!(unknown.text(".notice").contains("there is no topic 'weather'"), "{}", unknown.body);
    assert_eq!(log(&world), [""; 0]);
}

#[tokio::test]
async fn a_watch_is_added_with_its_key_shown_once_and_removed() {
    let world = operators_world();
    let ana = Session::of(&world, "ana", 1).await;
    let page = async || ana.open("/admin/watches").await;
    let wanted = [("query", "curlew -golf"), ("url", "https://hooks.example/new")];
    for bad in [[("query", ""), wanted[1]], [wanted[0], ("url", "ftp://hooks.example/")], [wanted[0], ("url", "")]] {
        let refused = ana.act_on("/admin/watches", "add_watch", &bad).await;
        assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY, "{bad:?}");
    }
    let added = ana.act_on("/admin/watches", "add_watch", &wanted).await;
    assert_eq!(added.text("h1"), "Watch added", "{}", added.body);
    let key = added.text(".notice").split_once("whsec_").unwrap().1.trim().to_owned();
    let listed = page().await;
    assert!(listed.text(".kept").contains("curlew -golf"), "{}", listed.body);
    assert!(!listed.body.contains(&key), "it is shown once");
    let other = [("query", "godwit"), wanted[1]];
    let second = ana.act(&listed, "add_watch", "", &other).await;
    assert!(!second.body.contains(&key), "each watch has a key of its own");

    let listed = page().await;
    let name = fields(&listed, "remove_watch", "").into_iter().find(|(name, _)| name == "about").unwrap().1;
    let unsure = ana.act(&listed, "remove_watch", &name, &[]).await;
    assert_eq!(unsure.text("h1"), "Nothing was changed");
    let listed = page().await;
    let removed = ana.act(&listed, "remove_watch", &name, &[("sure", "yes")]).await;
    assert_eq!(removed.text("h1"), "Removed", "{}", removed.body);
    assert!(!page().await.body.contains(&name));
    assert_eq!(log(&world).len(), 3, "{:?}", log(&world));
}
