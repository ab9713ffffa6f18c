//! The form for messages to the operator, as people and others use it.

use crate::suggest::{form_to, token_of};
use crate::support::{Answer, Backend, World};
use axum::http::StatusCode;
use curlew_model::Millis;
use curlew_people::messages::{About, MESSAGES_A_DAY, Message};
use curlew_web::Caller;

async fn write(world: &World, fields: &[(&str, &str)]) -> Answer {
    let token = token_of(world).await;
    let mut all = vec![("token", token.as_str()), ("subject", "")];
    all.extend(fields);
    world.send(form_to("/contact", &all)).await
}

#[tokio::test]
async fn a_message_is_handed_on_as_it_was_written() {
    let world = World::of(Backend::default());
    let answer = write(
        &world,
        &[
            ("about", "abuse"),
            ("address", "https://example.org/x"),
            ("text", "That is mine.\r\nThank you"),
            ("reply_to", "me@example.org"),
        ],
    )
    .await;
    assert_eq!((answer.status, answer.text(".good")), (StatusCode::OK, "Thank you. The operator will read it.".into()));
    let expected = Message {
        about: About::Abuse,
        address: "https://example.org/x".into(),
        text: "That is mine.\r\nThank you".into(),
        reply_to: "me@example.org".into(),
    };
    assert_eq!(world.told(), [expected]);
    assert_eq!(answer.text("textarea"), "", "ready for another one");
}

#[tokio::test]
async fn what_is_wrong_is_said_and_nothing_that_was_written_is_lost() {
    let world = World::of(Backend::default());
    let long = "x".repeat(2_001);
    for fields in [
        [("text", ""), ("reply_to", ""), ("address", "https://example.org/<b>")],
        [("text", "Hello <b>"), ("reply_to", "nowhere"), ("address", "")],
        [("text", long.as_str()), ("reply_to", ""), ("address", "")],
    ] {
        let answer = write(&world, &fields).await;
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{fields:?}");
        assert!(!answer.text(".bad").is_empty());
        assert_eq!(answer.text("textarea"), fields[0].1);
        assert_eq!(answer.attributes("#reply_to", "value"), [fields[1].1]);
        assert_eq!(answer.attributes("#address", "value"), [fields[2].1]);
    }
    let kept = write(&world, &[("about", "removal"), ("text", "")]).await;
    assert_eq!(kept.attributes("option[selected]", "value"), ["removal"]);
    assert!(world.told().is_empty());
}

#[tokio::test]
async fn a_message_may_be_as_long_as_its_box_in_every_script() {
    let address = format!("https://example.org/{}", "ж".repeat(1_000 - "https://example.org/".len()));
    let reply_to = format!("{}@esempio.it", "è".repeat(254 - "@esempio.it".len()));
    // Browsers count in units of UTF-16, and a line break, which is sent as two characters, once.
    for (piece, units) in [("a", 1), ("я", 1), ("鳥", 1), ("🌊", 2), ("\r\n", 1), ("ж\r\n", 2)] {
        let world = World::of(Backend::default());
        let text = format!("<{}>", piece.repeat(1_998 / units));
        let fields = [("address", address.as_str()), ("reply_to", reply_to.as_str()), ("text", text.as_str())];
        let taken = write(&world, &fields).await;
        assert_eq!(taken.status, StatusCode::OK, "{piece:?}: {}", taken.text(".bad"));
        assert_eq!(world.told()[0].text, text);
        let longer = format!("<{text}>");
        let refused = write(&world, &[("text", longer.as_str())]).await;
        assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY, "{piece:?}");
        let words = longer.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(refused.text("textarea"), words, "nothing that was written is lost");
    }
}

#[tokio::test]
async fn w01_w05_a_message_needs_a_person_and_fits_into_a_form() {
    let world = World::of(Backend { room: Some(2), ..Backend::default() });
    assert_eq!(write(&world, &[("subject", "filled"), ("text", "buy")]).await.status, StatusCode::BAD_REQUEST);
    let forged = world.send(form_to("/contact", &[("token", "1.1.00"), ("text", "hello")])).await;
    assert_eq!(forged.status, StatusCode::BAD_REQUEST);
    let token = world.get("/contact").await.attributes("input[name=token]", "value").remove(0);
    let early = world.send(form_to("/contact", &[("token", &token), ("text", "hello")])).await;
    assert_eq!(
        (early.status, early.attributes("input[name=token]", "value")),
        (StatusCode::BAD_REQUEST, vec![token.clone()])
    );
    world.clock.advance(Millis::from_secs(5));
    let fields = [("token", token.as_str()), ("text", "hello")];
    assert_eq!(world.send(form_to("/contact", &fields)).await.status, StatusCode::OK);
    assert_eq!(world.send(form_to("/contact", &fields)).await.status, StatusCode::BAD_REQUEST, "once");
    let huge = world.send(form_to("/contact", &[("text", &"x".repeat(6 << 20))])).await;
    assert_eq!(huge.status, StatusCode::PAYLOAD_TOO_LARGE);
    let taken = world.ports.blobs.list("messages/", None, 300).await.unwrap().len();
    assert_eq!(taken, MESSAGES_A_DAY - 1, "one of them was taken");
    write(&world, &[("text", "again")]).await;
    let full = write(&world, &[("text", "and again")]).await;
    assert_eq!(full.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(full.text("textarea"), "and again");
}

#[tokio::test]
async fn w05_one_sender_does_not_fill_the_day() {
    let world = World::of(Backend::default());
    let mut sent = vec![];
    for n in 0..8 {
        sent.push(write(&world, &[("text", &format!("message {n}"))]).await.status);
        world.clock.advance(Millis::from_mins(10));
    }
    assert_eq!(sent.iter().filter(|status| **status == StatusCode::OK).count(), 5, "{sent:?}");
    assert_eq!(sent.last(), Some(&StatusCode::TOO_MANY_REQUESTS));
    let refused = write(&world, &[("text", "one more")]).await;
    assert_eq!((refused.status, refused.text("textarea")), (StatusCode::TOO_MANY_REQUESTS, "one more".into()));
    assert!(!refused.header("retry-after").is_empty());
    let token = token_of(&world).await;
    let mut other = form_to("/contact", &[("token", &token), ("text", "of another")]);
    other.extensions_mut().insert(Caller(Some([198, 51, 100, 7].into())));
    assert_eq!(world.send(other).await.status, StatusCode::OK, "another has a share of their own");
    world.clock.advance(Millis::from_days(1));
    assert_eq!(write(&world, &[("text", "tomorrow")]).await.status, StatusCode::OK);
}
