//! Labels of main images and canonical URLs (`xtask/labels/pages.jsonl`): a person judged 150 of the scored pages by
//! their markup, before seeing any answer.
//!
//! A label identifies its page by a hash of the URL. `image` lists the names of the pictures that a reader would take
//! for the main one (several for crops of one motif). `or_none` means that the page has no picture except, perhaps, the
//! site's logo, so that an answer without a picture is correct, too. `canonical` is the URL that the markup supports:
//! `same` for the URL that the page was fetched from, another URL, or null.

use super::{Tally, hash, text};
use anyhow::{Context, Result};
use serde_json::Value;
use std::collections::HashMap;

const LABELS: &str = include_str!("../../labels/pages.jsonl");

/// Loads the labels, by the hash of the page's URL.
pub(super) fn load() -> Result<HashMap<String, Value>> {
    let lines = LABELS.lines().filter(|line| !line.trim().is_empty());
    let label = |line: &str| -> Result<(String, Value)> {
        let label: Value = serde_json::from_str(line).context("a label is no JSON")?;
        Ok((text(&label, "page").to_owned(), label))
    };
    lines.map(label).collect()
}

/// Counts an answer, if its page has a label.
pub(super) fn count(
    labels: &HashMap<String, Value>,
    url: &str,
    answer: &Value,
    image: &mut Tally,
    canonical: &mut Tally,
) {
    let Some(label) = labels.get(&format!("{:016x}", hash(url))) else { return };
    let names = || label.get("image").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    image.count(match answer.get("image").and_then(Value::as_str) {
        Some(address) => names().any(|name| name == picture(address)),
        None => label.get("or_none").is_some_and(|none| none == true),
    });
    let wanted = match label.get("canonical").and_then(Value::as_str) {
        Some("same") => Some(url),
        other => other,
    };
    let got = answer.get("canonical").and_then(Value::as_str);
    canonical.count(got.map(bare) == wanted.map(bare));
}

/// Returns a URL without its final slashes.
fn bare(address: &str) -> &str {
    address.trim_end_matches('/')
}

/// Returns the name of the picture at a URL: the file name in lower case, without the extension and the size of scaled
/// copies; for the URL of a scaling service, the name of the scaled picture.
fn picture(address: &str) -> String {
    let (rest, query) = address.split_once('?').unwrap_or((address, ""));
    let query = query.split('#').next().unwrap_or_default();
    if let Some(scaled) = query.split('&').find_map(|pair| pair.strip_prefix("url=")).filter(|url| !url.is_empty()) {
        return picture(&decoded(scaled));
    }
    let rest = rest.split('#').next().unwrap_or_default();
    let path = rest.split_once("://").map_or(rest, |(_, rest)| rest.find('/').map_or("", |at| &rest[at..]));
    let file = path.split('/').rfind(|part| !part.is_empty()).unwrap_or_default();
    let name = decoded(file).to_lowercase();
    let endings = [".jpg", ".jpeg", ".png", ".webp", ".gif", ".avif"];
    let name = endings.iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
    let name = without_size(name);
    if name.chars().count() > 3 { name.to_owned() } else { path.to_lowercase() }
}

/// Returns a name without a final `-300x200` or `-scaled`.
fn without_size(name: &str) -> &str {
    let Some((stem, end)) = name.rfind(['-', '_']).map(|at| (&name[..at], &name[at + 1..])) else { return name };
    let number = |text: &str| (2..=4).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    let size = end.split_once('x').is_some_and(|(width, height)| number(width) && number(height));
    if size || end == "scaled" { stem } else { name }
}

/// Decodes percent-encoding.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let hex = (byte == b'%').then(|| after.get(..2)).flatten().and_then(|hex| std::str::from_utf8(hex).ok());
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(value) => {
                bytes.push(value);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(byte);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use serde_json::json;

    #[test]
    fn a_picture_is_known_in_other_sizes() {
        for address in [
            "https://a.example/up/The%20Bridge-300x200.JPG?w=3",
            "//a.example/the bridge-scaled.webp",
            "https://a.example/_next/image?url=%2Fmedia%2FThe+Bridge.png&w=640".replace('+', "%20").as_str(),
        ] {
            assert_eq!(picture(address), "the bridge", "{address}");
        }
        assert_eq!(picture("https://a.example/2023/1.png"), "/2023/1.png");
    }

    #[test]
    fn every_label_can_be_read_and_is_counted() {
        let labels = load().expect("the labels can be read");
        assert_eq!(labels.len(), 150);
        let url = "https://a.example/story";
        let label = json!({"image": ["bridge"], "canonical": "same"});
        let labels = HashMap::from([(format!("{:016x}", hash(url)), label)]);
        let mut tallies = (Tally::default(), Tally::default());
        let answers = [
            json!({"image": "https://a.example/bridge.jpg", "canonical": "https://a.example/story/"}),
            json!({"image": null}),
        ];
        for answer in &answers {
            count(&labels, url, answer, &mut tallies.0, &mut tallies.1);
        }
        assert_eq!((tallies.0.right, tallies.0.all, tallies.1.right, tallies.1.all), (1, 2, 1, 2));
    }
}
