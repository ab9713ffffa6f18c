//! `curlew check`: runs one component offline, on JSON Lines (with replies in the same order) or on one document.

mod address;
mod feed;
mod page;
mod robots;
mod screen;

use crate::args::{Check, Document, Shared};
use crate::commands::config::{load, with_eye};
use crate::failure::usage;
use crate::output;
use anyhow::{Context, Result};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use curlew_policy::robots::product_token;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, BufWriter, IsTerminal, Read, Write};
use std::path::Path;
use url::Url;

/// Maximum length of a line, in bytes: 24 MiB of data as base64.
const MAX_LINE: u64 = 32 * 1024 * 1024;

struct CheckError {
    kind: &'static str,
    message: String,
}

fn bad_input(message: impl Into<String>) -> CheckError {
    CheckError { kind: "bad_input", message: message.into() }
}

struct Question(Value);

impl Question {
    fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).and_then(Value::as_str)
    }

    fn required(&self, name: &str) -> Result<&str, CheckError> {
        self.text(name).ok_or_else(|| bad_input(format!("'{name}' is missing or not a string")))
    }

    /// Returns the product token of the question's `agent`, or of the given `agent` if the question names none.
    fn token<'a>(&'a self, agent: &'a str) -> &'a str {
        match self.text("agent").unwrap_or(agent) {
            "*" => "*",
            agent => product_token(agent),
        }
    }

    fn url(&self) -> Result<Url, CheckError> {
        let text = self.required("url")?;
        Url::parse(text).map_err(|e| bad_input(format!("'url' is not a valid URL: {e}")))
    }

    /// Returns the document in the field `plain`, as text, or in the field `coded`, as base64.
    fn bytes(&self, plain: &str, coded: &str) -> Result<Vec<u8>, CheckError> {
        if let Some(text) = self.text(plain) {
            return Ok(text.as_bytes().to_vec());
        }
        let coded_text = self.text(coded).ok_or_else(|| bad_input(format!("'{plain}' or '{coded}' is needed")))?;
        STANDARD.decode(coded_text.trim()).map_err(|e| bad_input(format!("'{coded}' is not valid base64: {e}")))
    }
}

type Answer = Result<Value, CheckError>;

pub(crate) fn run(check: Check, shared: &Shared) -> Result<()> {
    let settings = || load(shared);
    let agent_of = |flag: Option<String>| flag.map_or_else(|| settings().map(|settings| settings.token), Ok);
    match check {
        Check::Robots { document, agent } => {
            let agent = agent_of(agent)?;
            each(&document, |q| robots::answer(q, &agent), &[], "robots")
        }
        Check::Feed(document) => each(&document, feed::answer, &[], "body"),
        Check::Discover(document) => each(&document, feed::discovered, &[], "html"),
        Check::Page { document, label: Some(label), .. } => {
            let right = String::from_utf8(read(&label)?).context("the correct text is not UTF-8")?;
            each(&document, page::labelled, &[("text", &right)], "html")
        }
        Check::Page { document, explain, agent, label: None } => {
            let agent = agent_of(agent)?;
            each(&document, |q| page::answer(q, &agent, explain), &[], "html")
        }
        Check::Screen { document, title, image } => {
            // Image classifiers may call a service or compute on another thread, so they need a runtime.
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            let config = with_eye(settings()?)?;
            let answer = |question: &Question| runtime.block_on(screen::answer(question, &config.judge));
            let Some(image) = image else { return each(&document, answer, &[("title", &title)], "text") };
            let image = STANDARD.encode(read(&image)?);
            if document.file.is_some() {
                return each(&document, answer, &[("title", &title), ("image_b64", &image)], "text");
            }
            let url = document.url.as_deref().unwrap_or_default();
            output::json(&reply(&json!({ "url": url, "title": title, "image_b64": image }), answer))
        }
        Check::Address(document) => {
            let config = settings()?;
            if let (None, Some(url)) = (&document.file, &document.url) {
                return output::json(&reply(&json!({ "url": url }), |q| address::answer(q, &config)));
            }
            each(&document, |q| address::answer(q, &config), &[], "url")
        }
    }
}

/// Answers each line of standard input, or the plain document if a file is named.
fn each(document: &Document, answer: impl Fn(&Question) -> Answer, extra: &[(&str, &str)], body: &str) -> Result<()> {
    if let Some(path) = &document.file {
        let bytes = read(path)?;
        let Some(url) = document.url.as_deref().or((body == "text").then_some("")) else {
            return Err(usage("a plain document needs --url, the address of the document"));
        };
        let mut question = json!({ "url": url });
        for (name, value) in extra {
            question[*name] = json!(value);
        }
        // Base64 preserves the document's encoding. Text to screen is decoded as UTF-8.
        match body {
            "text" => question["text"] = json!(String::from_utf8_lossy(&bytes)),
            "robots" => question["robots_b64"] = json!(STANDARD.encode(&bytes)),
            _ => question["body_b64"] = json!(STANDARD.encode(&bytes)),
        }
        let reply = reply(&question, answer);
        // Indent the answer for a person at a terminal.
        let is_read = std::io::stdout().is_terminal();
        return output::line(if is_read { serde_json::to_string_pretty(&reply)? } else { reply.to_string() });
    }
    let (mut input, mut out) = (BufReader::new(std::io::stdin().lock()), BufWriter::new(std::io::stdout().lock()));
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = input.by_ref().take(MAX_LINE).read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(out.flush()?);
        }
        if line.last() != Some(&b'\n') && read as u64 == MAX_LINE {
            input.skip_until(b'\n')?;
            let message = format!("the line is longer than {} MiB", MAX_LINE >> 20);
            writeln!(out, "{}", refusal(None, "too_large", &message))?;
        } else if !line.trim_ascii().is_empty() {
            let reply = match serde_json::from_slice::<Value>(&line) {
                Ok(question) => reply(&question, &answer),
                Err(error) => refusal(None, "bad_json", &error.to_string()),
            };
            writeln!(out, "{reply}")?;
        }
        if input.buffer().is_empty() {
            // A program that asks line by line waits for each answer.
            out.flush()?;
        }
    }
}

fn read(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).with_context(|| format!("{} cannot be read", path.display()))
}

fn reply(question: &Value, answer: impl Fn(&Question) -> Answer) -> Value {
    let id = question.get("id").cloned();
    if !question.is_object() {
        return refusal(id, "bad_input", "the line is not a JSON object");
    }
    let question = Question(question.clone());
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| answer(&question))) {
        Ok(Ok(mut answer)) => {
            if let Some(id) = id {
                answer["id"] = id;
            }
            answer
        }
        Ok(Err(error)) => refusal(id, error.kind, &error.message),
        Err(_) => refusal(id, "panic", "the component panicked; please report the document"),
    }
}

fn refusal(id: Option<Value>, kind: &str, message: &str) -> Value {
    json!({"id": id, "error": {"kind": kind, "message": message}})
}
