//! The form with which anybody may suggest a site.

use crate::support::{Answer, Backend, World, form, from};
use axum::http::StatusCode;
use curlew_model::Millis;

async fn suggest(world: &World, url: &str) -> Answer {
    world.fill_in("/suggest", &[("url", url), ("subject", "")]).await
}

#[tokio::test]
async fn a_suggestion_is_handed_on_and_acknowledged() {
    let world = World::of(Backend::default());
    let taken = suggest(&world, " tide.example/blog ").await;
    assert_eq!(taken.status, StatusCode::OK);
    assert_eq!(
        taken.text(".good"),
        "Thank you. https://tide.example/blog is written down. The crawler looks for its feed within a day."
    );
    assert_eq!(world.suggested(), ["https://tide.example/blog"]);
    assert_eq!(taken.attributes("#url", "value"), [""], "the form is ready for another URL");
    assert!(suggest(&world, "https://tide.example/blog").await.text(".good").contains("already known"));
}

#[tokio::test]
async fn what_cannot_be_taken_is_explained_and_stays_in_the_form() {
    let world = World::of(Backend::default());
    for bad in ["javascript:alert(1)", "mailto:me@example.org", "https://me:pw@example.org/", "\"><img src=x>"] {
        let answer = suggest(&world, bad).await;
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{bad}");
        assert_eq!(answer.attributes("#url", "value"), [bad]);
    }
    let refused = suggest(&world, "https://blocked.example/").await;
    assert_eq!(
        refused.text(".bad"),
        "'https://blocked.example/' cannot be crawled: it is excluded by the substring 'blocked'"
    );
    assert_eq!(refused.attributes("#url", "value"), ["https://blocked.example/"]);
    assert!(world.suggested().is_empty());
}

#[tokio::test]
async fn one_address_may_suggest_so_many_a_minute() {
    let world = World::of(Backend::default());
    let mut tokens = Vec::new();
    for _ in 0..11 {
        tokens.push(world.token().await);
    }
    for (n, token) in tokens.iter().enumerate() {
        let url = format!("https://site{n}.example/");
        let answer = world.post("/suggest", &[("url", &url), ("token", token)]).await;
        assert_eq!(answer.status == StatusCode::OK, n < 10, "{n}");
        if n == 10 {
            assert_eq!((answer.status, answer.header("retry-after")), (StatusCode::TOO_MANY_REQUESTS, "6"));
            assert_eq!(answer.attributes("#url", "value"), [url], "the URL must stay in the form");
        }
    }
    assert_eq!(world.suggested().len(), 10);
}

#[tokio::test]
async fn w05_one_sender_does_not_use_up_the_day_of_all() {
    for (path, field, most) in [("/suggest", "url", 20), ("/contact", "text", 5)] {
        let world = World::of(Backend::default());
        let send = async |text: &str| world.fill_in(path, &[(field, text)]).await;
        for n in 0..most + 3 {
            let answer = send(&format!("https://site{n}.example/")).await;
            assert_eq!(answer.status == StatusCode::OK, n < most, "{path} {n}");
        }
        let refused = send("https://more.example/").await;
        assert_eq!(refused.status, StatusCode::TOO_MANY_REQUESTS);
        assert!(refused.text(".bad").contains("as one sender may") && !refused.header("retry-after").is_empty());
        let kept = [refused.text("textarea"), refused.attributes("#url", "value").concat()].concat();
        assert_eq!(kept, "https://more.example/", "the URL must stay in the form");
        assert_eq!(world.suggested().len() + world.told().len(), most);
        let token = world.token().await;
        let other = form(path, &[(field, "https://other.example/"), ("token", &token)]);
        assert_eq!(world.send(from([198, 51, 100, 7], other)).await.status, StatusCode::OK, "another sender");
        world.clock.advance(Millis::from_days(1));
        assert_eq!(send("https://tomorrow.example/").await.status, StatusCode::OK, "{path}");
    }
}

#[tokio::test]
async fn what_the_box_takes_is_read_in_every_script() {
    let world = World::of(Backend::default());
    let beginning = "https://example.org/";
    for letter in ["я", "鳥", "a"] {
        let longest = format!("{beginning}{}", letter.repeat(2_048 - beginning.len()));
        let answer = suggest(&world, &longest).await;
        let is_taken = longest.len() <= 2_048;
        assert_eq!(answer.status == StatusCode::OK, is_taken, "{letter}: {}", answer.text(".bad"));
        assert_eq!(answer.attributes("#url", "value"), [if is_taken { String::new() } else { longest }]);
    }
}

#[tokio::test]
async fn a_store_out_of_reach_is_said() {
    let world = World::of(Backend { broken: Some(true), ..Backend::default() });
    let answer = suggest(&world, "https://tide.example/").await;
    assert_eq!((answer.status, answer.header("retry-after")), (StatusCode::SERVICE_UNAVAILABLE, "5"));
}

#[tokio::test]
async fn the_form_lets_browsers_say_where_it_was_sent_from() {
    let world = World::of(Backend::default());
    assert_eq!(world.get("/suggest").await.header("referrer-policy"), "same-origin");
    assert_eq!(world.get("/suggest").await.header("cache-control"), "no-store");
    assert_eq!(world.get("/").await.header("referrer-policy"), "no-referrer");
}
