//! The pages for the owners of sites.

use crate::support::{Answer, Backend, World, form, from, ready};
use axum::http::{HeaderValue, StatusCode};
use curlew_model::{
    BackfillLine, BackfillState, Challenge, Claim, FeedLine, Hold, HoldReason, HostKey, HostReport, HostState, Millis,
    Miss, OwnerRequest, Ownership, PageLine, ReportedState, Substitutes, Timestamp, Validators, Way,
};
use curlew_policy::address;
use curlew_ports::{Clock, RobotsCopy, Version};
use std::collections::BTreeMap;

async fn begin(world: &World, host: &str) -> Answer {
    world.fill_in("/owner", &[("host", host)]).await
}

async fn claim(world: &World) -> String {
    let answer = begin(world, "https://Example.org/").await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.body);
    answer.header("location").to_owned()
}

async fn request(world: &World, path: &str, request: &str) -> Answer {
    world.post(path, &[("request", request), ("sure", "yes")]).await
}

/// Returns the challenge that the claim's page asks the owner to publish.
async fn challenge(world: &World, path: &str) -> Challenge {
    Challenge::new(&world.get(path).await.text("#challenge")).unwrap()
}

fn found(world: &World, challenge: &Challenge, change: impl FnOnce(&mut Claim)) {
    let mut claim = Claim {
        challenge: challenge.clone(),
        asked: BTreeMap::new(),
        unsent: Default::default(),
        done: BTreeMap::new(),
        misses: vec![],
        proof: Some((Way::Dns, world.clock.now())),
    };
    change(&mut claim);
    let (host, now) = ("example.org".to_owned(), world.clock.now());
    world.own(&Ownership { host, claims: vec![claim], report: Some(report(now)), ..Ownership::default() });
    let held = Hold { until: now + Millis::from_days(3), reason: HoldReason::TooManyRequests, since: now };
    let substitutes = Substitutes { since: Some(now), vendor: "Anubis".into(), ..Substitutes::default() };
    let state = HostState { hold: Some(held), substitutes, ..HostState::default() };
    ready(world.ports.ledger.swap(&HostKey::new("example.org").unwrap(), Version::ABSENT, state)).unwrap();
    let copy = RobotsCopy {
        standing: "rules".into(),
        body: "User-agent: *\nDisallow: /<private>\0".into(),
        body_at: now,
        fetched_at: now,
        fresh_until: now + Millis::from_days(1),
        validators: Validators::default(),
    };
    ready(world.ports.robots.put(&address::origin(&"https://example.org/".parse().unwrap()).unwrap(), &copy)).unwrap();
}

fn report(now: Timestamp) -> HostReport {
    let page = |url: &str, state, reason: Option<&str>| PageLine {
        url: url.into(),
        state,
        reason: reason.map(str::to_owned),
        at: now,
        checked_at: Some(now),
    };
    let history = BackfillLine {
        url: "https://example.org/feed".into(),
        state: BackfillState::Running,
        documents: 9,
        found: 2_000,
        sent: 1_500,
        days: Some(3),
        is_least: true,
        due: now,
        note: None,
    };
    HostReport {
        at: now,
        history: vec![history],
        feeds: vec![FeedLine { url: "https://example.org/feed".into(), polled_at: None, next: Some(now) }],
        counts: BTreeMap::from([(ReportedState::Accepted, 1_234), (ReportedState::Pending, 5)]),
        pages: vec![
            page("https://example.org/<a>", ReportedState::Accepted, None),
            page("javascript:x", ReportedState::Rejected, Some("no_image")),
        ],
    }
}

#[tokio::test]
async fn i05_a_claim_begins_with_what_is_to_be_published() {
    let world = World::of(Backend::default());
    let path = claim(&world).await;
    assert!(path.starts_with("/owner/example.org/"), "{path}");
    let page = world.get(&path).await;
    assert_eq!(page.status, StatusCode::OK);
    let challenge = page.text("#challenge");
    for part in ["_curlew-challenge.example.org", "https://example.org/.well-known/curlew-challenge.txt"] {
        assert!(page.all("dd code").iter().any(|code| code == part), "{part}");
    }
    let tag = format!("<meta name=\"curlew-challenge\" content=\"{challenge}\">");
    assert!(page.all("dd code").contains(&tag));
    assert_eq!(page.attributes("input[name=request]", "value"), ["look"], "only the check is offered yet");
    assert_eq!(page.header("referrer-policy"), "same-origin", "the URL is a secret");
    assert_eq!(
        (page.header("cache-control"), page.attributes("meta[name=robots]", "content")),
        ("no-store", vec!["noindex".to_owned()])
    );
    assert!(world.requests().is_empty(), "no check may start before it is requested");
}

#[tokio::test]
async fn i05_w06_nobody_uses_up_the_looks_of_others() {
    let world = World::of(Backend::default());
    let path = claim(&world).await;
    let look = async |ip: [u8; 4]| world.send(from(ip, form(&path, &[("request", "look")]))).await;
    let mut granted = 0;
    for _ in 0..8 {
        let answer = look([192, 0, 2, 1]).await;
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.text(".bad"));
        granted += usize::from(!answer.text(".good").contains("TXT record is looked up"));
        world.clock.advance(Millis::from_mins(10));
    }
    assert_eq!(granted, 6, "half of what the site is called for in a day");
    assert_eq!(world.requests().len(), 8, "the DNS may be queried more often");
    assert!(!look([192, 0, 2, 2]).await.text(".good").contains("TXT record is looked up"));
    // One address has a daily number of checks, however many are left in total.
    let mut looks = 8;
    for _ in 0..40 {
        world.clock.advance(Millis::from_mins(1));
        looks += usize::from(look([192, 0, 2, 1]).await.status == StatusCode::OK);
    }
    assert!((30..=32).contains(&looks), "{looks}: some of the allowance came back in two hours");
    world.clock.advance(Millis::from_mins(11));
    assert_eq!(look([198, 51, 100, 8]).await.status, StatusCode::OK);
    for n in 0..60 {
        look([203, 0, 113, n]).await;
    }
    world.clock.advance(Millis::from_secs(1));
    let flooded = look([198, 51, 100, 7]).await;
    assert_eq!(flooded.status, StatusCode::TOO_MANY_REQUESTS, "each check may query somebody's name server");
    world.clock.advance(Millis::from_mins(11));
    assert_eq!(look([198, 51, 100, 7]).await.status, StatusCode::OK, "others wait for a minute at most");
}

#[tokio::test]
async fn i08_two_claims_have_two_challenges_and_a_key_opens_its_own_page_only() {
    let world = World::of(Backend::default());
    let (one, two) = (claim(&world).await, claim(&world).await);
    assert_ne!(challenge(&world, &one).await, challenge(&world, &two).await);
    for bad in [
        one.replace("example.org", "other.example"),
        format!("{one}0"),
        one[..one.len() - 1].to_owned(),
        one.replace("/owner/example.org/", "/owner/example.org%2f/"),
        format!("/owner/{}/{}", "a".repeat(9_000), one.rsplit('/').next().unwrap()),
        "/owner/example.org/".into(),
        "/owner/example.org/1.1.1".into(),
    ] {
        let answer = world.get(&bad).await;
        assert!(answer.status.is_client_error(), "{bad}: {}", answer.status);
        assert!(request(&world, &bad, "block").await.status.is_client_error(), "{bad}");
    }
    world.clock.advance(Millis::from_days(91));
    assert_eq!(world.get(&one).await.status, StatusCode::NOT_FOUND, "a secret URL expires");
    assert!(world.requests().is_empty());
}

#[tokio::test]
async fn i06_w06_without_a_proof_the_page_tells_nothing_and_grants_nothing() {
    let world = World::of(Backend::default());
    let path = claim(&world).await;
    let challenge = challenge(&world, &path).await;
    found(&world, &challenge, |claim| {
        claim.proof = None;
        claim.misses = vec![(Way::Dns, Miss::Absent), (Way::File, Miss::Robots)];
    });
    let page = world.get(&path).await;
    assert_eq!(
        page.all("main li"),
        ["a TXT record: there is nothing", "the file: robots.txt blocks us, so it was not checked"]
    );
    assert!(!page.body.contains("/feed") && page.attributes("input[name=request]", "value") == ["look"]);
    for asked in ["block", "forget", "visit", "report", "unblock"] {
        assert_eq!(request(&world, &path, asked).await.status, StatusCode::FORBIDDEN, "{asked}");
    }
    assert_eq!(request(&world, &path, "look").await.status, StatusCode::OK);
}

#[tokio::test]
async fn i05_an_owner_sees_all_and_asks_for_what_is_offered() {
    let world = World::of(Backend::default());
    let path = claim(&world).await;
    let ours = challenge(&world, &path).await;
    found(&world, &ours, |claim| {
        claim.asked.insert(OwnerRequest::Visit, Timestamp::from_millis(5));
    });
    let page = world.get(&path).await;
    assert!(page.text(".good").starts_with("The site is yours, as proved by a TXT record."), "{}", page.text(".good"));
    assert!(page.all(".notice").iter().any(|notice| notice.contains("queueing visits")));
    let text = page.text("main");
    let parts = "1,234 | too many requests | (Anubis). Its pages wait | Disallow: /<private> | \
         https://example.org/<a> | can be found since | rejected (no image) | in progress | \
         1,500 pages so far, at least 3 more days | may be read, a little each day";
    for part in parts.split(" | ") {
        assert!(text.contains(part), "{part}: {text}");
    }
    let feed = "https://example.org/feed";
    assert_eq!(page.attributes("main li a", "href"), [feed, feed, "https://example.org/%3Ca%3E"]);
    for (asked, requested) in [
        ("block", OwnerRequest::Block),
        ("visit", OwnerRequest::Visit),
        ("report", OwnerRequest::Report),
        ("forget", OwnerRequest::Forget),
        ("history_off", OwnerRequest::HistoryOff),
    ] {
        let answer = request(&world, &path, asked).await;
        assert_eq!(answer.status, StatusCode::OK, "{asked}: {}", answer.text(".bad"));
        let is_asked = world.requests().contains(&("example.org".into(), ours.clone(), requested));
        let is_done_at_once = matches!(requested, OwnerRequest::Block | OwnerRequest::HistoryOff);
        assert_eq!(is_asked, !is_done_at_once, "{asked}");
    }
    // A single click by mistake does not remove everything.
    let slip = world.post(&path, &[("request", "forget")]).await;
    assert_eq!(slip.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(request(&world, &path, "nonsense").await.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(world.requests().len(), 3);
    let page = world.get(&path).await;
    assert!(page.text("main").contains("are left out"));
    assert!(page.attributes("input[name=request]", "value").contains(&"history_on".to_owned()));
    let italian = world.get_in("it", &path).await;
    assert!(italian.text(".good").starts_with("Il sito è tuo"), "{}", italian.text(".good"));
}

#[tokio::test]
async fn w09_a_request_is_taken_from_our_own_page_only() {
    let world = World::of(Backend::default());
    let path = claim(&world).await;
    for site in ["cross-site", "same-site"] {
        let mut request = form(&path, &[("request", "look")]);
        request.headers_mut().insert("sec-fetch-site", HeaderValue::from_static(site));
        assert_eq!(world.send(request).await.status, StatusCode::FORBIDDEN, "{site}");
    }
    assert!(world.requests().is_empty());
}

#[tokio::test]
async fn what_cannot_be_claimed_is_said() {
    let world = World::of(Backend::default());
    for (typed, says) in [("", "such as example.org"), ("github.io", "different owners")] {
        let answer = begin(&world, typed).await;
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{typed}");
        assert!(answer.text(".bad").contains(says), "{}", answer.text(".bad"));
        assert_eq!(answer.attributes("#host", "value"), [typed]);
    }
    let world = World::of(Backend { broken: Some(true), ..Backend::default() });
    let path = claim(&world).await;
    assert_eq!(world.get(&path).await.status, StatusCode::SERVICE_UNAVAILABLE);
}
