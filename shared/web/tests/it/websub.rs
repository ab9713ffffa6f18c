//! Requests from hubs: verifications and notifications.

use crate::support::{Answer, Backend, World, body_in_pieces};
use axum::body::Body;
use axum::http::{Request, StatusCode};
use std::sync::atomic::Ordering::SeqCst;

async fn asked(world: &World, callback: &str, query: &str) -> Answer {
    world.get(&format!("/websub/{callback}?{query}")).await
}

async fn told(world: &World, callback: &str, signature: &str, body: impl Into<Body>) -> StatusCode {
    let request = Request::post(format!("/websub/{callback}")).header("x-hub-signature", signature);
    world.send(request.body(body.into()).unwrap()).await.status
}

#[tokio::test]
async fn f11_a_challenge_is_sent_back_as_plain_text_or_not_at_all() {
    let world = World::of(Backend::default());
    let good = "hub.mode=subscribe&hub.topic=https%3A%2F%2Fexample.org%2Ffeed&hub.lease_seconds=864000";
    let answer = asked(&world, world.ours(), &format!("{good}&hub.challenge=%3Cscript%3E")).await;
    assert_eq!((answer.status, answer.body.as_str()), (StatusCode::OK, "<script>"));
    assert!(answer.header("content-type").starts_with("text/plain"));
    let long = format!("{good}&hub.challenge={}", "a".repeat(2_000));
    for (callback, query) in [
        ("other", format!("{good}&hub.challenge=x")),
        (world.ours(), good.replace("feed", "else") + "&hub.challenge=x"),
        (world.ours(), good.to_owned()),
        (world.ours(), long),
        (world.ours(), String::new()),
    ] {
        let answer = asked(&world, callback, &query).await;
        assert_eq!((answer.status, answer.body.as_str()), (StatusCode::NOT_FOUND, ""), "{callback} {query}");
    }
    let denied = asked(&world, world.ours(), &good.replace("mode=subscribe", "mode=denied")).await;
    assert_eq!((denied.status, denied.body.as_str()), (StatusCode::OK, ""));
}

#[tokio::test]
async fn f12_f13_deliveries_are_capped_and_an_unknown_callback_is_gone() {
    let world = World::of(Backend::default());
    let long = "a".repeat((1 << 20) + 1);
    for (callback, signed, body, status) in [
        (world.ours(), "news", "news", StatusCode::ACCEPTED),
        // The answer must not reveal that the signature is wrong.
        (world.ours(), "other news", "news", StatusCode::ACCEPTED),
        ("other", "news", "news", StatusCode::GONE),
        (world.ours(), &long, &long, StatusCode::PAYLOAD_TOO_LARGE),
    ] {
        let signature = world.signature(signed.as_bytes());
        assert_eq!(told(&world, callback, &signature, body.to_owned()).await, status, "{callback} {signed:.20}");
    }
    assert_eq!(world.polls(), 1, "only one delivery was genuine and not too long");
    let broken = World::of(Backend { broken: Some(true), ..Backend::default() });
    let again = told(&broken, broken.ours(), &broken.signature(b""), "").await;
    assert_eq!(again, StatusCode::SERVICE_UNAVAILABLE);
    let mut last = StatusCode::OK;
    for _ in 0..700 {
        last = told(&world, world.ours(), "sha256=00", "").await;
    }
    assert_eq!(last, StatusCode::TOO_MANY_REQUESTS);
}

#[tokio::test]
async fn f12_a_body_that_nothing_would_be_believed_of_is_not_read() {
    let world = World::of(Backend::default());
    for (callback, signature, status) in [
        ("other", Some("sha256=00"), StatusCode::GONE),
        ("other", None, StatusCode::GONE),
        (world.ours(), None, StatusCode::ACCEPTED),
    ] {
        let (endless, reads) = body_in_pieces([None]);
        let mut request = Request::post(format!("/websub/{callback}"));
        if let Some(signature) = signature {
            request = request.header("x-hub-signature", signature);
        }
        assert_eq!(world.send(request.body(endless).unwrap()).await.status, status, "{callback} {signature:?}");
        assert_eq!(reads.load(SeqCst), 0, "{callback} {signature:?}");
    }
    let (pieces, _) = body_in_pieces([b"ne", b"ws"].map(|piece| Some(piece.to_vec())));
    assert_eq!(told(&world, world.ours(), &world.signature(b"news"), pieces).await, StatusCode::ACCEPTED);
    assert_eq!(world.polls(), 1, "a body in pieces is one body");
    let (unannounced, _) = body_in_pieces((0..17).map(|_| Some(vec![b'a'; 1 << 16])));
    assert_eq!(told(&world, world.ours(), &world.signature(b"long"), unannounced).await, StatusCode::PAYLOAD_TOO_LARGE);
}
