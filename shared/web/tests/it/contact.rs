//! The form for messages to the operator, as people and bots use it.

use crate::support::{Answer, Backend, World};
use axum::http::StatusCode;
use curlew_people::messages::{About, MESSAGES_A_DAY, Message};

async fn write(world: &World, fields: &[(&str, &str)]) -> Answer {
    world.fill_in("/contact", fields).await
}

#[tokio::test]
async fn a_message_is_handed_on_as_it_was_written() {
    let world = World::of(Backend::default());
    let [address, text, reply_to] = ["https://example.org/x", "That is mine.\r\nThank you", "me@example.org"];
    let fields = [("about", "abuse"), ("address", address), ("text", text), ("reply_to", reply_to)];
    let answer = write(&world, &fields).await;
    assert_eq!((answer.status, answer.text(".good")), (StatusCode::OK, "Thank you. The operator will read it.".into()));
    let [address, text, reply_to] = [address, text, reply_to].map(str::to_owned);
    assert_eq!(world.told(), [Message { about: About::Abuse, address, text, reply_to }]);
    assert_eq!(answer.text("textarea"), "", "the form is ready for another message");
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
    // Browsers count UTF-16 code units, and count a line break once although they send it as two characters.
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
        assert_eq!(refused.text("textarea"), words, "the text must stay in the form");
    }
}

#[tokio::test]
async fn messages_beyond_the_number_of_a_day_are_not_lost_on_their_writers() {
    let world = World::of(Backend { room: Some(1), ..Backend::default() });
    assert_eq!(write(&world, &[("text", "hello")]).await.status, StatusCode::OK);
    let full = write(&world, &[("text", "and again")]).await;
    assert_eq!((full.status, full.text("textarea")), (StatusCode::SERVICE_UNAVAILABLE, "and again".into()));
    assert_eq!(world.ports.blobs.list("messages/", None, 300).await.unwrap().len(), MESSAGES_A_DAY);
}
