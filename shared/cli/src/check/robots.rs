use super::{Answer, CheckError, Question, bad_input};
use curlew_model::Millis;
use curlew_policy::robots::Robots;
use serde_json::{Value, json};
use url::Url;

/// Reports whether a robots.txt allows `agent` to fetch `url`, or each of `urls`. Parses the file once.
pub(super) fn answer(question: &Question, agent: &str) -> Answer {
    let body = question.bytes("robots", "robots_b64")?;
    let robots = Robots::parse(&body, question.token(agent));
    let mut answer = match question.0.get("urls") {
        None => decision(&robots, &url(question.required("url")?)?),
        Some(Value::Array(urls)) => {
            let text = |item: &Value| {
                item.as_str().map(str::to_owned).ok_or_else(|| bad_input("'urls' has an item that is not a string"))
            };
            let urls = urls.iter().map(|item| url(&text(item)?)).collect::<Result<Vec<Url>, CheckError>>()?;
            let decisions: Vec<_> = urls.iter().map(|url| decision(&robots, url)).collect();
            json!({ "decisions": decisions })
        }
        Some(_) => return Err(bad_input("'urls' is not a list")),
    };
    if let Some(Millis(delay)) = robots.crawl_delay() {
        // Print whole seconds as an integer.
        let seconds = if delay % 1_000 == 0 { json!(delay / 1_000) } else { json!(delay as f64 / 1_000.0) };
        answer["crawl_delay"] = seconds;
    }
    if let Some(license) = robots.license() {
        answer["license"] = json!(license);
    }
    Ok(answer)
}

fn decision(robots: &Robots, url: &Url) -> Value {
    let decision = robots.check(url);
    let mut answer = json!({ "allowed": decision.allowed });
    if let Some(rule) = decision.rule {
        answer["rule"] = json!(rule);
    }
    if let Some(allowed) = decision.second {
        answer["second_opinion"] = json!({ "allowed": allowed, "matcher": "texting_robots" });
    }
    let signals = robots.signals(url);
    if !signals.is_silent() {
        answer["content_signal"] = json!(signals.to_string());
    }
    if signals.search() == Some(false) {
        // Even if the URL may be fetched, its page would not be indexed.
        answer["indexed"] = json!(false);
    }
    answer
}

/// Parses a URL or a path; a path suffices, because robots.txt rules match paths only.
fn url(text: &str) -> Result<Url, CheckError> {
    let base = Url::parse("http://host.invalid/").map_err(|e| bad_input(e.to_string()))?;
    base.join(text).map_err(|e| bad_input(format!("'{text}' is not a valid URL: {e}")))
}
