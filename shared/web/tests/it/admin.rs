//! The operator's pages: who gets in, which forms are taken, and what they do. It is long since it is one list: each
//! act with its undo.

use crate::support::{Answer, Backend, World, ready, settings};
use axum::body::Body;
use axum::http::{Method, Request, StatusCode};
use curlew_model::{
    DiscoverJob, HostKey, Job, Millis, Page, PageId, PageState, QueueName, Rejection, Screened, Timestamp,
};
use curlew_people::audit_log::AuditLog;
use curlew_people::messages::{About, Message};
use curlew_people::sessions::Sessions;
use curlew_policy::address;
use curlew_web::{PageSettings, ThroughProxy, login_token};
use url::form_urlencoded;

/// All pages that need no host, by their paths below `/admin`.
pub(crate) const PAGES: [&str; 11] = [
    "",
    "/sources",
    "/holds",
    "/screening",
    "/overrides",
    "/dead",
    "/messages",
    "/owners",
    "/watches",
    "/settings",
    "/audit",
];

pub(crate) fn over_http() -> PageSettings {
    PageSettings { base_url: None, ..settings() }
}

pub(crate) fn operators_world() -> World {
    World::of(Backend::default()).with_operators(over_http(), None)
}

fn sessions(world: &World) -> Sessions {
    Sessions { blobs: world.ports.blobs.clone(), clock: world.clock.clone() }
}

pub(crate) fn log(world: &World) -> Vec<String> {
    let log = AuditLog { blobs: world.ports.blobs.clone(), clock: world.clock.clone() };
    let entries = ready(log.latest(100)).unwrap();
    entries.into_iter().map(|entry| format!("{} {} by {}", entry.act.what, entry.act.about, entry.by)).collect()
}

/// Returns a token as `curlew admin login` prints it.
fn token(world: &World, name: &str, random: u8) -> String {
    ready(sessions(world).issue(&[random; 32], name)).unwrap();
    login_token(&settings().secret, &[random; 32])
}

fn form(path: &str, fields: &[(&str, &str)], cookie: &str) -> Request<Body> {
    let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
    Request::post(path)
        .header("content-type", "application/x-www-form-urlencoded")
        .header("sec-fetch-site", "same-origin")
        .header("cookie", cookie)
        .body(Body::from(body))
        .unwrap()
}

async fn try_token(world: &World, token: &str) -> Answer {
    world.send(form("/admin/login", &[("token", token)], "")).await
}

/// Signs in and returns the `Cookie` field of the session.
pub(crate) async fn sign_in(world: &World, name: &str, random: u8) -> String {
    let answer = try_token(world, &token(world, name, random)).await;
    assert_eq!((answer.status, answer.header("location")), (StatusCode::SEE_OTHER, "/admin"));
    answer.header("set-cookie").split(';').next().unwrap().to_owned()
}

pub(crate) async fn open(world: &World, path: &str, cookie: &str) -> Answer {
    world.send(Request::get(path).header("cookie", cookie).body(Body::empty()).unwrap()).await
}

/// Returns the fields of the form on a page that asks for an act, about this subject if one is given.
fn fields(page: &Answer, act: &str, about: &str) -> Vec<(String, String)> {
    let dom = page.dom();
    let select = |text: &str| scraper::Selector::parse(text).unwrap();
    let (forms, hidden) = (select("form[action='/admin/do']"), select("input[type=hidden]"));
    for form in dom.select(&forms) {
        let inputs = form.select(&hidden);
        let pair = |e: scraper::ElementRef<'_>| Some((e.attr("name")?.to_owned(), e.attr("value")?.to_owned()));
        let fields: Vec<(String, String)> = inputs.filter_map(pair).collect();
        let has = |name: &str, value: &str| fields.iter().any(|(n, v)| n == name && v == value);
        if has("act", act) && (about.is_empty() || has("about", about)) {
            return fields;
        }
    }
    panic!("no form for {act} {about} on:\n{}", page.body);
}

/// Sends the form of a page for an act, with more fields.
pub(crate) async fn act(
    world: &World,
    page: &Answer,
    cookie: &str,
    wanted: (&str, &str),
    more: &[(&str, &str)],
) -> Answer {
    let fields = fields(page, wanted.0, wanted.1);
    let all: Vec<(&str, &str)> =
        fields.iter().map(|(n, v)| (n.as_str(), v.as_str())).chain(more.iter().copied()).collect();
    world.send(form("/admin/do", &all, cookie)).await
}

pub(crate) fn is_blocked(world: &World, host: &str) -> bool {
    let key = HostKey::new(host).unwrap();
    ready(world.ports.ledger.load(&key)).unwrap().0.is_blocked(host)
}

#[tokio::test]
async fn whoever_is_not_signed_in_gets_the_sign_in_page_and_nothing_else() {
    let world = operators_world();
    let mut bodies = vec![];
    let paths = PAGES.iter().map(|path| format!("/admin{path}"));
    for path in paths.chain(["/admin/", "/admin/do", "/admin/nowhere", "/admin/site/example.org"].map(str::to_owned)) {
        for method in [Method::GET, Method::POST, Method::PUT, Method::DELETE] {
            let request = Request::builder().method(method.clone()).uri(&path).header("remote-user", "ana");
            let answer = world.send(request.body(Body::empty()).unwrap()).await;
            assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{method} {path}");
            assert!(answer.header("www-authenticate").starts_with("Cookie "));
            assert_eq!(answer.header("cache-control"), "no-store");
            bodies.push(answer.body);
        }
    }
    bodies.dedup();
    assert_eq!(bodies.len(), 1, "all of them say the same");
    let without = World::of(Backend::default());
    assert_eq!(without.get("/admin").await.status, StatusCode::NOT_FOUND, "nobody has asked for these pages");
}

#[tokio::test]
async fn the_cookie_is_kept_from_scripts_other_sites_and_other_hosts() {
    let plain = operators_world();
    let answer = try_token(&plain, &token(&plain, "ana", 1)).await;
    let cookie = answer.header("set-cookie");
    assert!(cookie.starts_with("curlew-operator="), "{cookie}");
    assert!(cookie.ends_with("; Path=/admin; HttpOnly; SameSite=Strict; Max-Age=43200"), "{cookie}");
    let world = World::of(Backend::default()).with_operators(settings(), None);
    let answer = try_token(&world, &token(&world, "ana", 1)).await;
    let cookie = answer.header("set-cookie");
    assert!(cookie.starts_with("__Host-curlew-operator="), "{cookie}");
    assert!(cookie.ends_with("; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=43200"), "{cookie}");
    assert!(!cookie.contains("Domain"));
    let value = cookie.split(['=', ';']).nth(1).unwrap();
    let stored = ready(world.ports.blobs.get("sessions.json")).unwrap().unwrap();
    let stored = String::from_utf8_lossy(&stored.bytes).into_owned();
    assert!(!stored.contains(&value[..64]) && !stored.contains(&"01".repeat(32)), "only hashes are stored: {stored}");
}

#[tokio::test]
async fn a_token_is_good_once_and_for_ten_minutes() {
    let world = operators_world();
    let (first, second) = (token(&world, "ana", 1), token(&world, "bo", 2));
    assert_eq!(try_token(&world, &first).await.status, StatusCode::SEE_OTHER);
    let again = try_token(&world, &first).await;
    assert_eq!(again.status, StatusCode::UNAUTHORIZED);
    assert!(again.text(".notice").contains("curlew admin login"));
    world.clock.advance(Millis::from_mins(10));
    assert_eq!(try_token(&world, &second).await.status, StatusCode::UNAUTHORIZED);
    assert_eq!(try_token(&world, &login_token(&settings().secret, &[9; 32])).await.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn a_session_ends_when_it_is_idle_after_half_a_day_or_when_it_is_told_to() {
    let world = operators_world();
    let idle = sign_in(&world, "ana", 1).await;
    world.clock.advance(Millis::from_mins(119));
    assert_eq!(open(&world, "/admin", &idle).await.text(".who span"), "ana");
    world.clock.advance(Millis::from_mins(119));
    assert_eq!(open(&world, "/admin", &idle).await.status, StatusCode::OK, "it was used in between");
    world.clock.advance(Millis::from_hours(2));
    assert_eq!(open(&world, "/admin", &idle).await.status, StatusCode::UNAUTHORIZED);

    let long = sign_in(&world, "ana", 2).await;
    for _ in 0..11 {
        world.clock.advance(Millis::from_hours(1));
        assert_eq!(open(&world, "/admin", &long).await.status, StatusCode::OK);
    }
    world.clock.advance(Millis::from_hours(1));
    assert_eq!(open(&world, "/admin", &long).await.status, StatusCode::UNAUTHORIZED);

    let (out, other) = (sign_in(&world, "ana", 3).await, sign_in(&world, "bo", 4).await);
    let page = open(&world, "/admin", &out).await;
    let answer = act(&world, &page, &out, ("sign_out", ""), &[]).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER);
    assert!(
        answer.header("set-cookie").contains("curlew-operator=;") && answer.header("set-cookie").contains("Max-Age=0")
    );
    assert_eq!(open(&world, "/admin", &out).await.status, StatusCode::UNAUTHORIZED);
    assert_eq!(open(&world, "/admin", &other).await.status, StatusCode::OK);
    assert_eq!(ready(sessions(&world).end_all()).unwrap(), 1);
    assert_eq!(open(&world, "/admin", &other).await.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn made_up_secrets_reach_no_store_and_are_soon_refused() {
    let world = World::of(Backend { broken: Some(false), ..Backend::default() }).with_operators(over_http(), None);
    let genuine = login_token(&settings().secret, &[1; 32]);
    let forged = login_token(&[1; 32], &[1; 32]);
    for cookie in ["", "x", forged.as_str(), genuine.as_str(), &"é".repeat(48), &"0".repeat(10_000)] {
        let request = Request::get("/admin").header("cookie", format!("curlew-operator={cookie}").into_bytes());
        let answer = world.send(request.body(Body::empty()).unwrap()).await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{cookie}");
    }
    for made_up in ["", "x", forged.as_str(), &genuine[1..], &genuine.replace('0', "1")] {
        assert_eq!(try_token(&world, made_up).await.status, StatusCode::UNAUTHORIZED, "{made_up}");
    }
    let reached = try_token(&world, &genuine).await.status;
    assert_eq!(reached, StatusCode::INTERNAL_SERVER_ERROR, "only one of ours is looked for in the store");
    for _ in 0..10 {
        try_token(&world, &forged).await;
    }
    let refused = try_token(&world, &forged).await;
    assert_eq!(refused.status, StatusCode::TOO_MANY_REQUESTS);
    assert!(!refused.header("retry-after").is_empty());
    world.clock.advance(Millis::from_mins(1));
    assert_eq!(try_token(&world, &forged).await.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn a_form_is_taken_only_from_the_session_that_got_it_for_the_act_it_is_for() {
    let world = operators_world();
    let (ana, bo) = (sign_in(&world, "ana", 1).await, sign_in(&world, "bo", 2).await);
    let page = open(&world, "/admin/holds", &ana).await;
    let block = fields(&page, "block", "");
    let token = block.iter().find(|(name, _)| name == "token").unwrap().1.clone();
    let sent = |act: &'static str, token: &str| {
        [("act", act.to_owned()), ("about", "example.org".into()), ("token", token.into())]
    };
    let send = async |fields: [(&'static str, String); 3], cookie: &str| {
        let pairs: Vec<(&str, &str)> = fields.iter().map(|(n, v)| (*n, v.as_str())).collect();
        world.send(form("/admin/do", &pairs, cookie)).await
    };
    for (fields, cookie) in [
        (sent("block", &token), &bo),
        (sent("unblock", &token), &ana),
        (sent("block", ""), &ana),
        (sent("block", "1.1.zz"), &ana),
    ] {
        assert_eq!(send(fields, cookie).await.status, StatusCode::FORBIDDEN);
    }
    for (name, value) in [("sec-fetch-site", "cross-site"), ("origin", "https://evil.example"), ("origin", "null")] {
        let pairs = sent("block", &token).map(|(n, v)| format!("{n}={v}")).join("&");
        let request = Request::post("/admin/do")
            .header("content-type", "application/x-www-form-urlencoded")
            .header("host", "127.0.0.1:8080")
            .header("cookie", &ana)
            .header(name, value);
        let answer = world.send(request.body(Body::from(pairs)).unwrap()).await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN, "{name}: {value}");
    }
    assert!(!is_blocked(&world, "example.org"));
    let done = send(sent("block", &token), &ana).await;
    assert_eq!((done.status, done.text("h1").as_str()), (StatusCode::OK, "Blocked"));
    assert!(is_blocked(&world, "example.org"));
    world.clock.advance(Millis::from_secs(1));
    // Sent again, by a reload or by somebody who has recorded it.
    let undone = act(&world, &done, &ana, ("unblock", "example.org"), &[]).await;
    assert_eq!(undone.text("h1"), "Block lifted");
    let again = send(sent("block", &token), &ana).await;
    assert_eq!(again.status, StatusCode::CONFLICT);
    assert!(again.text(".notice").contains("sent before"), "{}", again.body);
    assert!(!is_blocked(&world, "example.org"));
    assert_eq!(log(&world), ["unblock example.org by ana", "block example.org by ana"]);
}

#[tokio::test]
async fn a_form_of_an_hour_ago_or_of_an_earlier_process_is_not_taken() {
    let world = operators_world();
    let ana = sign_in(&world, "ana", 1).await;
    let page = open(&world, "/admin/holds", &ana).await;
    world.clock.advance(Millis::from_secs(1));
    // A process that begins anew does not know which forms were sent already.
    let world = world.with_operators(over_http(), None);
    let stale = act(&world, &page, &ana, ("block", ""), &[("about", "example.org")]).await;
    assert_eq!(stale.status, StatusCode::BAD_REQUEST);
    let page = open(&world, "/admin/holds", &ana).await;
    world.clock.advance(Millis::from_mins(61));
    let old = act(&world, &page, &ana, ("block", ""), &[("about", "example.org")]).await;
    assert_eq!(old.status, StatusCode::BAD_REQUEST);
    assert!(old.text(".notice").contains("too old"));
    assert!(!is_blocked(&world, "example.org"));
}

#[tokio::test]
async fn a_header_names_the_operator_only_if_a_trusted_proxy_wrote_it_once() {
    let world = World::of(Backend::default()).with_operators(over_http(), Some("Remote-User"));
    let ask = async |world: &World, names: &[&str], through: Option<bool>| {
        let mut request = Request::get("/admin/holds");
        for name in names {
            request = request.header("remote-user", *name);
        }
        let mut request = request.body(Body::empty()).unwrap();
        through.map(|through| request.extensions_mut().insert(ThroughProxy(through)));
        world.send(request).await
    };
    let page = ask(&world, &["ana"], Some(true)).await;
    assert_eq!((page.status, page.text(".who span").as_str()), (StatusCode::OK, "ana"));
    assert!(!page.body.contains("sign_out"), "the proxy has signed her in");
    for (names, through) in [
        (&["ana"][..], Some(false)),
        (&["ana"], None),
        (&["ana", "bo"], Some(true)),
        (&[""], Some(true)),
        (&[], Some(true)),
    ] {
        assert_eq!(ask(&world, names, through).await.status, StatusCode::UNAUTHORIZED, "{names:?} {through:?}");
    }
    let unset = operators_world();
    assert_eq!(ask(&unset, &["ana"], Some(true)).await.status, StatusCode::UNAUTHORIZED);

    let block = fields(&page, "block", "");
    let all: Vec<(&str, &str)> =
        block.iter().map(|(n, v)| (n.as_str(), v.as_str())).chain([("about", "example.org")]).collect();
    for (name, taken) in [("bo", false), ("ana", true)] {
        let mut request = form("/admin/do", &all, "");
        request.headers_mut().insert("remote-user", name.parse().unwrap());
        request.extensions_mut().insert(ThroughProxy(true));
        assert_eq!(world.send(request).await.status == StatusCode::OK, taken, "{name}");
    }
    assert_eq!(log(&world), ["block example.org by ana"]);
}

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
    let ana = sign_in(&world, "ana <i>", 1).await;
    for path in PAGES.iter().map(|path| format!("/admin{path}")).chain(["/admin/site/example.org".into()]) {
        let page = open(&world, &path, &ana).await;
        assert_eq!(page.status, StatusCode::OK, "{path}");
        assert!(!page.body.contains("<script>") && !page.body.contains("ana <i>"), "{path}");
        assert_eq!(page.text(".who span"), "ana <i>");
    }
    let text = async |path: &str| open(&world, path, &ana).await.text("main");
    assert!(text("/admin/dead").await.contains("out of reach: connection refused: os error 111"));
    assert!(text("/admin/screening").await.contains("\"free spins\", <jackpot>"));
    let rejected = open(&world, "/admin/screening", &ana).await;
    assert!(rejected.body.contains("<img src=\"data:image/bmp;base64,Qk0=\""), "{}", rejected.body);
    assert!(rejected.header("content-security-policy").contains("img-src 'self' data:;"));
    assert!(text("/admin/messages").await.contains("<script>alert(1)</script>"));
    assert!(text("/admin/site/example.org").await.contains("https://example.org/feed"));
    assert!(text("/admin/settings").await.contains("\"<Notes>\" (file)"));
    assert!(open(&world, "/admin/nowhere", &ana).await.status == StatusCode::NOT_FOUND);
    let put = Request::put("/admin/holds").header("cookie", &ana).body(Body::empty()).unwrap();
    assert_eq!(world.send(put).await.status, StatusCode::METHOD_NOT_ALLOWED);
}

#[tokio::test]
async fn each_act_is_done_logged_and_undone_and_a_second_undo_says_that_it_changes_nothing() {
    let world = busy();
    let ana = sign_in(&world, "ana", 1).await;
    let bo = sign_in(&world, "bo", 2).await;
    let host = open(&world, "/admin/site/example.org", &ana).await;

    let held = act(&world, &host, &ana, ("hold", "example.org"), &[("length", "7d")]).await;
    assert_eq!(held.text("h1"), "Held", "{}", held.body);
    let state = ready(world.ports.ledger.load(&HostKey::new("example.org").unwrap())).unwrap().0;
    assert!(state.left_alone_until.is_some());
    let others = open(&world, "/admin/holds", &bo).await;
    let lifted = act(&world, &held, &ana, ("lift_hold", "example.org"), &[]).await;
    assert_eq!(lifted.text("h1"), "Hold lifted");
    let second = act(&world, &others, &bo, ("lift_hold", "example.org"), &[]).await;
    assert_eq!(second.text("h1"), "Nothing was changed");
    assert!(second.text(".notice").contains("was not held"), "{}", second.body);

    let screening = open(&world, "/admin/screening", &ana).await;
    let url = "https://example.org/%3Cb%3Eoffer%3C/b%3E?a=1&b=2";
    let allowed = act(&world, &screening, &ana, ("allow", url), &[]).await;
    assert!(allowed.text(".notice").contains("1 will be fetched once more"), "{}", allowed.body);
    let row = ready(world.ports.pages.get(&address::page_id(&url.parse().unwrap()))).unwrap().unwrap().0;
    assert!(!serde_json::to_string(&row).unwrap().contains("picture"), "nothing is kept of its picture");
    assert!(open(&world, "/admin/screening", &ana).await.text("main").contains("There is none."));
    assert!(open(&world, "/admin/overrides", &ana).await.text(".kept").contains("allowed"));
    let taken_back = act(&world, &allowed, &ana, ("take_back", url), &[]).await;
    assert_eq!(taken_back.text("h1"), "Override removed");
    assert_eq!(act(&world, &taken_back, &ana, ("allow", url), &[]).await.text("h1"), "Allowed");

    let dead = open(&world, "/admin/dead", &ana).await;
    let receipt = ready(world.ports.inbox.dead(9)).unwrap()[0].receipt.0.clone();
    let unsure = act(&world, &dead, &ana, ("discard", &receipt), &[]).await;
    assert_eq!(unsure.text("h1"), "Nothing was changed");
    assert_eq!(act(&world, &dead, &ana, ("redrive", &receipt), &[]).await.text("h1"), "Put back");
    assert_eq!(ready(world.ports.inbox.dead(9)).unwrap(), []);
    let gone = act(&world, &dead, &ana, ("redrive_all", ""), &[]).await;
    assert!(gone.text(".notice").contains("No job was given up"));

    let messages = open(&world, "/admin/messages", &ana).await;
    let closed = act(&world, &messages, &ana, ("close_message", ""), &[("sure", "yes")]).await;
    assert_eq!(closed.text("h1"), "Deleted", "{}", closed.body);
    assert_eq!(world.told(), []);

    let audit = open(&world, "/admin/audit", &ana).await.text(".kept");
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
    let ana = sign_in(&world, "ana", 1).await;
    let page = async || open(&world, "/admin/sources", &ana).await;
    let added = act(&world, &page().await, &ana, ("add_site", ""), &[("url", "tide.example")]).await;
    assert_eq!(added.text("h1"), "Added", "{}", added.body);
    assert_eq!(world.suggested(), ["https://tide.example/"]);
    let again = act(&world, &page().await, &ana, ("add_site", ""), &[("url", "tide.example")]).await;
    assert!(again.text(".notice").contains("known already"));
    let refused = act(&world, &page().await, &ana, ("add_feed", ""), &[("url", "http://blocked.example/feed")]).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(refused.text(".notice").contains("excluded"), "{}", refused.body);

    let opml = "<opml version=\"2.0\"><body><outline text=\"a\" xmlUrl=\"https://a.example/feed\"/>\
        <outline text=\"b\" xmlUrl=\"https://blocked.example/feed\"/></body></opml>";
    let imported = act(&world, &page().await, &ana, ("import", ""), &[("opml", opml)]).await;
    assert!(imported.text(".notice").contains("1 new, 0 known, 1 refused"), "{}", imported.body);
    let nonsense = act(&world, &page().await, &ana, ("import", ""), &[("opml", "no list")]).await;
    assert_eq!(nonsense.status, StatusCode::UNPROCESSABLE_ENTITY);

    let site = open(&world, "/admin/site/a.example", &ana).await;
    let polled = act(&world, &site, &ana, ("poll", "https://a.example/feed"), &[]).await;
    assert_eq!(polled.text("h1"), "Asked for", "{}", polled.body);
    assert_eq!(world.polls(), 1);
    let filtered = open(&world, "/admin/sources?filter=A.example", &ana).await;
    assert_eq!(filtered.all("tbody th"), ["a.example"]);
    assert_eq!(filtered.all("tbody td")[..3], ["1", "0", "0"]);
    assert_eq!(filtered.attributes("tbody a", "href"), ["/admin/site/a.example"]);
    let all = open(&world, "/admin/sources?order=news", &ana).await;
    assert_eq!(all.all("tbody th").len(), 3, "{}", all.body);
    assert_eq!(all.attributes("option[selected]", "value"), ["news"]);
    assert!(log(&world).contains(&"poll https://a.example/feed by ana".to_owned()), "{:?}", log(&world));
}

#[tokio::test]
async fn bad_input_is_bounded_and_said() {
    let world = operators_world();
    let ana = sign_in(&world, "ana", 1).await;
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
        assert_eq!(open(&world, &path, &ana).await.status, status, "{}", &path[..path.len().min(80)]);
    }
    let page = open(&world, "/admin/sources", &ana).await;
    let big = act(&world, &page, &ana, ("import", ""), &[("opml", &"<outline/>".repeat(1 << 20))]).await;
    assert_eq!(big.status, StatusCode::PAYLOAD_TOO_LARGE);
    let feeds: String = (0..3_000).map(|n| format!("<outline xmlUrl=\"https://f{n}.example/\"/>")).collect();
    let many =
        act(&world, &page, &ana, ("import", ""), &[("opml", &format!("<opml><body>{feeds}</body></opml>"))]).await;
    assert_eq!(many.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(many.text(".notice").contains("curlew import opml"), "{}", many.body);
    for (about, status) in [
        ("", StatusCode::OK),
        ("no host", StatusCode::UNPROCESSABLE_ENTITY),
        ("http://[::1", StatusCode::UNPROCESSABLE_ENTITY),
        (&"h".repeat(3_000), StatusCode::UNPROCESSABLE_ENTITY),
    ] {
        let page = open(&world, "/admin/holds", &ana).await;
        let answer = act(&world, &page, &ana, ("block", ""), &[("about_typed", about)]).await;
        assert_eq!(answer.status, status, "{}", &about[..about.len().min(20)]);
        assert_ne!(answer.text("h1"), "Blocked");
    }
    let page = open(&world, "/admin/overrides", &ana).await;
    let topic = [("about_typed", "example.org"), ("topic", "weather")];
    let unknown = act(&world, &page, &ana, ("allow", ""), &topic).await;
    assert!(unknown.text(".notice").contains("there is no topic 'weather'"), "{}", unknown.body);
    assert_eq!(log(&world), [""; 0]);
}

#[tokio::test]
async fn a_watch_is_added_with_its_key_shown_once_and_removed() {
    let world = operators_world();
    let ana = sign_in(&world, "ana", 1).await;
    let page = async || open(&world, "/admin/watches", &ana).await;
    let wanted = [("query", "curlew -golf"), ("url", "https://hooks.example/new")];
    for bad in [[("query", ""), wanted[1]], [wanted[0], ("url", "ftp://hooks.example/")], [wanted[0], ("url", "")]] {
        let refused = act(&world, &page().await, &ana, ("add_watch", ""), &bad).await;
        assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY, "{bad:?}");
    }
    let added = act(&world, &page().await, &ana, ("add_watch", ""), &wanted).await;
    assert_eq!(added.text("h1"), "Watch added", "{}", added.body);
    let key = added.text(".notice").split_once("whsec_").unwrap().1.trim().to_owned();
    let listed = page().await;
    assert!(listed.text(".kept").contains("curlew -golf"), "{}", listed.body);
    assert!(!listed.body.contains(&key), "it is shown once");
    let other = [("query", "godwit"), wanted[1]];
    let second = act(&world, &listed, &ana, ("add_watch", ""), &other).await;
    assert!(!second.body.contains(&key), "each watch has a key of its own");

    let listed = page().await;
    let name = fields(&listed, "remove_watch", "").into_iter().find(|(name, _)| name == "about").unwrap().1;
    let unsure = act(&world, &listed, &ana, ("remove_watch", &name), &[]).await;
    assert_eq!(unsure.text("h1"), "Nothing was changed");
    let listed = page().await;
    let removed = act(&world, &listed, &ana, ("remove_watch", &name), &[("sure", "yes")]).await;
    assert_eq!(removed.text("h1"), "Removed", "{}", removed.body);
    assert!(!page().await.body.contains(&name));
    assert_eq!(log(&world).len(), 3, "{:?}", log(&world));
}
