use super::{Answer, Question, bad_input};
use curlew_app::Settings as Config;
use curlew_fetcher::guard::{vet_addresses, vet_url};
use serde_json::{Value, json};
use std::net::IpAddr;

/// Reports whether the settings allow the crawler to call a URL, and the reason if they do not.
pub(super) fn answer(question: &Question, config: &Config) -> Answer {
    let guard = &config.guard;
    let text = question.required("url")?;
    let refused = |why: String| Ok(json!({ "allowed": false, "reason": why }));
    let url = match vet_url(text, guard) {
        Ok(url) => url,
        Err(refusal) => return refused(refusal.to_string()),
    };
    if let Some(given) = question.0.get("addresses") {
        let Value::Array(list) = given else { return Err(bad_input("'addresses' is not a list")) };
        let mut addresses = Vec::with_capacity(list.len());
        for item in list {
            let Some(address) = item.as_str().and_then(|a| a.parse::<IpAddr>().ok()) else {
                // Fail closed if an address from the resolver cannot be parsed.
                return refused(format!("the address {item} cannot be read"));
            };
            addresses.push(address);
        }
        if let Err(refusal) = vet_addresses(url.host_str().unwrap_or_default(), &addresses, guard) {
            return refused(refusal.to_string());
        }
    }
    if let Some(rule) = config.scope.excludes(&url) {
        return Ok(json!({
            "allowed": false,
            "reason": format!("it is excluded by {rule}"),
            "excluded_by": { "kind": rule.kind, "rule": rule.rule },
        }));
    }
    Ok(json!({ "allowed": true }))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;
    use curlew_app::Flags;

    #[test]
    fn the_rule_that_excludes_is_named() {
        let environment = [("CURLEW_EXCLUDE_SUBSTRINGS".to_owned(), "['/text/']".to_owned())];
        let config = Config::load(&Flags::default(), environment.into_iter()).unwrap();
        let ask = |url: &str| answer(&Question(json!({ "url": url })), &config).ok();
        let excluded = ask("http://www.example.com/text/a").unwrap();
        assert_eq!(excluded["allowed"], false);
        assert_eq!(excluded["reason"], "it is excluded by the substring '/text/'");
        assert_eq!(excluded["excluded_by"], json!({ "kind": "substring", "rule": "/text/" }));
        assert_eq!(ask("http://www.example.com/a").unwrap()["allowed"], true);
        assert_eq!(ask("http://127.0.0.1/a").unwrap()["allowed"], false);
    }
}
