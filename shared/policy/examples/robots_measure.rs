//! scratch
#![allow(clippy::all, missing_docs, clippy::unwrap_used, clippy::print_stdout)]
use curlew_policy::robots::*;
use std::io::BufRead;
fn b64(s: &str) -> Vec<u8> {
    let mut out = vec![];
    let (mut acc, mut n) = (0u32, 0);
    for c in s.bytes() {
        let v = match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => continue,
        };
        acc = acc << 6 | v as u32;
        n += 6;
        if n >= 8 {
            n -= 8;
            out.push((acc >> n) as u8);
        }
    }
    out
}
fn main() {
    for line in std::io::stdin().lock().lines() {
        let v: serde_json::Value = serde_json::from_str(&line.unwrap()).unwrap();
        let body = v["robots"]
            .as_str()
            .map(|s| s.as_bytes().to_vec())
            .unwrap_or_else(|| b64(v["robots_b64"].as_str().unwrap_or("")));
        let r = Robots::parse(&body, product_token(v["agent"].as_str().unwrap()));
        let base = url::Url::parse("http://example.org/").unwrap();
        let url = base.join(v["url"].as_str().unwrap_or("")).unwrap();
        let d = r.check(&url);
        let mut o = serde_json::json!({"id": v["id"], "allowed": d.allowed});
        if let Some(x) = d.rule {
            o["rule"] = x.into();
        }
        if let Some(c) = r.crawl_delay() {
            o["crawl_delay"] = (c.0 as f64 / 1000.0).into();
        }
        println!("{o}");
    }
}
