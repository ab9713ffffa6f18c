//! A WebSub hub (W3C Recommendation, 23 January 2018) for the sites: it accepts subscriptions, verifies them, and
//! notifies subscribers on request. It uses plain HTTP on loopback only.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use url::form_urlencoded;

/// Host name of the hub.
pub const HUB: &str = "hub.test";
/// Maximum size of a subscription request in bytes.
pub(crate) const MAX_FORM: usize = 8 * 1024;
/// Maximum size of a subscriber's response in bytes.
const MAX_ANSWER: u64 = 64 * 1024;
/// Maximum time for a subscriber's response.
const PATIENCE: Duration = Duration::from_secs(10);
/// Challenge that a subscriber must echo.
const CHALLENGE: &str = "curlews-probe-the-mud";

/// A subscriber to a topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subscriber {
    /// Address of the feed.
    pub topic: String,
    /// Address for notifications.
    pub callback: String,
    /// Secret that signs notifications.
    pub secret: String,
    /// Granted `hub.lease_seconds`.
    pub lease_seconds: u64,
}

/// Signature of a notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signed {
    /// Signed with the subscriber's secret, with SHA-256.
    Well,
    /// Signed with another secret.
    Wrongly,
    /// Not signed.
    Not,
}

/// Confirmed subscriptions, by topic and callback.
#[derive(Debug, Default)]
pub(crate) struct Hub(Mutex<BTreeMap<(String, String), Subscriber>>);

impl Hub {
    /// Returns the confirmed subscribers.
    pub(crate) fn subscribers(&self) -> Vec<Subscriber> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    /// Accepts a request, and starts its verification. Returns false if the request is malformed.
    pub(crate) fn take(self: &Arc<Hub>, form: &[u8]) -> bool {
        let fields: BTreeMap<_, _> = form_urlencoded::parse(form).into_owned().collect();
        let field = |name: &str| fields.get(name).cloned().unwrap_or_default();
        let (mode, topic, callback) = (field("hub.mode"), field("hub.topic"), field("hub.callback"));
        if !matches!(mode.as_str(), "subscribe" | "unsubscribe") || topic.is_empty() || callback.is_empty() {
            return false;
        }
        let lease_seconds = field("hub.lease_seconds").parse().unwrap_or(86_400);
        let asked = Subscriber { topic, callback, secret: field("hub.secret"), lease_seconds };
        let hub = Arc::clone(self);
        tokio::spawn(async move { hub.ask_back(&mode, asked).await });
        true
    }

    /// Verifies a request: the response must have the challenge and a 2xx status (WebSub §5.3).
    async fn ask_back(&self, mode: &str, asked: Subscriber) {
        let mark = if asked.callback.contains('?') { '&' } else { '?' };
        let (callback, lease) = (&asked.callback, asked.lease_seconds);
        let topic: String = form_urlencoded::byte_serialize(asked.topic.as_bytes()).collect();
        let url = format!(
            "{callback}{mark}hub.mode={mode}&hub.topic={topic}&hub.challenge={CHALLENGE}&hub.lease_seconds={lease}"
        );
        let answer = exchange("GET", &url, "", b"").await;
        if !answer.is_some_and(|(status, body)| matches!(status, 200..300) && body == CHALLENGE.as_bytes()) {
            return;
        }
        let key = (asked.topic.clone(), asked.callback.clone());
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match mode {
            "subscribe" => known.insert(key, asked),
            _ => known.remove(&key),
        };
    }

    /// Notifies all subscribers of a topic; returns their statuses, 0 for one that did not respond.
    pub(crate) async fn deliver(&self, topic: &str, body: &[u8], signed: Signed) -> Vec<u16> {
        let mut statuses = Vec::new();
        for to in self.subscribers().into_iter().filter(|known| known.topic == topic) {
            let header = match signed {
                Signed::Well => signature(&to.secret, body),
                Signed::Wrongly => signature("a guess", body),
                Signed::Not => String::new(),
            };
            statuses.push(exchange("POST", &to.callback, &header, body).await.map_or(0, |(status, _)| status));
        }
        statuses
    }
}

fn signature(secret: &str, body: &[u8]) -> String {
    let Ok(mac) = Hmac::<Sha256>::new_from_slice(secret.as_bytes()) else { return String::new() };
    let digits: String = mac.chain_update(body).finalize().into_bytes().iter().map(|b| format!("{b:02x}")).collect();
    format!("X-Hub-Signature: sha256={digits}\r\n")
}

/// Sends one request on a new connection, to a loopback address only.
async fn exchange(method: &str, url: &str, header: &str, body: &[u8]) -> Option<(u16, Vec<u8>)> {
    let (authority, path) = url.strip_prefix("http://")?.split_once('/')?;
    let addr: SocketAddr = authority.parse().ok()?;
    if !addr.ip().is_loopback() {
        return None;
    }
    let head = format!(
        "{method} /{path} HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\nContent-Length: {}\r\n{header}\r\n",
        body.len()
    );
    let talk = async {
        let mut stream = TcpStream::connect(addr).await?;
        stream.write_all(head.as_bytes()).await?;
        stream.write_all(body).await?;
        let mut answer = Vec::new();
        stream.take(MAX_ANSWER).read_to_end(&mut answer).await?;
        std::io::Result::Ok(answer)
    };
    let answer = tokio::time::timeout(PATIENCE, talk).await.ok()?.ok()?;
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n")?;
    let status = std::str::from_utf8(&answer[..end]).ok()?.split(' ').nth(1)?.parse().ok()?;
    Some((status, answer[end + 4..].to_vec()))
}
