//! Hubs, as they ask and tell.

use crate::support::{Answer, Shelf, World};
use axum::body::Body;
use axum::http::{Request, StatusCode};

async fn asked(world: &World, callback: &str, query: &str) -> Answer {
    world.get(&format!("/websub/{callback}?{query}")).await
}

async fn told(world: &World, callback: &str, signature: &str, body: Vec<u8>) -> StatusCode {
    let request = Request::post(format!("/websub/{callback}")).header("x-hub-signature", signature);
    world.send(request.body(Body::from(body)).unwrap()).await.status
}

#[tokio::test]
async fn f11_a_challenge_is_sent_back_as_plain_text_or_not_at_all() {
    let world = World::of(Shelf::default());
    let good = "hub.mode=subscribe&hub.topic=https%3A%2F%2Fexample.org%2Ffeed&hub.lease_seconds=864000";
    let answer = asked(&world, "ours", &format!("{good}&hub.challenge=%3Cscript%3E")).await;
    assert_eq!((answer.status, answer.body.as_str()), (StatusCode::OK, "<script>"));
    assert!(answer.header("content-type").starts_with("text/plain"));
    let long = format!("{good}&hub.challenge={}", "a".repeat(2_000));
    for (callback, query) in [
        ("other", format!("{good}&hub.challenge=x")),
        ("ours", good.replace("feed", "else") + "&hub.challenge=x"),
        ("ours", good.to_owned()),
        ("ours", long),
        ("ours", String::new()),
    ] {
        let answer = asked(&world, callback, &query).await;
        assert_eq!((answer.status, answer.body.as_str()), (StatusCode::NOT_FOUND, ""), "{callback} {query}");
    }
    let denied = asked(&world, "ours", &good.replace("mode=subscribe", "mode=denied")).await;
    assert_eq!((denied.status, denied.body.as_str()), (StatusCode::OK, ""));
}

#[tokio::test]
async fn f12_f13_deliveries_are_capped_and_an_unknown_callback_is_gone() {
    let world = World::of(Shelf::default());
    assert_eq!(told(&world, "ours", "sha256=00", b"news".to_vec()).await, StatusCode::ACCEPTED);
    assert_eq!(told(&world, "other", "sha256=00", b"news".to_vec()).await, StatusCode::GONE);
    assert_eq!(told(&world, "ours", "sha256=00", vec![b'a'; (1 << 20) + 1]).await, StatusCode::PAYLOAD_TOO_LARGE);
    let delivered = world.shelf.delivered.lock().unwrap().clone();
    assert_eq!(delivered[0], ("ours".into(), Some("sha256=00".into()), 4));
    assert_eq!(delivered.len(), 2, "what is too long is not handed on");
    let broken = World::of(Shelf { broken: Some(true), ..Shelf::default() });
    assert_eq!(told(&broken, "ours", "sha256=00", vec![]).await, StatusCode::SERVICE_UNAVAILABLE, "it comes again");
    let mut last = StatusCode::OK;
    for _ in 0..700 {
        last = told(&world, "ours", "sha256=00", vec![]).await;
    }
    assert_eq!(last, StatusCode::TOO_MANY_REQUESTS);
}
