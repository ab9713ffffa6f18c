//! Reads pages as JSON Lines (`id`, `url`, `html` or `body_b64`, `content_type`) and prints the extracted articles. For
//! a page with `"explain": true` it also prints the reasons.
#![allow(clippy::print_stdout, reason = "printing is what this program is for")]

use base64::Engine;
use curlew_article::{Explanation, Limits, decode, explain, measure, validity};
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
    let limits = Limits::default();
    let (plain, work) = measure(&html, &url, &limits);
    let read = if input.get("explain").is_some_and(|explain| explain == true) {
        explain(&html, &url, &limits).map(|(article, explanation)| (article, Some(explanation)))
    } else {
        plain.map(|article| (article, None))
    };
    Ok(match read {
        Err(why) => json!({"id": id, "error": {"kind": "unreadable", "message": why.to_string()}}),
        Ok((article, explanation)) => {
            let valid = validity(article.title.as_deref(), &article.text, article.image.as_ref().map(url::Url::as_str));
            json!({
                "id": id,
                "title": article.title,
                "text": article.text,
                "image": article.image,
                "canonical": article.canonical,
                "language": article.language,
                "published": article.published.zip(article.published_by).map(|(at, by)| by.shown(at)),
                "published_by": article.published_by.map(|by| by.from),
                "modified": article.modified,
                "author": article.author,
                "site_name": article.site_name,
                "directives": article.robots_meta,
                "valid": valid.is_ok(),
                "reason": valid.err().map(|why| why.to_string()),
                "from": article.from,
                "bytes": html.len(),
                "steps": {"tree": work.tree, "walk": work.walk, "data": work.data, "text": work.text},
                "explanation": explanation.as_ref().map(words),
            })
        }
    })
}

fn words(explanation: &Explanation) -> Value {
    let candidates = explanation.candidates.iter().map(|extractor| {
        json!({
            "from": extractor.from,
            "chars": extractor.chars,
            "links": extractor.links,
            "agreement": extractor.agreement,
            "prior": extractor.prior,
            "score": extractor.score,
            "chosen": extractor.chosen,
            "lines": extractor.lines,
        })
    });
    let lines = explanation
        .lines
        .iter()
        .map(|line| json!({"text": line.text, "kind": line.kind, "links": line.links, "left_out": line.left_out}));
    json!({"candidates": candidates.collect::<Vec<_>>(), "lines": lines.collect::<Vec<_>>()})
}
