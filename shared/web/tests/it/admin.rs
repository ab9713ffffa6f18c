//! The operator's pages: who gets in, which forms are accepted, and their effects. This file is long because it lists
//! each action with its undo.

use crate::support::{Answer, Backend, World, form, ready, request, settings};
use axum::http::{HeaderValue, Method, StatusCode};
use curlew_model::{
    DiscoverJob, HostKey, Job, Millis, Page, PageId, PageState, QueueName, Rejection, Screened, Timestamp,
};
use curlew_people::audit_log::AuditLog;
use curlew_people::messages::{About, Message};
use curlew_people::sessions::Sessions;
use curlew_policy::address;
use curlew_web::{PageSettings, ThroughProxy, login_token};

/// Paths below `/admin` of all pages that need no host.
pub(crate) const PAGES: &str =
    " /sources /holds /screening /overrides /dead /messages /owners /watches /settings /audit";

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

async fn try_token(world: &World, token: &str) -> Answer {
    world.post("/admin/login", &[("token", token)]).await
}

/// An operator who is signed in.
pub(crate) struct Session<'w> {
    world: &'w World,
    /// The `Cookie` field of the session.
    cookie: String,
}

impl<'w> Session<'w> {
    pub(crate) async fn of(world: &'w World, name: &str, random: u8) -> Session<'w> {
        let answer = try_token(world, &token(world, name, random)).await;
        assert_eq!((answer.status, answer.header("location")), (StatusCode::SEE_OTHER, "/admin"));
        Session { world, cookie: answer.header("set-cookie").split(';').next().unwrap().to_owned() }
    }

    pub(crate) async fn open(&self, path: &str) -> Answer {
        self.world.get_with(path, &[("cookie", &self.cookie)]).await
    }

    async fn post(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let mut request = form(path, fields);
        request.headers_mut().insert("cookie", self.cookie.parse().unwrap());
        self.world.send(request).await
    }

    /// Sends a page's form for an action on a subject, with additional fields.
    pub(crate) async fn act(&self, page: &Answer, act: &str, about: &str, more: &[(&str, &str)]) -> Answer {
        let fields = fields(page, act, about);
        let fields: Vec<(&str, &str)> = fields.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        self.post("/admin/do", &[&fields[..], more].concat()).await
    }

    /// Opens a page and sends its form for an action, with additional fields.
    pub(crate) async fn act_on(&self, path: &str, act: &str, more: &[(&str, &str)]) -> Answer {
        self.act(&self.open(path).await, act, "", more).await
    }
}

/// Returns the hidden fields of a page's form for an action, and for this subject unless it is empty.
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

pub(crate) fn is_blocked(world: &World, host: &str) -> bool {
    let key = HostKey::new(host).unwrap();
    ready(world.ports.ledger.load(&key)).unwrap().0.is_blocked(host)
}

#[tokio::test]
async fn whoever_is_not_signed_in_gets_the_sign_in_page_and_nothing_else() {
    let world = operators_world();
    let mut bodies = vec![];
    let paths = PAGES.split(' ').map(|path| format!("/admin{path}"));
    for path in paths.chain(["/admin/", "/admin/do", "/admin/nowhere", "/admin/site/example.org"].map(str::to_owned)) {
        for method in [Method::GET, Method::POST, Method::PUT, Method::DELETE] {
            let answer = world.send(request(method.clone(), &path, &[("remote-user", "ana")])).await;
            assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{method} {path}");
            assert!(answer.header("www-authenticate").starts_with("Cookie "));
            assert_eq!(answer.header("cache-control"), "no-store");
            bodies.push(answer.body);
        }
    }
    bodies.dedup();
    assert_eq!(bodies.len(), 1, "all answers must be the same");
    let without = World::of(Backend::default());
    assert_eq!(without.get("/admin").await.status, StatusCode::NOT_FOUND, "off by default");
}

#[tokio::test]
async fn the_cookie_is_kept_from_scripts_other_sites_and_other_hosts() {
    let world = World::of(Backend::default()).with_operators(settings(), None);
    let mut value = String::new();
    for (world, name, scope) in
        [(&operators_world(), "curlew-operator", "Path=/admin"), (&world, "__Host-curlew-operator", "Path=/; Secure")]
    {
        let answer = try_token(world, &token(world, "ana", 1)).await;
        let cookie = answer.header("set-cookie");
        value = cookie.split(['=', ';']).nth(1).unwrap().to_owned();
        assert_eq!(cookie, format!("{name}={value}; {scope}; HttpOnly; SameSite=Strict; Max-Age=43200"));
    }
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
    let idle = Session::of(&world, "ana", 1).await;
    world.clock.advance(Millis::from_mins(119));
    assert_eq!(idle.open("/admin").await.text(".who span"), "ana");
    world.clock.advance(Millis::from_mins(119));
    assert_eq!(idle.open("/admin").await.status, StatusCode::OK, "the session was used in between");
    world.clock.advance(Millis::from_hours(2));
    assert_eq!(idle.open("/admin").await.status, StatusCode::UNAUTHORIZED);

    let long = Session::of(&world, "ana", 2).await;
    for _ in 0..11 {
        world.clock.advance(Millis::from_hours(1));
        assert_eq!(long.open("/admin").await.status, StatusCode::OK);
    }
    world.clock.advance(Millis::from_hours(1));
    assert_eq!(long.open("/admin").await.status, StatusCode::UNAUTHORIZED);

    let (out, other) = (Session::of(&world, "ana", 3).await, Session::of(&world, "bo", 4).await);
    let answer = out.act_on("/admin", "sign_out", &[]).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER);
    let cookie = answer.header("set-cookie");
    assert!(cookie.contains("curlew-operator=;") && cookie.contains("Max-Age=0"), "{cookie}");
    assert_eq!(out.open("/admin").await.status, StatusCode::UNAUTHORIZED);
    assert_eq!(other.open("/admin").await.status, StatusCode::OK);
    assert_eq!(ready(sessions(&world).end_all()).unwrap(), 1);
    assert_eq!(other.open("/admin").await.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn made_up_secrets_reach_no_store_and_are_soon_refused() {
    let world = World::of(Backend { broken: Some(false), ..Backend::default() }).with_operators(over_http(), None);
    let genuine = login_token(&settings().secret, &[1; 32]);
    let forged = login_token(&[1; 32], &[1; 32]);
    for cookie in ["", "x", forged.as_str(), genuine.as_str(), &"é".repeat(48), &"0".repeat(10_000)] {
        let mut request = request(Method::GET, "/admin", &[]);
        let cookie = format!("curlew-operator={cookie}");
        request.headers_mut().insert("cookie", HeaderValue::from_bytes(cookie.as_bytes()).unwrap());
        let answer = world.send(request).await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{cookie}");
    }
    for made_up in ["", "x", forged.as_str(), &genuine[1..], &genuine.replace('0', "1")] {
        assert_eq!(try_token(&world, made_up).await.status, StatusCode::UNAUTHORIZED, "{made_up}");
    }
    let reached = try_token(&world, &genuine).await.status;
    assert_eq!(reached, StatusCode::INTERNAL_SERVER_ERROR, "only a genuine token is looked up in the store");
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
    fn sent<'t>(act: &'t str, token: &'t str) -> [(&'t str, &'t str); 3] {
        [("act", act), ("about", "example.org"), ("token", token)]
    }
    let world = operators_world();
    let (ana, bo) = (Session::of(&world, "ana", 1).await, Session::of(&world, "bo", 2).await);
    let page = ana.open("/admin/holds").await;
    let block = fields(&page, "block", "");
    let token = block.iter().find(|(name, _)| name == "token").unwrap().1.clone();
    for (fields, session) in [
        (sent("block", &token), &bo),
        (sent("unblock", &token), &ana),
        (sent("block", ""), &ana),
        (sent("block", "1.1.zz"), &ana),
    ] {
        assert_eq!(session.post("/admin/do", &fields).await.status, StatusCode::FORBIDDEN);
    }
    for (name, value) in [("sec-fetch-site", "cross-site"), ("origin", "https://evil.example"), ("origin", "null")] {
        let mut request = form("/admin/do", &sent("block", &token));
        request.headers_mut().remove("sec-fetch-site");
        for (name, value) in [("host", "127.0.0.1:8080"), ("cookie", &ana.cookie), (name, value)] {
            request.headers_mut().insert(name, value.parse().unwrap());
        }
        assert_eq!(world.send(request).await.status, StatusCode::FORBIDDEN, "{name}: {value}");
    }
    assert!(!is_blocked(&world, "example.org"));
    let done = ana.post("/admin/do", &sent("block", &token)).await;
    assert_eq!((done.status, done.text("h1").as_str()), (StatusCode::OK, "Blocked"));
    assert!(is_blocked(&world, "example.org"));
    world.clock.advance(Millis::from_secs(1));
    // The same form is sent again, by a reload or as a replay.
    let undone = ana.act(&done, "unblock", "example.org", &[]).await;
    assert_eq!(undone.text("h1"), "Block lifted");
    let again = ana.post("/admin/do", &sent("block", &token)).await;
    assert_eq!(again.status, StatusCode::CONFLICT);
    assert!(again.text(".notice").contains("sent before"), "{}", again.body);
    assert!(!is_blocked(&world, "example.org"));
    assert_eq!(log(&world), ["unblock example.org by ana", "block example.org by ana"]);
}

#[tokio::test]
async fn a_form_of_an_hour_ago_or_of_an_earlier_process_is_not_taken() {
    let world = operators_world();
    let Session { cookie, .. } = Session::of(&world, "ana", 1).await;
    let page = world.get_with("/admin/holds", &[("cookie", &cookie)]).await;
    world.clock.advance(Millis::from_secs(1));
    // A restarted process does not know which forms were sent already.
    let world = world.with_operators(over_http(), None);
    let ana = Session { world: &world, cookie };
    let stale = ana.act(&page, "block", "", &[("about", "example.org")]).await;
    assert_eq!(stale.status, StatusCode::BAD_REQUEST);
    let page = ana.open("/admin/holds").await;
    world.clock.advance(Millis::from_mins(61));
    let old = ana.act(&page, "block", "", &[("about", "example.org")]).await;
    assert_eq!(old.status, StatusCode::BAD_REQUEST);
    assert!(old.text(".notice").contains("too old"));
    assert!(!is_blocked(&world, "example.org"));
}

#[tokio::test]
async fn a_header_names_the_operator_only_if_a_trusted_proxy_wrote_it_once() {
    let world = World::of(Backend::default()).with_operators(over_http(), Some("Remote-User"));
    let ask = async |world: &World, names: &[&str], through: Option<bool>| {
        let headers: Vec<(&str, &str)> = names.iter().map(|name| ("remote-user", *name)).collect();
        let mut request = request(Method::GET, "/admin/holds", &headers);
        through.map(|through| request.extensions_mut().insert(ThroughProxy(through)));
        world.send(request).await
    };
    let page = ask(&world, &["ana"], Some(true)).await;
    assert_eq!((page.status, page.text(".who span").as_str()), (StatusCode::OK, "ana"));
    assert!(!page.body.contains("sign_out"), "the proxy has signed the operator in");
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
        let mut request = form("/admin/do", &all);
        request.headers_mut().insert("remote-user", name.parse().unwrap());
        request.extensions_mut().insert(ThroughProxy(true));
        assert_eq!(world.send(request).await.status == StatusCode::OK, taken, "{name}");
    }
    assert_eq!(log(&world), ["block example.org by ana"]);
}

/// Returns a world with content on each page: hostile texts, a dead job, a rejected page, a message.
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
    assert!(!serde_json::to_string(&row).unwrap().contains("picture"), "the row must not keep the picture");
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
    assert!(audit.contains("by ana") && !audit.contains("by bo"), "a no-op is not logged: {audit}");
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
    assert!(!listed.body.contains(&key), "the key is shown once");
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
