use super::{Answer, Question, Trouble, bad_input, fields};
use curlew_policy::robots::{Robots, product_token};
use serde_json::json;
use url::Url;

/// Does a robots.txt allow an agent a URL?
pub(super) fn answer(question: &Question, agent: &str) -> Answer {
    let body = question.bytes("robots", "robots_b64")?;
    let agent = question.text("agent").unwrap_or(agent);
    let token = if agent == "*" { "*" } else { product_token(agent) };
    let robots = Robots::parse(&body, token);
    let decision = robots.check(&url(question)?);
    let mut answer = fields(json!({ "allowed": decision.allowed }));
    if let Some(rule) = decision.rule {
        answer.insert("rule".into(), json!(rule));
    }
    if let Some(delay) = robots.crawl_delay() {
        let seconds = delay.0 as f64 / 1_000.0;
        // A whole number of seconds is printed as one.
        let value = if delay.0 % 1_000 == 0 { json!(delay.0 / 1_000) } else { json!(seconds) };
        answer.insert("crawl_delay".into(), value);
    }
    Ok(answer)
}

/// A full URL, or a path: robots.txt asks for nothing else.
fn url(question: &Question) -> Result<Url, Trouble> {
    let text = question.required("url")?;
    let base = Url::parse("http://host.invalid/").map_err(|e| bad_input(e.to_string()))?;
    base.join(text).map_err(|e| bad_input(format!("'url' is no URL: {e}")))
}
