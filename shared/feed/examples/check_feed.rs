//! Reads JSON Lines `{"id","url","body_b64","content_type"}` and writes the content of each feed, in the same order.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use curlew_feed::{Limits, parse};
use serde_json::{Value, json};
use std::io::{BufRead as _, Write as _};

fn answer(line: &str) -> Option<Value> {
    let case: Value = serde_json::from_str(line).ok()?;
    let body = STANDARD.decode(case["body_b64"].as_str()?).ok()?;
    let url = case["url"].as_str()?.parse().ok()?;
    Some(match parse(&body, case["content_type"].as_str(), &url, &Limits::default()) {
        Ok(feed) => {
            let mut value = json!(feed);
            show_title(&mut value);
            if let Some(entries) = value["entries"].as_array_mut() {
                entries.iter_mut().for_each(show_title);
            }
            json!({"id": case["id"], "feed": value})
        }
        Err(e) => json!({"id": case["id"], "error": {"kind": "feed", "message": e.to_string()}}),
    })
}

/// Shows the title as the feed wrote it, if that says more than the plain one.
fn show_title(value: &mut Value) {
    if value["title_html"].is_string() {
        value["title"] = value["title_html"].take();
    }
}

fn main() -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        if let Some(answer) = answer(&line?) {
            writeln!(out, "{answer}")?;
        }
    }
    Ok(())
}
