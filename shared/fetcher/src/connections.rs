//! Reuse of connections, and servers that close them early. A server may close an idle connection at any time (RFC 9112
//! §9.3.1), so a request may cross the end of the connection that it was written to.

use parking_lot::Mutex;
use reqwest::header::HeaderMap;
use std::cell::Cell;
use std::collections::HashSet;
use std::time::Duration;
use url::{Position, Url};

/// Maximum time that an idle connection is kept for the next call: longer than the usual pause between two calls,
/// shorter than the 5 s after which common servers close it.
pub(crate) const IDLE_TIMEOUT: Duration = Duration::from_secs(3);
/// Minimum time between [`IDLE_TIMEOUT`] and the time after which the server says that it closes a connection.
const MARGIN: Duration = Duration::from_secs(1);
/// Maximum number of servers in [`EarlyClosers`]; above it, each new one replaces another.
const MAX_SERVERS: usize = 10_000;

tokio::task_local! {
    /// True if a connection was opened for the current request.
    static OPENED: Cell<bool>;
}

/// Awaits a request; also returns true if a connection was opened for it.
pub(crate) async fn watched<T>(request: impl Future<Output = T>) -> (T, bool) {
    let watched = async { (request.await, OPENED.with(Cell::get)) };
    OPENED.scope(Cell::new(false), watched).await
}

pub(crate) fn note_opened<T>(target: T) -> T {
    // A request outside of [`watched`] records nothing.
    let _noted = OPENED.try_with(|opened| opened.set(true));
    target
}

/// Servers whose connections are not reused, since they close them sooner than the fetcher would.
#[derive(Default)]
pub(crate) struct EarlyClosers(Mutex<HashSet<String>>);

impl EarlyClosers {
    pub(crate) fn has(&self, url: &Url) -> bool {
        self.0.lock().contains(&url[..Position::AfterPort])
    }

    pub(crate) fn add(&self, url: &Url) {
        let mut servers = self.0.lock();
        let forgotten = servers.iter().next().filter(|_| servers.len() >= MAX_SERVERS).cloned();
        forgotten.map(|server| servers.remove(&server));
        servers.insert(url[..Position::AfterPort].to_owned());
    }
}

/// Returns true if `Keep-Alive: timeout=SECONDS` says that the server may close the connection before the fetcher does.
pub(crate) fn closes_early(answer: &HeaderMap) -> bool {
    let values = answer.get_all("keep-alive").iter().filter_map(|value| value.to_str().ok());
    let mut parameters = values.flat_map(|value| value.split(',')).filter_map(|parameter| parameter.split_once('='));
    parameters.any(|(name, seconds)| {
        let is_soon = |seconds| Duration::from_secs(seconds) < IDLE_TIMEOUT + MARGIN;
        name.trim().eq_ignore_ascii_case("timeout") && seconds.trim().parse().is_ok_and(is_soon)
    })
}
