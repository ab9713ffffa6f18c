//! The operator's pages: who gets in, and which forms are accepted.

use crate::support::{Answer, Backend, World, form, ready, request, settings};
use axum::http::{HeaderValue, Method, StatusCode};
use curlew_model::{HostKey, Millis};
use curlew_people::audit_log::AuditLog;
use curlew_people::sessions::Sessions;
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
    pub(crate) cookie: String,
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

/// Returns the hidden fields of a page's form for an act; about this subject, unless it is empty.
pub(crate) fn fields(page: &Answer, act: &str, about: &str) -> Vec<(String, String)> {
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
