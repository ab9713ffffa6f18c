//! JSON-LD of schema.org, read as pages really write it: raw line breaks in strings, comments around the script,
//! several values after each other, `@graph`, arrays where one value is meant and the other way round.

use crate::Limits;
use crate::author::AUTHORS;
use crate::outline::Outline;
use crate::text;
use serde_json::Value;
use std::collections::HashMap;

/// What the best article among the objects says.
#[derive(Debug, Default)]
pub(crate) struct Linked {
    pub(crate) headline: Option<String>,
    pub(crate) body: Option<String>,
    pub(crate) published: Option<String>,
    pub(crate) modified: Option<String>,
    pub(crate) author: Option<String>,
    pub(crate) image: Option<String>,
    pub(crate) language: Option<String>,
    pub(crate) site_name: Option<String>,
}

/// Objects that others refer to by `@id` (JSON-LD 1.1 §3.3, "node identifiers").
type Ids<'v> = HashMap<&'v str, &'v Value>;

/// Reads all scripts; the first article wins, later objects fill what it leaves open.
pub(crate) fn read(outline: &Outline<'_>, limits: &Limits) -> Linked {
    let mut found = Linked::default();
    let mut budget = limits.json_values;
    let values: Vec<Value> = outline.json.iter().flat_map(|script| parse(script)).collect();
    let ids = identified(&values);
    for value in &values {
        visit(value, &ids, &mut found, &mut budget);
    }
    found
}

/// The objects at the top and in graphs that have an `@id` and say something.
fn identified(values: &[Value]) -> Ids<'_> {
    /// More of them are not kept.
    const MANY: usize = 2_000;
    let mut ids = Ids::new();
    let mut waiting: Vec<&Value> = values.iter().rev().collect();
    while let Some(value) = waiting.pop().filter(|_| ids.len() < MANY) {
        match value {
            Value::Array(values) => waiting.extend(values.iter().rev()),
            Value::Object(object) => {
                waiting.extend(object.get("@graph"));
                if let Some(id) = object.get("@id").and_then(Value::as_str).filter(|_| object.len() > 1) {
                    ids.entry(id).or_insert(value);
                }
            }
            _ => {}
        }
    }
    ids
}

/// The values of a script, as far as they can be read.
fn parse(script: &str) -> Vec<Value> {
    let script = script.trim();
    let script = ["<!--", "//<![CDATA[", "/*<![CDATA[*/", "<![CDATA["]
        .iter()
        .fold(script, |s, mark| s.strip_prefix(mark).unwrap_or(s));
    let tame: String = script.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let mut values = Vec::new();
    for value in serde_json::Deserializer::from_str(&tame).into_iter::<Value>() {
        match value {
            Ok(value) => values.push(value),
            // Whatever follows the last good value: a comment's end, a semicolon.
            Err(_) => break,
        }
    }
    if values.is_empty() && !tame.trim().is_empty() {
        values.extend(serde_json::from_str(&mend(&tame)));
    }
    values
}

/// Drops commas before a closing bracket and backslashes that escape nothing.
fn mend(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    let mut in_string = false;
    let mut chars = json.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' if in_string => {
                if let Some('"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't' | 'u') = chars.peek() {
                    out.push(c);
                    out.extend(chars.next());
                }
            }
            '"' => {
                in_string = !in_string;
                out.push(c);
            }
            '}' | ']' if !in_string => {
                out.truncate(out.trim_end().len());
                if out.ends_with(',') {
                    out.pop();
                }
                out.push(c);
                if out.len() > 2 && c == '}' && chars.peek() == Some(&';') {
                    chars.next();
                }
            }
            _ => out.push(c),
        }
    }
    out
}

/// Looks at an object and those in it, without recursion.
fn visit(root: &Value, ids: &Ids<'_>, found: &mut Linked, budget: &mut usize) {
    let mut waiting = vec![root];
    while let Some(value) = waiting.pop() {
        if *budget == 0 {
            return;
        }
        *budget -= 1;
        match value {
            Value::Array(values) => waiting.extend(values.iter().rev()),
            Value::Object(object) => {
                let kinds = kinds(value);
                if kinds.iter().any(|kind| is_article(kind)) {
                    article(value, ids, found);
                } else if kinds.iter().any(|kind| matches!(*kind, "WebSite" | "Organization" | "NewsMediaOrganization"))
                {
                    fill(&mut found.site_name, || name(value.get("name"), ids));
                } else if kinds.iter().any(|kind| kind.ends_with("Page")) {
                    page(value, ids, found);
                }
                waiting.extend(["mainEntity", "mainEntityOfPage", "@graph"].iter().filter_map(|key| object.get(*key)));
            }
            _ => {}
        }
    }
}

fn article(value: &Value, ids: &Ids<'_>, found: &mut Linked) {
    let longer = string(value.get("articleBody")).or_else(|| string(value.get("text")));
    if let Some(body) = longer
        && found.body.as_ref().is_none_or(|known| known.len() < body.len())
    {
        found.body = Some(body);
    }
    fill(&mut found.headline, || string(value.get("headline")).or_else(|| string(value.get("name"))));
    fill(&mut found.author, || names(value.get("author"), ids).or_else(|| names(value.get("creator"), ids)));
    fill(&mut found.site_name, || name(value.get("publisher"), ids));
    dates_and_image(value, ids, found);
}

/// A page says less certainly what its article says, and less of it: only what nothing before it has said.
fn page(value: &Value, ids: &Ids<'_>, found: &mut Linked) {
    dates_and_image(value, ids, found);
    fill(&mut found.author, || names(value.get("author"), ids));
}

fn dates_and_image(value: &Value, ids: &Ids<'_>, found: &mut Linked) {
    fill(&mut found.published, || string(value.get("datePublished")).or_else(|| string(value.get("dateCreated"))));
    fill(&mut found.modified, || string(value.get("dateModified")));
    fill(&mut found.language, || name(value.get("inLanguage"), ids));
    let images = ["image", "primaryImageOfPage", "thumbnailUrl"];
    fill(&mut found.image, || images.iter().find_map(|key| image(value.get(*key), ids)));
}

fn fill(slot: &mut Option<String>, value: impl FnOnce() -> Option<String>) {
    if slot.is_none() {
        *slot = value().filter(|text| !text.trim().is_empty());
    }
}

/// The types of an object, without the vocabulary's address.
fn kinds(value: &Value) -> Vec<&str> {
    let tail = |kind: &str| kind.len() - kind.rsplit(['/', '#', ':']).next().unwrap_or(kind).len();
    match value.get("@type") {
        Some(Value::String(kind)) => vec![kind.get(tail(kind)..).unwrap_or(kind)],
        Some(Value::Array(kinds)) => {
            kinds.iter().filter_map(Value::as_str).map(|kind| kind.get(tail(kind)..).unwrap_or(kind)).collect()
        }
        _ => Vec::new(),
    }
}

/// schema.org types that are an Article or one of its kinds.
pub(crate) fn is_article(kind: &str) -> bool {
    matches!(
        kind,
        "Article"
            | "NewsArticle"
            | "BlogPosting"
            | "Report"
            | "TechArticle"
            | "ScholarlyArticle"
            | "SocialMediaPosting"
            | "AnalysisNewsArticle"
            | "OpinionNewsArticle"
            | "ReportageNewsArticle"
            | "ReviewNewsArticle"
            | "LiveBlogPosting"
            | "BackgroundNewsArticle"
            | "AskPublicNewsArticle"
            | "AdvertiserContentArticle"
            | "SatiricalArticle"
            | "MedicalScholarlyArticle"
            | "DiscussionForumPosting"
            | "Review"
            | "CreativeWork"
            | "MedicalWebPage"
            | "Recipe"
            | "HowTo"
    )
}

fn string(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::String(text) => Some(text::unescape(text).into_owned()),
        Value::Array(values) => {
            values.iter().find_map(|value| value.as_str()).map(|text| text::unescape(text).into_owned())
        }
        _ => None,
    }
}

/// What a value stands for: the object that it refers to by `@id` and nothing else, or itself.
fn referred<'v>(value: &'v Value, ids: &Ids<'v>) -> &'v Value {
    let object = value.as_object().filter(|object| object.len() == 1);
    let id = object.and_then(|object| object.get("@id")).and_then(Value::as_str);
    id.and_then(|id| ids.get(id)).copied().unwrap_or(value)
}

fn name(value: Option<&Value>, ids: &Ids<'_>) -> Option<String> {
    match referred(value?, ids) {
        Value::Array(values) => values.iter().find_map(|value| name(one(value), ids)),
        Value::Object(object) => string(object.get("name")).or_else(|| string(object.get("alternateName"))),
        other => string(Some(other)),
    }
}

/// A value that is no array, so that asking for its name ends.
fn one(value: &Value) -> Option<&Value> {
    (!value.is_array()).then_some(value)
}

/// The names of the authors.
fn names(value: Option<&Value>, ids: &Ids<'_>) -> Option<String> {
    let names: Vec<String> = match value? {
        Value::Array(values) => values.iter().filter_map(|value| name(one(value), ids)).take(AUTHORS).collect(),
        other => name(Some(other), ids).into_iter().collect(),
    };
    (!names.is_empty()).then(|| names.join(", "))
}

/// The address of an image. An `@id` that nothing is known of is only its name if it has a fragment.
fn image(value: Option<&Value>, ids: &Ids<'_>) -> Option<String> {
    match referred(value?, ids) {
        Value::Array(values) => values.iter().find_map(|value| image(one(value), ids)),
        Value::Object(object) => {
            let named = || string(object.get("@id")).filter(|id| !id.contains('#'));
            string(object.get("url")).or_else(|| string(object.get("contentUrl"))).or_else(named)
        }
        other => string(Some(other)),
    }
}
