//! Readers that subscribe to our search feeds.

use crate::support::{Answer, Backend, World};
use axum::body::Body;
use axum::http::{Request, StatusCode};

const TOPIC: &str = "https%3A%2F%2Fsearch.example%2Ffeed%2Frss%3Fq%3Dmud%2Bflats";
const READER: &str = "https%3A%2F%2Freader.example%2Fcallback";

async fn ask(world: &World, form: impl Into<Body>) -> Answer {
    world.send(Request::post("/hub").body(form.into()).unwrap()).await
}

fn form(mode: &str, topic: &str, callback: &str) -> String {
    format!("hub.mode={mode}&hub.topic={topic}&hub.callback={callback}&hub.secret=x&hub.lease_seconds=86400")
}

#[tokio::test]
async fn a_reader_subscribes_to_a_feed_of_ours_and_nothing_is_called_for_it() {
    let world = World::of(Backend::default());
    let answer = ask(&world, form("subscribe", TOPIC, READER)).await;
    assert_eq!((answer.status, answer.body.as_str()), (StatusCode::ACCEPTED, ""));
    assert_eq!(world.receivers(), ["https://reader.example/callback"]);
    assert_eq!(ask(&world, form("unsubscribe", TOPIC, READER)).await.status, StatusCode::ACCEPTED);
}

#[tokio::test]
async fn a_wrong_request_is_refused_with_the_reason() {
    let world = World::of(Backend::default());
    for (form, says) in [
        (form("publish", TOPIC, READER), "hub.mode"),
        (form("subscribe", "https%3A%2F%2Fexample.org%2Ffeed", READER), "hub.topic"),
        (form("subscribe", TOPIC, "ftp%3A%2F%2Freader.example%2F"), "cannot be called"),
        (form("subscribe", &TOPIC.replace("mud%2Bflats", "%25E2%2580%25A6"), READER), "hub.topic"),
        (
            form("subscribe", TOPIC, READER).replace("hub.secret=x", &format!("hub.secret={}", "x".repeat(200))),
            "hub.secret",
        ),
        (String::new(), "hub.topic"),
    ] {
        let answer = ask(&world, form.clone()).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{form}: {}", answer.body);
        assert!(answer.body.contains(says), "{form}: {}", answer.body);
    }
    assert_eq!(ask(&world, "x".repeat(20_000)).await.status, StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(world.get("/hub").await.status, StatusCode::METHOD_NOT_ALLOWED);
}

#[tokio::test]
async fn a_host_is_called_for_few_subscriptions_and_an_address_may_send_as_many_requests_as_forms() {
    let world = World::of(Backend::default());
    let mut taken = 0;
    for n in 0..12 {
        let reader = format!("{READER}%2F{n}");
        taken += u32::from(ask(&world, form("subscribe", TOPIC, &reader)).await.status == StatusCode::ACCEPTED);
    }
    assert_eq!((taken, world.receivers().len()), (5, 5));
    // Names below one domain, and addresses without a name, are no other hosts.
    for reader in [|n| format!("https%3A%2F%2Fa{n}.evil.example%2F"), |n| format!("https%3A%2F%2F[2001:db8::{n}]%2F")] {
        let world = World::of(Backend::default());
        for n in 0..8 {
            ask(&world, form("subscribe", TOPIC, &reader(n))).await;
        }
        assert_eq!(world.receivers().len(), 5, "{}", reader(0));
    }
    let world = World::of(Backend::default());
    let mut statuses = vec![];
    for n in 0..11 {
        let reader = format!("https%3A%2F%2Freader{n}.example%2F");
        statuses.push(ask(&world, form("subscribe", TOPIC, &reader)).await.status);
    }
    assert!(statuses[..10].iter().all(|status| *status == StatusCode::ACCEPTED), "{statuses:?}");
    assert_eq!(statuses[10], StatusCode::TOO_MANY_REQUESTS);
}
