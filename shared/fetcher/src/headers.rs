//! Headers of requests, and the headers of answers that are kept.

use crate::config::{Config, ConfigError};
use crate::decode::OFFERED;
use crate::media;
use curlew_model::{Exchange, SignatureHeaders, Validators};
use curlew_ports::{Call, CallKind, ReplyHeaders};
use reqwest::Response;
use reqwest::header::{self, HeaderMap, HeaderName, HeaderValue};
use url::{Position, Url};

/// Maximum length of a header value that is kept or sent back, in bytes.
const MAX_HEADER_BYTES: usize = 1_024;
/// Maximum length of values that are used at once and not stored, in bytes: a Location may be as long as a URL, and a
/// noindex directive must not be lost because of its length.
const MAX_DIRECTIVE_BYTES: usize = 8_192;
/// Maximum number of header lines that are returned unchanged, and maximum length of each name and value in bytes.
const MAX_LINES: usize = 64;
const MAX_LINE_BYTES: usize = 64;
/// Maximum length of the head of an answer that is stored raw, in bytes.
const MAX_EXCHANGE_BYTES: usize = 32 << 10;
/// Headers that describe the coding of a body on the wire, which is stored decoded.
const OF_WIRE: [HeaderName; 3] = [header::CONTENT_ENCODING, header::TRANSFER_ENCODING, header::CONTENT_LENGTH];

/// Maximum length of an `Accept-Signature` that is kept, in bytes: a few signatures with their parameters.
const MAX_ACCEPT_SIGNATURE_BYTES: usize = 4_096;

pub(crate) struct Agents {
    page: HeaderValue,
    feed: HeaderValue,
}

impl Agents {
    pub(crate) fn new(config: &Config) -> Result<Agents, ConfigError> {
        let value = |text: &str| {
            let usable = HeaderValue::from_str(text).ok().filter(|_| !text.trim().is_empty());
            usable.ok_or_else(|| ConfigError::Agent(text.chars().take(80).collect()))
        };
        Ok(Agents { page: value(&config.page_agent)?, feed: value(&config.feed_agent)? })
    }
}

/// Returns the headers of a call. A validator that cannot be sent byte for byte is left out.
pub(crate) fn of_call(call: &Call, agents: &Agents) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let agent = match call.kind {
        CallKind::Feed | CallKind::Sitemap | CallKind::Hub | CallKind::Receiver => &agents.feed,
        _ => &agents.page,
    };
    headers.insert(header::USER_AGENT, agent.clone());
    headers.insert(header::ACCEPT, HeaderValue::from_static(media::accept(call.kind)));
    headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static(OFFERED));
    if let Some(post) = &call.post {
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(post.content_type));
        for (name, text) in &post.headers {
            if let Ok(value) = HeaderValue::from_str(text) {
                headers.append(HeaderName::from_static(name), value);
            }
        }
    }
    // Any language: each site is read in its own language.
    headers.insert(header::ACCEPT_LANGUAGE, HeaderValue::from_static("*"));
    let Validators { etag, last_modified } = &call.validators;
    for (name, text) in [(header::IF_NONE_MATCH, etag), (header::IF_MODIFIED_SINCE, last_modified)] {
        let text = text.as_deref().filter(|text| !text.is_empty() && text.len() <= MAX_HEADER_BYTES);
        if let Some(value) = text.and_then(|text| HeaderValue::from_bytes(text.as_bytes()).ok()) {
            headers.insert(name, value);
        }
    }
    if let Some(SignatureHeaders { agent, input, signature }) = &call.signature {
        let lines = [("signature-agent", agent), ("signature-input", input), ("signature", signature)];
        for (name, text) in lines {
            if let Ok(value) = HeaderValue::from_str(text) {
                headers.insert(HeaderName::from_static(name), value);
            }
        }
    }
    headers
}

/// Returns the headers of an answer that are used; values that are too long or not UTF-8 are left out.
pub(crate) fn of_reply(headers: &HeaderMap) -> ReplyHeaders {
    let first = |name: HeaderName| headers.get(name).and_then(|v| text(v, MAX_HEADER_BYTES));
    let every = |name: HeaderName, most: usize| -> Vec<String> {
        headers.get_all(name).iter().filter_map(|v| text(v, most)).collect()
    };
    let joined = |name: HeaderName, most: usize| {
        Some(every(name, most).join(", ")).filter(|joined| !joined.is_empty() && joined.len() <= most)
    };
    ReplyHeaders {
        content_type: first(header::CONTENT_TYPE),
        validators: Validators { etag: first(header::ETAG), last_modified: first(header::LAST_MODIFIED) },
        location: headers.get(header::LOCATION).and_then(|v| text(v, MAX_DIRECTIVE_BYTES)),
        refresh: headers.get(header::REFRESH).and_then(|v| text(v, MAX_DIRECTIVE_BYTES)),
        retry_after: first(header::RETRY_AFTER),
        cache_control: joined(header::CACHE_CONTROL, MAX_HEADER_BYTES),
        age: first(header::AGE),
        expires: first(header::EXPIRES),
        robots_tags: every(HeaderName::from_static("x-robots-tag"), MAX_DIRECTIVE_BYTES),
        structured_robots_tags: headers.get_all("robots-tag").iter().filter_map(cut).collect(),
        links: every(header::LINK, MAX_HEADER_BYTES),
        accept_signature: joined(HeaderName::from_static("accept-signature"), MAX_ACCEPT_SIGNATURE_BYTES),
        lines: headers.iter().take(MAX_LINES).map(|(name, value)| line(name, value)).collect(),
    }
}

/// Returns the heads of a call in HTTP/1.1 syntax, whatever the actual version. Lines that are too long are left out.
pub(crate) fn exchange(url: &Url, sent: &HeaderMap, response: &Response) -> Exchange {
    let mut request = format!("GET {} HTTP/1.1\r\n", &url[Position::BeforePath..Position::AfterQuery]);
    if !sent.contains_key(header::HOST) {
        request.push_str(&format!("host: {}\r\n", &url[Position::BeforeHost..Position::AfterPort]));
    }
    let mut answer = format!("HTTP/1.1 {}\r\n", response.status());
    append(&mut request, sent.iter());
    append(&mut answer, response.headers().iter().filter(|(name, _)| !OF_WIRE.contains(name)));
    Exchange { request, response: answer }
}

fn append<'a>(head: &mut String, lines: impl Iterator<Item = (&'a HeaderName, &'a HeaderValue)>) {
    for (name, value) in lines {
        let value = String::from_utf8_lossy(value.as_bytes());
        let room = MAX_EXCHANGE_BYTES.saturating_sub(head.len());
        if value.len() <= MAX_DIRECTIVE_BYTES && name.as_str().len() + value.len() + 4 <= room {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
    }
}

fn line(name: &HeaderName, value: &HeaderValue) -> (String, String) {
    let start = value.as_bytes().get(..MAX_LINE_BYTES).unwrap_or(value.as_bytes());
    (name.as_str().chars().take(MAX_LINE_BYTES).collect(), String::from_utf8_lossy(start).into_owned())
}

/// Returns a value cut to the maximum length of a directive; the parser drops an incomplete last member.
fn cut(value: &HeaderValue) -> Option<String> {
    // A byte above the limit shows that the value was cut.
    let bytes = value.as_bytes().get(..=MAX_DIRECTIVE_BYTES).unwrap_or(value.as_bytes());
    std::str::from_utf8(bytes).ok().map(str::to_owned)
}

fn text(value: &HeaderValue, most: usize) -> Option<String> {
    let text = std::str::from_utf8(value.as_bytes()).ok()?;
    (1..=most).contains(&text.len()).then(|| text.to_owned())
}
