//! Checks a JSON Feed against JSON Schema, limited to the part of draft 2020-12 that these schemas use: `type` with one
//! name, `required`, `properties`, `items`, `const`, `anyOf` of `required`, `minimum`, `format` `uri` and `date-time`,
//! and `$ref` into `$defs`. A schema with anything else is rejected.

use super::place::Notes;
use super::value::Simple;
use curlew_model::FaultCode;
use regex::Regex;
use serde_json::Value;

const MAX_DEPTH: usize = 32;
const MAX_VALUES: usize = 200_000;

pub(super) struct JsonSchema {
    root: Value,
    date: Regex,
}

impl JsonSchema {
    /// Parses a schema; `None` if it contains an unsupported construct.
    pub(super) fn read(text: &str) -> Option<JsonSchema> {
        let root: Value = serde_json::from_str(text).ok()?;
        let date = Regex::new(r"^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])[Tt]([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$").ok()?;
        is_known(&root).then_some(JsonSchema { root, date })
    }

    fn resolved<'s>(&'s self, schema: &'s Value) -> &'s Value {
        let target = schema["$ref"].as_str().and_then(|to| self.root.pointer(to.strip_prefix('#')?));
        target.unwrap_or(schema)
    }
}

fn is_known(schema: &Value) -> bool {
    let all = |value: &Value| value.as_object().is_some_and(|o| o.values().all(is_known));
    schema.as_object().is_some_and(|words| {
        words.iter().all(|(word, value)| match word.as_str() {
            "properties" | "$defs" => all(value),
            "items" => is_known(value),
            "anyOf" => value.as_array().is_some_and(|a| a.iter().all(|v| v["required"].is_array())),
            "format" => matches!(value.as_str(), Some("uri" | "date-time")),
            "type" => matches!(value.as_str(), Some("object" | "array" | "number" | "boolean" | "string")),
            "$schema" | "title" | "description" | "required" | "const" | "minimum" | "$ref" => true,
            _ => false,
        })
    })
}

pub(super) fn check(text: &str, schema: &JsonSchema, notes: &mut Notes<'_>) {
    let start = text.len() - text.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{FEFF}' || c == '\0').len();
    let mut reader = JsonReader { text, at: start, left: MAX_VALUES };
    if let Some(node) = reader.node(0) {
        JsonChecker { schema, notes }.node(&node, &schema.root, "the feed");
    }
    if reader.at < text.len() && !text[reader.at..].trim().is_empty() && reader.left > 0 {
        notes.add(reader.at, FaultCode::TextAfterEnd, "", "");
    }
}

struct JsonChecker<'a, 'n, 't> {
    schema: &'a JsonSchema,
    notes: &'n mut Notes<'t>,
}

impl JsonChecker<'_, '_, '_> {
    fn node(&mut self, node: &JsonNode<'_>, schema: &Value, path: &str) {
        let schema = self.schema.resolved(schema);
        if let Some((name, false)) = schema["type"].as_str().map(|name| is_of_type(&node.what, name)) {
            return self.notes.add(node.at, FaultCode::WrongType, path, name);
        }
        match &node.what {
            JsonKind::Object(members) => self.object(node, members, schema, path),
            JsonKind::List(list) => {
                let each = &schema["items"];
                for (n, member) in list.iter().enumerate().filter(|_| each.is_object()) {
                    self.node(member, each, &format!("{path}[{n}]"));
                }
            }
            JsonKind::Text(text) => self.text(node, &text.replace("\\/", "/"), schema, path),
            JsonKind::Number(number) => {
                let bound = schema["minimum"].as_f64();
                if bound.zip(number.parse::<f64>().ok()).is_some_and(|(least, n)| n < least) {
                    self.notes.add(node.at, FaultCode::BadNumber, path, number);
                }
            }
            JsonKind::Null | JsonKind::Bool => {}
        }
    }

    fn object(&mut self, node: &JsonNode<'_>, members: &[(&str, JsonNode<'_>)], schema: &Value, path: &str) {
        let has = |name: &Value| members.iter().any(|(key, _)| Some(*key) == name.as_str());
        let needed = |schema: &Value| schema["required"].as_array().cloned().unwrap_or_default();
        for name in needed(schema).iter().filter(|name| !has(name)) {
            self.notes.add(node.at, FaultCode::Missing, path, name);
        }
        if let Some(choices) = schema["anyOf"].as_array()
            && !choices.iter().any(|choice| needed(choice).iter().all(has))
        {
            let names: Vec<String> = choices.iter().flat_map(needed).map(|name| name.to_string()).collect();
            self.notes.add(node.at, FaultCode::Missing, path, names.join(" or "));
        }
        for (key, member) in members {
            let known = &schema["properties"][*key];
            if known.is_object() {
                let path = if path == "the feed" { (*key).to_owned() } else { format!("{path}.{key}") };
                self.node(member, known, &path);
            }
        }
    }

    fn text(&mut self, node: &JsonNode<'_>, text: &str, schema: &Value, path: &str) {
        let constant = schema["const"].as_str();
        let uri = || Simple::built_in("anyURI").is_some_and(|s| s.fault(text).is_none()) && text.contains(':');
        let code = match schema["format"].as_str() {
            _ if constant.is_some_and(|c| c != text) => FaultCode::BadValue,
            Some("uri") if !uri() => FaultCode::BadAddress,
            Some("date-time") if !self.schema.date.is_match(text) => FaultCode::BadDate,
            _ => return,
        };
        self.notes.add(node.at, code, path, text);
    }
}

/// Returns a type's name as used in messages, and true if the value has that type.
fn is_of_type(what: &JsonKind<'_>, name: &str) -> (&'static str, bool) {
    match name {
        "object" => ("an object", matches!(what, JsonKind::Object(_))),
        "array" => ("a list", matches!(what, JsonKind::List(_))),
        "number" => ("a number", matches!(what, JsonKind::Number(_))),
        "boolean" => ("true or false", matches!(what, JsonKind::Bool)),
        _ => ("a text in quotes", matches!(what, JsonKind::Text(_))),
    }
}

struct JsonNode<'a> {
    at: usize,
    what: JsonKind<'a>,
}

enum JsonKind<'a> {
    Null,
    Bool,
    Number(&'a str),
    /// Raw text with its escapes.
    Text(&'a str),
    List(Vec<JsonNode<'a>>),
    Object(Vec<(&'a str, JsonNode<'a>)>),
}

/// Parses JSON with positions. It need not detect syntax errors, because the text has been parsed before.
struct JsonReader<'a> {
    text: &'a str,
    at: usize,
    left: usize,
}

impl<'a> JsonReader<'a> {
    /// Returns the next value; `None` if there is none, or a limit on number or depth is reached.
    fn node(&mut self, depth: usize) -> Option<JsonNode<'a>> {
        self.left = self.left.checked_sub(1)?;
        let at = self.skip_space();
        let what = match self.peek()? {
            b'{' | b'[' if depth >= MAX_DEPTH => return None,
            b'{' => self.members(depth)?,
            b'[' => self.list(depth)?,
            b'"' => JsonKind::Text(self.string()?),
            b'n' => self.word().map(|_| JsonKind::Null)?,
            b't' | b'f' => self.word().map(|_| JsonKind::Bool)?,
            _ => JsonKind::Number(self.word()?),
        };
        Some(JsonNode { at, what })
    }

    fn members(&mut self, depth: usize) -> Option<JsonKind<'a>> {
        let mut members = Vec::new();
        self.at += 1;
        while self.more(b'}')? {
            let key = self.string()?;
            self.skip_space();
            self.at += usize::from(self.peek()? == b':');
            members.push((key, self.node(depth + 1)?));
        }
        Some(JsonKind::Object(members))
    }

    fn list(&mut self, depth: usize) -> Option<JsonKind<'a>> {
        let mut list = Vec::new();
        self.at += 1;
        while self.more(b']')? {
            list.push(self.node(depth + 1)?);
        }
        Some(JsonKind::List(list))
    }

    /// True if another member follows. Consumes the closing bracket otherwise.
    fn more(&mut self, end: u8) -> Option<bool> {
        self.skip_space();
        if self.peek()? == b',' {
            self.at += 1;
            self.skip_space();
        }
        let ends = self.peek()? == end;
        self.at += usize::from(ends);
        Some(!ends)
    }

    fn string(&mut self) -> Option<&'a str> {
        let body = self.text[self.at..].strip_prefix('"')?;
        let mut end = 0;
        loop {
            end += body[end..].find(['"', '\\'])?;
            if body.as_bytes()[end] == b'"' {
                self.at += end + 2;
                return Some(&body[..end]);
            }
            // An escaped character, of one or more bytes, does not end the string.
            end += 1 + body[end + 1..].chars().next()?.len_utf8();
        }
    }

    fn word(&mut self) -> Option<&'a str> {
        let rest = &self.text[self.at..];
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || "+-.".contains(c))).unwrap_or(rest.len());
        self.at += end;
        (end > 0).then(|| &rest[..end])
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) -> usize {
        self.at += self.text[self.at..].bytes().take_while(u8::is_ascii_whitespace).count();
        self.at
    }
}
