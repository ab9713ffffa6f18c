use super::{Answer, CheckError, Question};
use crate::output;
use curlew_feed::{Entry, Limits, discover, parse};
use serde_json::{Value, json};

/// Returns a parsed feed: its metadata, entries with titles as written, and violations of its format.
pub(super) fn answer(question: &Question) -> Answer {
    let body = question.bytes("body", "body_b64")?;
    let url = question.url()?;
    let feed = parse(&body, question.text("content_type"), &url, &Limits::default())
        .map_err(|e| CheckError { kind: "not_a_feed", message: e.to_string() })?;
    let entries: Vec<Value> = feed.entries.iter().map(entry).collect();
    Ok(json!({"feed": {
        "format": feed.format.as_str(),
        "title": feed.title_html.as_ref().or(feed.title.as_ref()),
        "description": feed.description,
        "link": feed.link,
        "language": feed.language,
        "image": feed.image,
        "updated": feed.updated,
        "entries": entries,
        "hub": feed.hints.hub,
        "self": feed.hints.self_url,
        "deleted": feed.deleted,
        "repairs": feed.repairs,
        "faults": output::faults(&feed.faults),
        "truncated": feed.truncated,
    }}))
}

fn entry(entry: &Entry) -> Value {
    json!({
        "id": entry.id,
        "title": entry.title_html.as_ref().or(entry.title.as_ref()),
        "link": entry.link,
        "published": entry.published,
        "updated": entry.updated,
        "author": entry.author,
        "tags": entry.tags,
        "summary": entry.summary,
        "content": entry.content,
    })
}

pub(super) fn discovered(question: &Question) -> Answer {
    let html = question.bytes("html", "body_b64")?;
    let feeds: Vec<Value> = discover(&html, question.text("content_type"), &question.url()?, &[])
        .iter()
        .map(|link| json!({"url": link.url.as_str(), "title": link.title, "type": link.media_type}))
        .collect();
    Ok(json!({ "feeds": feeds }))
}
