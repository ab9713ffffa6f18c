use super::{Answer, Question, Trouble, fields};
use curlew_article::{Limits, decode, extract, validity};
use curlew_policy::directives::Directives;
use serde_json::{Value, json};

/// The product token that meta tags and headers are read for.
const TOKEN: &str = "CurlewBot";

/// What would be kept of a page, and would it be accepted?
pub(super) fn answer(question: &Question) -> Answer {
    let body = question.bytes("html", "body_b64")?;
    let url = question.url()?;
    // A text in JSON has been decoded already, whatever its meta tags say.
    let given_as_text = question.text("html").is_some();
    let content_type = if given_as_text { Some("text/html; charset=utf-8") } else { question.text("content_type") };
    let html = decode(&body, content_type);
    let article =
        extract(&html, &url, &Limits::default()).map_err(|e| Trouble { kind: "unreadable", message: e.to_string() })?;
    let directives = Directives::gather(&article.robots_meta, &robots_tags(question), TOKEN);
    let image = article.image.as_ref().map(|u| u.as_str().to_owned());
    let verdict = match validity(article.title.as_deref(), &article.text, image.as_deref()) {
        _ if directives.noindex => Err(curlew_model::Rejection::Noindex),
        other => other,
    };
    let mut answer = fields(json!({
        "title": article.title,
        "text": article.text,
        "image": image,
        "canonical": article.canonical.as_ref().map(|u| u.as_str()),
        "language": article.language,
        "published": article.published,
        "modified": article.modified,
        "author": article.author,
        "site_name": article.site_name,
        "directives": directives.names(),
        "valid": verdict.is_ok(),
    }));
    if let Err(why) = verdict {
        answer.insert("reason".into(), json!(why.code()));
    }
    Ok(answer)
}

/// `headers` may be an object of texts or lists, or a list of pairs.
fn robots_tags(question: &Question) -> Vec<String> {
    let is_tag = |name: &str| name.eq_ignore_ascii_case("x-robots-tag");
    let texts = |value: &Value| -> Vec<String> {
        match value {
            Value::String(text) => vec![text.clone()],
            Value::Array(list) => list.iter().filter_map(|v| v.as_str().map(str::to_owned)).collect(),
            _ => vec![],
        }
    };
    match question.0.get("headers") {
        Some(Value::Object(map)) => map.iter().filter(|(name, _)| is_tag(name)).flat_map(|(_, v)| texts(v)).collect(),
        Some(Value::Array(pairs)) => pairs
            .iter()
            .filter_map(|pair| Some((pair.get(0)?.as_str()?, pair.get(1)?)))
            .filter(|(name, _)| is_tag(name))
            .flat_map(|(_, v)| texts(v))
            .collect(),
        _ => vec![],
    }
}
