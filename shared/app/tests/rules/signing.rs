//! Signed requests: sent where a host asked, everywhere, or nowhere, and the effect of a refusal in each case.

use crate::test_world::*;
use curlew_crawl::politeness::signing::{DIRECTORY, KeySource, SignatureMode, Signer, directory};
use curlew_signature::keys::KeyRing;
use std::sync::Mutex;

const ASKED: &str = r#"sig1=("@authority" "signature-agent");tag="web-bot-auth""#;

/// A source of keys that a test sets.
#[derive(Default)]
struct TestKeys(Mutex<Option<KeyRing>>);

#[async_trait]
impl KeySource for TestKeys {
    async fn load(&self) -> Result<Option<KeyRing>, PortError> {
        Ok(self.0.lock().unwrap().clone())
    }
}

fn signer(mode: SignatureMode, ring: Option<KeyRing>) -> Arc<Signer> {
    let agent = Url::parse("https://search.example").unwrap();
    Arc::new(Signer { mode, agent, keys: Arc::new(TestKeys(Mutex::new(ring))), known: Arc::default() })
}

fn ring() -> KeyRing {
    KeyRing::new(&[5; 32], Timestamp::EPOCH)
}

fn signing(mode: SignatureMode) -> TestWorld {
    let mut world = TestWorld::new();
    let signer = Some(signer(mode, Some(ring())));
    world.politeness = Arc::new(Politeness { signer, ..Politeness::clone(&world.politeness) });
    world
}

fn asking(code: u16) -> Reply {
    let mut reply = status(code);
    reply.headers.accept_signature = Some(ASKED.to_owned());
    reply
}

fn page() -> Reply {
    html_reply(html(""))
}

/// Returns the called pages, each with true if the call was signed.
fn called(world: &TestWorld) -> Vec<(String, bool)> {
    world.calls(CallKind::Page).into_iter().map(|Call { url, signature, .. }| (url, signature.is_some())).collect()
}

fn pages(expected: &[(&str, bool)]) -> Vec<(String, bool)> {
    expected.iter().map(|(url, signed)| ((*url).to_owned(), *signed)).collect()
}

#[tokio::test(start_paused = true)]
async fn i01_a_host_that_asks_is_called_again_signed_after_the_pause_and_always_from_then_on() {
    for code in [401, 403] {
        let world = signing(SignatureMode::Asked);
        world.web.answer(A, Ok(asking(code)));
        world.web.answer(A, Ok(page()));
        world.web.answer(B, Ok(page()));
        let began = world.now();
        world.visit(&[A, B]).await;
        assert_eq!(called(&world), pages(&[(A, false), (A, true), (B, true)]), "{code}");
        assert!(world.now().since(began) >= Millis::from_secs(2), "each call must follow its pause");
        let known = world.host_state("example.org").await;
        assert!(known.signs && known.hold.is_none() && known.url_holds.is_empty(), "{known:?}");
        // Another process knows it from the ledger.
        let other = TestWorld::sharing(&world);
        other.web.answer(C, Ok(page()));
        other.fetch(&visit("example.org", &[C], &new())).await;
        assert_eq!(called(&other).last(), Some(&(C.to_owned(), true)));
    }
}

#[tokio::test(start_paused = true)]
async fn i01_a_signed_call_that_is_refused_is_a_refusal_and_never_signed_twice() {
    let world = signing(SignatureMode::Asked);
    world.web.answer(A, Ok(asking(403)));
    world.visit(&[A, B]).await;
    assert_eq!(called(&world), pages(&[(A, false), (A, true)]), "the visit must end");
    let known = world.host_state("example.org").await;
    assert_eq!(known.url_holds.iter().map(|held| held.what).collect::<Vec<_>>(), [HoldReason::Forbidden]);
    world.sleep(Millis::from_hours(2)).await;
    world.web.answer(B, Ok(asking(403)));
    world.visit(&[B]).await;
    assert_eq!(called(&world)[2..], pages(&[(B, true)])[..], "one signed call");
    assert_eq!(world.host_state("example.org").await.hold.map(|hold| hold.reason), Some(HoldReason::Forbidden));
}

#[tokio::test(start_paused = true)]
async fn i01_a_signed_call_that_is_answered_by_a_wall_holds_the_host_and_the_page_waits() {
    let world = signing(SignatureMode::Asked);
    let marked = || {
        let mut reply = asking(403);
        reply.headers.lines = vec![("cf-mitigated".to_owned(), "challenge".to_owned())];
        reply
    };
    world.web.answer(A, Ok(marked()));
    world.web.answer(A, Ok(marked()));
    world.visit(&[A, B]).await;
    assert_eq!(called(&world), pages(&[(A, false), (A, true)]), "one signed call, and then no more");
    let known = world.host_state("example.org").await;
    let hold = known.hold.clone().unwrap();
    assert_eq!((hold.reason, known.signs), (HoldReason::Interstitial, true), "{known:?}");
    let waiting = world.queued(QueueName::Fetch).await;
    let [(job, due)] = &waiting[..] else { panic!("{waiting:?}") };
    assert_eq!((visited(job).len(), job.deferrals, *due), (2, 0, hold.until));
    // By now the wall lets signed calls through.
    world.sleep(hold.until.since(world.now()) + Millis(1)).await;
    world.web.keep(A, page());
    world.web.keep(B, page());
    world.fetch(job).await;
    assert_eq!(called(&world)[2..], pages(&[(A, true), (B, true)])[..]);
    assert_eq!(world.host_state("example.org").await.hold, None);
    assert_eq!(world.state(B).await, Some(PageState::Pending));
}

#[tokio::test(start_paused = true)]
async fn i01_a_429_or_a_wait_holds_whatever_it_asks_and_the_host_is_signed_for_later() {
    let world = signing(SignatureMode::Asked);
    world.web.answer(A, Ok(asking(429)));
    world.web.answer(A, Ok(page()));
    world.visit(&[A]).await;
    assert_eq!(called(&world), pages(&[(A, false)]));
    let hold = world.host_state("example.org").await.hold.unwrap();
    assert_eq!(hold.reason, HoldReason::TooManyRequests);
    world.sleep(hold.until.since(world.now()) + Millis(1)).await;
    world.visit(&[A]).await;
    assert_eq!(called(&world), pages(&[(A, false), (A, true)]));
}

#[tokio::test(start_paused = true)]
async fn i01_what_cannot_be_signed_is_a_refusal_as_ever() {
    let hostile = |asked: &str| {
        let mut reply = status(403);
        reply.headers.accept_signature = Some(asked.to_owned());
        reply
    };
    let without_key = TestWorld::new();
    let politeness = Politeness::clone(&without_key.politeness);
    let signer = Some(signer(SignatureMode::Asked, None));
    let without_key = TestWorld { politeness: Arc::new(Politeness { signer, ..politeness }), ..without_key };
    let other_tag = hostile(r#"sig1=("@authority");tag="app""#);
    let other_part = hostile(r#"sig1=("content-digest");tag="web-bot-auth""#);
    for (world, answer) in [
        (TestWorld::new(), asking(403)),
        (without_key, asking(403)),
        (signing(SignatureMode::Asked), other_tag),
        (signing(SignatureMode::Asked), other_part),
        (signing(SignatureMode::Asked), hostile("((((")),
    ] {
        world.web.answer(A, Ok(answer));
        world.visit(&[A]).await;
        assert_eq!(called(&world), pages(&[(A, false)]));
        let known = world.host_state("example.org").await;
        assert!(!known.signs && known.url_holds.len() == 1, "{known:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn i01_each_hop_is_signed_for_its_own_host_where_all_requests_are() {
    let world = signing(SignatureMode::Always);
    world.web.answer(A, moved(302, "https://other.example:8443/b"));
    world.web.answer("https://other.example:8443/b", Ok(page()));
    world.visit(&[A]).await;
    let calls = world.web.calls();
    assert!(calls.len() == 4 && calls.iter().all(|call| call.signature.is_some()), "also robots.txt: {calls:?}");
    let mut inputs: Vec<_> = calls.iter().filter_map(|call| call.signature.as_ref()).map(|s| s.input.clone()).collect();
    assert!(calls[0].signature.as_ref().unwrap().agent.ends_with("\"https://search.example\""));
    inputs.sort();
    inputs.dedup();
    assert_eq!(inputs.len(), 4, "each call must have its own nonce");
    assert!(!world.host_state("example.org").await.signs, "no host has asked");
}

#[tokio::test(start_paused = true)]
async fn i01_the_directory_is_stored_when_it_is_stale_and_served_while_it_is_valid() {
    let world = signing(SignatureMode::Asked);
    let (blobs, now) = (world.blobs.as_ref(), world.now());
    let signer = world.politeness.signer.clone().unwrap();
    signer.publish(blobs, now, 1).await.unwrap();
    let first = directory(blobs, now).await.unwrap().unwrap();
    assert_eq!(first.authority, "search.example");
    signer.publish(blobs, now + Millis::from_hours(1), 2).await.unwrap();
    assert_eq!(directory(blobs, now).await.unwrap(), Some(first.clone()), "a fresh directory must not be replaced");
    signer.publish(blobs, now + Millis::from_days(1), 3).await.unwrap();
    let second = directory(blobs, now + Millis::from_days(7)).await.unwrap().unwrap();
    assert!(second.input != first.input && second.body == first.body, "a stale directory must be signed again");
    assert_eq!(directory(blobs, now + Millis::from_days(8)).await.unwrap(), None, "the signatures have expired");
    blobs.put(DIRECTORY, "broken".into()).await.unwrap();
    assert_eq!(directory(blobs, now).await.unwrap(), None);
    signer.publish(blobs, now + Millis::from_days(2), 4).await.unwrap();
    assert!(directory(blobs, now).await.unwrap().is_some(), "an unreadable directory must be replaced");
}
