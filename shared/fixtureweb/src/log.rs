//! The log: one line for every call, written when its response has been sent or dropped.

use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::Write as _;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Maximum number of calls kept in memory; later calls are only written to the file.
pub(crate) const MAX_CALLS: usize = 1_000_000;

/// Maximum length in bytes of a logged header value.
const MAX_HEADER_VALUE: usize = 1024;

/// Kind of the requested document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// `/robots.txt` and the targets of its redirects.
    Robots,
    /// A site's home page, or a redirect to it.
    Home,
    /// A feed.
    Feed,
    /// A sitemap.
    Sitemap,
    /// A page in a feed, or a redirect to one.
    Page,
    /// A picture.
    Image,
    /// An address without a document.
    Other,
}

/// A call and its answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// The `Host` header, lower case, without a port.
    pub host: String,
    /// Path and query.
    pub path: String,
    /// The method, such as `GET`.
    pub method: String,
    /// Kind of the requested document.
    pub kind: Kind,
    /// Status of the answer; 0 if the connection was closed without an answer.
    pub status: u16,
    /// Microseconds from the server's start to the end of the request's header.
    pub start: u64,
    /// Microseconds from the server's start until the whole body was passed to the socket, or dropped.
    pub end: u64,
    /// Length of the response's body in bytes, after content coding.
    pub bytes: u64,
    /// The `User-Agent` header.
    pub user_agent: String,
    /// All request headers in the order received; names in lower case, values cut at 1,024 bytes.
    pub headers: Vec<(String, String)>,
}

impl Call {
    /// Returns the first request header of this name (lower case).
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }
}

/// Finished calls, in the order of their ends.
#[derive(Debug)]
pub(crate) struct Log {
    began: Instant,
    calls: Mutex<Vec<Call>>,
    file: Option<Mutex<File>>,
}

impl Log {
    pub(crate) fn new(file: Option<File>) -> Log {
        Log { began: Instant::now(), calls: Mutex::new(Vec::new()), file: file.map(Mutex::new) }
    }

    /// Returns the microseconds since the server's start.
    pub(crate) fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    pub(crate) fn end(&self, mut call: Call) {
        call.end = self.now();
        if let Some(file) = &self.file
            && let Ok(mut line) = serde_json::to_vec(&call)
        {
            line.push(b'\n');
            // A full disk must not stop the server; the missing lines reveal it.
            let _ = file.lock().unwrap_or_else(PoisonError::into_inner).write_all(&line);
        }
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        if calls.len() < MAX_CALLS {
            calls.push(call);
        }
    }

    /// Returns all finished calls, sorted by start time.
    pub(crate) fn calls(&self) -> Vec<Call> {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner).clone();
        calls.sort_by_key(|call| call.start);
        calls
    }

    pub(crate) fn clear(&self) {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// Returns header names and values as text, truncated for the log.
pub(crate) fn readable(headers: &hyper::HeaderMap) -> Vec<(String, String)> {
    let cut = |value: &[u8]| String::from_utf8_lossy(&value[..value.len().min(MAX_HEADER_VALUE)]).into_owned();
    headers.iter().map(|(name, value)| (name.as_str().to_owned(), cut(value.as_bytes()))).collect()
}
