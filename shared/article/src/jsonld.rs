//! JSON-LD of schema.org, read as pages really write it: raw line breaks in strings, comments around the script,
//! several values after each other, `@graph`, arrays where one value is meant and the other way round.

use crate::Limits;
use crate::outline::Outline;
use crate::text;
use serde_json::Value;

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

/// Reads all scripts; the first article wins, later objects fill what it leaves open.
pub(crate) fn read(outline: &Outline<'_>, limits: &Limits) -> Linked {
    let mut found = Linked::default();
    let mut budget = limits.json_values;
    for script in &outline.json {
        for value in parse(script) {
            visit(&value, &mut found, &mut budget);
        }
    }
    found
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
fn visit(root: &Value, found: &mut Linked, budget: &mut usize) {
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
                    article(value, found);
                } else if kinds.iter().any(|kind| matches!(*kind, "WebSite" | "Organization" | "NewsMediaOrganization"))
                {
                    fill(&mut found.site_name, || name(value.get("name")));
                } else if kinds.iter().any(|kind| kind.ends_with("Page")) {
                    page(value, found);
                }
                waiting.extend(["mainEntity", "mainEntityOfPage", "@graph"].iter().filter_map(|key| object.get(*key)));
            }
            _ => {}
        }
    }
}

fn article(value: &Value, found: &mut Linked) {
    let longer = string(value.get("articleBody")).or_else(|| string(value.get("text")));
    if let Some(body) = longer
        && found.body.as_ref().is_none_or(|known| known.len() < body.len())
    {
        found.body = Some(body);
    }
    fill(&mut found.headline, || string(value.get("headline")).or_else(|| string(value.get("name"))));
    fill(&mut found.author, || names(value.get("author")).or_else(|| names(value.get("creator"))));
    fill(&mut found.site_name, || name(value.get("publisher")));
    dates_and_image(value, found);
}

/// A page says less certainly what its article says: only what nothing else has said.
fn page(value: &Value, found: &mut Linked) {
    dates_and_image(value, found);
    fill(&mut found.author, || names(value.get("author")));
}

fn dates_and_image(value: &Value, found: &mut Linked) {
    fill(&mut found.published, || string(value.get("datePublished")).or_else(|| string(value.get("dateCreated"))));
    fill(&mut found.modified, || string(value.get("dateModified")));
    fill(&mut found.language, || name(value.get("inLanguage")));
    fill(&mut found.image, || image(value.get("image")).or_else(|| image(value.get("thumbnailUrl"))));
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
fn is_article(kind: &str) -> bool {
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

fn name(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::Array(values) => values.iter().find_map(|value| name(one(value))),
        Value::Object(object) => string(object.get("name")).or_else(|| string(object.get("alternateName"))),
        other => string(Some(other)),
    }
}

/// A value that is no array, so that asking for its name ends.
fn one(value: &Value) -> Option<&Value> {
    (!value.is_array()).then_some(value)
}

/// The names of up to five authors.
fn names(value: Option<&Value>) -> Option<String> {
    const AUTHORS: usize = 5;
    let names: Vec<String> = match value? {
        Value::Array(values) => values.iter().filter_map(|value| name(one(value))).take(AUTHORS).collect(),
        other => name(Some(other)).into_iter().collect(),
    };
    (!names.is_empty()).then(|| names.join(", "))
}

fn image(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::Array(values) => values.iter().find_map(|value| image(one(value))),
        Value::Object(object) => {
            string(object.get("url")).or_else(|| string(object.get("contentUrl"))).or_else(|| string(object.get("@id")))
        }
        other => string(Some(other)),
    }
}
