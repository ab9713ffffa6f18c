use super::{Answer, Question, fields};
use curlew_screen::{Page, Screener};
use serde_json::{Value, json};
use url::Url;

/// Would a text pass content screening, and why?
pub(super) fn answer(question: &Question, screener: &Screener) -> Answer {
    let url = question.text("url").and_then(|u| Url::parse(u).ok());
    let screening = screener.screen(&Page {
        title: question.text("title").unwrap_or_default(),
        text: question.required("text")?,
        language: question.text("language"),
        host: url.as_ref().and_then(Url::host_str),
    });
    let mut answer = fields(json!(screening));
    answer.insert("explanation".into(), Value::from(screening.explain()));
    Ok(answer)
}
