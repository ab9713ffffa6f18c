//! Finds the text that a page keeps in `<noscript>`, or in the data that Next, Nuxt, Gatsby, Remix and others send
//! along.
//!
//! Such data also contains menus, translations and other pages. So the strings that read like prose are collected, and
//! the path from the root is followed as long as one branch has most of them. The result is HTML, which is read like a
//! page.

use crate::read::dom::{attr, texts};
use crate::read::elements::is_mute;
use crate::text;
use curlew_text::hygiene::head_bytes;
use memchr::memmem;
use scraper::Html;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::HashMap;

/// Maximum size of data that is parsed; parsed values take many times as much memory.
const MAX_DATA_BYTES: usize = 512 * 1024;
const MAX_HTML_BYTES: usize = 256 * 1024;
const MAX_VALUES: usize = 50_000;
const MAX_STRINGS: usize = 4_000;
const WORDS: usize = 8;

#[derive(Debug, Default)]
pub(crate) struct Stored {
    pub(crate) html: String,
    pub(crate) from: &'static str,
    pub(crate) steps: u64,
}

pub(crate) fn read(tree: &Html) -> [Stored; 2] {
    let mut noscript = Stored { from: "noscript", ..Stored::default() };
    let mut scripts = Vec::new();
    let mut stream = String::new();
    let mut bytes = 0;
    for node in tree.tree.root().descendants() {
        noscript.steps += 1;
        let Some(element) = node.value().as_element() else { continue };
        match element.name() {
            "noscript" if noscript.html.len() < MAX_HTML_BYTES => noscript.html.extend(texts(node)),
            "script" if bytes < MAX_DATA_BYTES => {
                let code: String = texts(node).collect();
                let kind = attr(element, "type").unwrap_or_default();
                bytes += code.len();
                if bytes > MAX_DATA_BYTES || kind.contains("ld+json") {
                    continue;
                }
                if let Some(piece) = streamed(&code) {
                    stream.push_str(&piece);
                } else if kind.contains("json") {
                    scripts.extend(serde_json::from_str::<Value>(&code));
                } else {
                    scripts.extend(assigned(&code));
                }
            }
            _ => {}
        }
    }
    noscript.html.truncate(noscript.html.floor_char_boundary(MAX_HTML_BYTES));
    scripts.extend(rows(&stream));
    let mut data = Stored { from: "data", ..Stored::default() };
    let strings = prose(&scripts, &mut data.steps);
    for string in mostly(&strings) {
        let left = MAX_HTML_BYTES.saturating_sub(data.html.len());
        write(&mut data.html, head_bytes(string, left));
    }
    [noscript, data]
}

/// True if a script may contain the page's text or its date of publication.
pub(crate) fn may_tell(code: &[u8]) -> bool {
    let mut names = ASSIGNED.split(' ').chain(DATES.split(' ')).chain([STREAM]);
    names.any(|name| memmem::find(code, name.as_bytes()).is_some())
}

/// Names of a date of publication in the data of common systems. Most end with a quote, which may be escaped.
pub(crate) const DATES: &str = "\
    datePublished publishedAt\" publishedAt\\\" published_at\" published_at\\\" publishDate\" publicationDate\"";
const STREAM: &str = "__next_f.push(";
/// Parts of the names of global variables for the state of the page.
const ASSIGNED: &str = "\
    __NUXT__ __INITIAL_STATE__ __PRELOADED_STATE__ __APOLLO_STATE__ __remixContext __INITIAL_DATA__ \
    __PAGE_DATA__ __DATA__";

/// Returns the piece that a Next.js script adds to the stream of its page: `self.__next_f.push([1,"…"])`.
fn streamed(code: &str) -> Option<String> {
    let (_, array) = code.trim_start().split_once(STREAM)?;
    let values = serde_json::Deserializer::from_str(array).into_iter::<Vec<Value>>().next()?.ok()?;
    Some(values.get(1).and_then(Value::as_str).unwrap_or_default().to_owned())
}

fn rows(stream: &str) -> Vec<Value> {
    /// Maximum length of the prefix of a row or a text, in bytes.
    const SHORT: usize = 12;
    let before = |text: &str, mark| head_bytes(text, SHORT).find(mark);
    let mut out = Vec::new();
    let mut rest = stream;
    while !rest.is_empty() && out.len() < MAX_STRINGS {
        let row = before(rest, ':').and_then(|at| rest.get(at + 1..));
        let long = row.and_then(|row| row.strip_prefix('T'));
        if let Some((long, at)) = long.and_then(|long| Some((long, before(long, ',')?))) {
            let Ok(length) = usize::from_str_radix(long.get(..at).unwrap_or_default(), 16) else { break };
            let after = long.get(at + 1..).unwrap_or_default();
            let (text, next) = after.split_at(after.floor_char_boundary(length));
            out.push(Value::String(text.to_owned()));
            rest = next;
        } else {
            let (line, next) = rest.split_once('\n').unwrap_or((rest, ""));
            let value = before(line, ':').and_then(|at| line.get(at + 1..));
            out.extend(value.and_then(|value| serde_json::from_str::<Value>(value).ok()));
            rest = next;
        }
    }
    out
}

fn assigned(code: &str) -> Option<Value> {
    let at = ASSIGNED.split(' ').find_map(|name| code.find(name))?;
    let (_, value) = code.get(at..)?.split_once('=')?;
    let value = value.trim_start();
    let value = value.strip_prefix("JSON.parse(").unwrap_or(value);
    match serde_json::Deserializer::from_str(value).into_iter::<Value>().next()?.ok()? {
        Value::String(json) => serde_json::from_str(&json).ok(),
        other => Some(other),
    }
}

/// Strings that read like prose, each with its path: the indexes of the children that lead to it.
type Strings<'v> = Vec<(Vec<u32>, Cow<'v, str>)>;

/// Returns the strings that read like prose, and the HTML of React elements that do, in the order of the values.
fn prose<'v>(values: &'v [Value], steps: &mut u64) -> Strings<'v> {
    let mut out = Strings::new();
    let mut waiting: Vec<(Vec<u32>, &Value)> = numbered(&[], values.iter()).collect();
    waiting.reverse();
    while let Some((place, value)) = waiting.pop() {
        *steps += 1;
        if *steps > MAX_VALUES as u64 || out.len() >= MAX_STRINGS {
            break;
        }
        let before = waiting.len();
        match value {
            Value::String(string) if is_prose(string) => out.push((place, Cow::Borrowed(string))),
            Value::Array(values)
                if values.iter().chain([value]).any(|value| element(value).is_some_and(|(name, _)| is_html(name))) =>
            {
                let (html, words) = rendered(value, steps);
                if words >= WORDS {
                    out.push((place, Cow::Owned(format!("<div>{html}</div>"))));
                }
            }
            Value::Array(values) if before + values.len() <= MAX_VALUES => {
                waiting.extend(numbered(&place, values.iter()))
            }
            Value::Object(object) if before + object.len() <= MAX_VALUES && !is_dictionary(object) => {
                waiting.extend(numbered(&place, object.values()));
            }
            _ => {}
        }
        waiting.get_mut(before..).into_iter().for_each(<[_]>::reverse);
    }
    out
}

fn numbered<'p, 'v: 'p>(
    place: &'p [u32],
    values: impl Iterator<Item = &'v Value> + 'p,
) -> impl Iterator<Item = (Vec<u32>, &'v Value)> + 'p {
    let telling = (0_u32..).zip(values).filter(|(_, value)| value.is_array() || value.is_object() || value.is_string());
    telling.map(move |(at, value)| ([place, &[at]].concat(), value))
}

fn is_prose(string: &str) -> bool {
    const CODE: [&str; 5] = ["function(", "=>", "{\"", "@media", "px;"];
    let start = head_bytes(string, 400);
    text::text_words(string) >= WORDS && !CODE.iter().any(|sign| start.contains(sign))
}

/// True for an object with very many strings, such as a site's translations.
fn is_dictionary(object: &Map<String, Value>) -> bool {
    const MIN_STRINGS: usize = 40;
    object.values().filter(|value| value.is_string()).count() >= MIN_STRINGS
}

/// Returns the name and the properties of an element in a React stream: `["$", "p", key, {"children": …}]`.
fn element(value: &Value) -> Option<(&str, &Map<String, Value>)> {
    match value.as_array()?.as_slice() {
        [Value::String(sign), Value::String(name), _, Value::Object(properties), ..] if sign == "$" => {
            Some((name, properties))
        }
        _ => None,
    }
}

/// True for an HTML element; the name of a component begins with a capital letter or a sign.
fn is_html(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
}

/// Returns the HTML of React elements, and its number of words. Renders children and prose properties of components.
fn rendered(value: &Value, steps: &mut u64) -> (String, usize) {
    enum Piece<'v> {
        Child(&'v Value),
        Property(&'v Value),
        End(&'v str),
    }
    let (mut html, mut words) = (String::new(), 0);
    let mut waiting = vec![Piece::Child(value)];
    while let Some(piece) = waiting.pop() {
        *steps += 1;
        if *steps > MAX_VALUES as u64 || html.len() > MAX_HTML_BYTES {
            break;
        }
        match piece {
            Piece::End(name) => html.extend(["</", name, ">"]),
            Piece::Child(Value::Number(number)) => html.push_str(&number.to_string()),
            Piece::Property(Value::String(string)) => {
                if is_prose(string) {
                    words += WORDS;
                    write(&mut html, string);
                }
            }
            Piece::Property(Value::Object(object)) if !is_dictionary(object) => {
                waiting.extend(object.values().rev().map(Piece::Property));
            }
            Piece::Property(value @ Value::Array(values)) if element(value).is_none() => {
                waiting.extend(values.iter().rev().map(Piece::Property));
            }
            Piece::Child(Value::String(string)) => {
                // `$` before a string marks a reference, `$$` an escaped `$`.
                let reference = string.starts_with('$') && !string.starts_with("$$");
                let string = if reference { "" } else { string.strip_prefix('$').unwrap_or(string) };
                words += text::text_words(string);
                html.push_str(&escaped(string));
            }
            Piece::Child(value) | Piece::Property(value) => match element(value) {
                Some((name, _)) if is_mute(name) || matches!(name, "head" | "title" | "meta" | "link") => {}
                Some((name, properties)) if is_html(name) => {
                    html.extend(["<", name]);
                    for (key, attribute) in [("className", "class"), ("id", "id"), ("href", "href")] {
                        if let Some(value) = properties.get(key).and_then(Value::as_str) {
                            html.extend([" ", attribute, "=\"", &escaped(value), "\""]);
                        }
                    }
                    html.push('>');
                    waiting.push(Piece::End(name));
                    waiting.extend(properties.get("dangerouslySetInnerHTML").map(Piece::Property));
                    waiting.extend(properties.get("children").map(Piece::Child));
                }
                Some((_, properties)) => {
                    let piece =
                        |(key, value)| if key == "children" { Piece::Child(value) } else { Piece::Property(value) };
                    waiting.extend(properties.iter().rev().map(piece));
                }
                None => waiting.extend(value.as_array().into_iter().flatten().rev().map(Piece::Child)),
            },
        }
    }
    (html, words)
}

/// Returns the strings below the deepest branch, followed from the root, that has most of the text.
fn mostly<'s>(strings: &'s Strings<'_>) -> Vec<&'s str> {
    /// Share of the text, in percent, at which a branch is followed.
    const MOST: usize = 60;
    let mut chosen: Vec<_> = strings.iter().collect();
    let mut depth = 0;
    loop {
        let mut branches: HashMap<u32, usize> = HashMap::new();
        for (place, string) in &chosen {
            if let Some(at) = place.get(depth) {
                *branches.entry(*at).or_default() += string.len();
            }
        }
        let total: usize = chosen.iter().map(|(_, string)| string.len()).sum();
        let Some((branch, _)) = branches.into_iter().find(|(_, bytes)| bytes * 100 >= MOST * total && total > 0) else {
            break;
        };
        chosen.retain(|(place, _)| place.get(depth) == Some(&branch));
        depth += 1;
    }
    chosen.into_iter().map(|(_, string)| &**string).collect()
}

fn write(html: &mut String, string: &str) {
    let marked = ["<p", "<div", "<br", "<h2", "<ul", "<li"].iter().any(|tag| string.contains(tag));
    if marked || string.starts_with('<') {
        html.extend(["<div>", string, "</div>"]);
        return;
    }
    for line in string.lines().filter(|line| !line.trim().is_empty()) {
        html.extend(["<p>", &escaped(line), "</p>"]);
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}
