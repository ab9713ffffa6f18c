use super::{Answer, Question};
use curlew_feed::discover;
use serde_json::{Value, json};

/// Answers with the feeds that a page names.
pub(super) fn answer(question: &Question) -> Answer {
    let html = question.bytes("html", "body_b64")?;
    let feeds: Vec<Value> = discover(&html, question.text("content_type"), &question.url()?, &[])
        .iter()
        .map(|link| json!({"url": link.url.as_str(), "title": link.title, "type": link.media_type}))
        .collect();
    Ok(json!({ "feeds": feeds }))
}
