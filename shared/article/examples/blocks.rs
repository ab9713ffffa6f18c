//! Reads pages as JSON Lines (`id`, `url`, `html` or `body_b64`, `content_type`) and prints the blocks of each, for
//! `cargo xtask learn`. The features of the blocks are little-endian 16-bit numbers in Base64.
#![allow(clippy::print_stdout, reason = "printing is what this program is for")]

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use curlew_article::{Limits, decode, learned_blocks};
use serde_json::{Value, json};
use std::io::BufRead;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for line in std::io::stdin().lock().lines() {
        let input: Value = serde_json::from_str(&line?)?;
        let field = |name: &str| input.get(name).and_then(Value::as_str);
        let body = match field("body_b64") {
            Some(encoded) => STANDARD.decode(encoded)?,
            None => field("html").unwrap_or_default().as_bytes().to_vec(),
        };
        let html = decode(&body, field("content_type"));
        let page = field("url").unwrap_or("https://example.org/").parse()?;
        let Ok(blocks) = learned_blocks(&html, &page, &Limits::default()) else { continue };
        let rows: Vec<u8> =
            blocks.iter().flat_map(|block| &block.features).flat_map(|number| number.to_le_bytes()).collect();
        let texts: Vec<&String> = blocks.iter().map(|block| &block.text).collect();
        let (id, rows) = (input.get("id"), STANDARD.encode(rows));
        println!("{}", json!({"id": id, "blocks": texts, "rows": rows}));
    }
    Ok(())
}
