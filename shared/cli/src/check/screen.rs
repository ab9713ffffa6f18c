use super::{Answer, Question, fields};
use curlew_screen::screen;
use serde_json::json;

/// Would a text pass content screening?
pub(super) fn answer(question: &Question) -> Answer {
    let title = question.text("title").unwrap_or_default();
    let text = question.required("text")?;
    let screening = screen(title, text, question.text("language"));
    Ok(fields(json!({ "verdict": screening.verdict, "topics": screening.topics })))
}
