//! Reads pages as JSON Lines (`id`, `url`, `html` or `body_b64`, `content_type`) and prints what extraction finds.
#![allow(clippy::print_stdout, reason = "printing is what this program is for")]

use base64::Engine;
use curlew_article::{Limits, decode, extract, validity};
use serde_json::{Value, json};
use std::io::BufRead;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        if !line.trim().is_empty() {
            println!("{}", check(&serde_json::from_str(&line)?)?);
        }
    }
    Ok(())
}

fn check(input: &Value) -> Result<Value, Box<dyn std::error::Error>> {
    let field = |name: &str| input.get(name).and_then(Value::as_str);
    let body = match field("body_b64") {
        Some(encoded) => base64::engine::general_purpose::STANDARD.decode(encoded)?,
        None => field("html").unwrap_or_default().as_bytes().to_vec(),
    };
    let html = decode(&body, field("content_type"));
    let url = field("url").unwrap_or("https://example.org/").parse()?;
    let id = input.get("id");
    Ok(match extract(&html, &url, &Limits::default()) {
        Err(why) => json!({"id": id, "error": {"kind": "unreadable", "message": why.to_string()}}),
        Ok(article) => {
            let valid = validity(article.title.as_deref(), &article.text, article.image.as_ref().map(url::Url::as_str));
            json!({
                "id": id,
                "title": article.title,
                "text": article.text,
                "image": article.image,
                "canonical": article.canonical,
                "language": article.language,
                "published": article.published,
                "modified": article.modified,
                "author": article.author,
                "site_name": article.site_name,
                "directives": article.robots_meta,
                "valid": valid.is_ok(),
                "reason": valid.err().map(|why| why.to_string()),
                "from": article.from,
            })
        }
    })
}
