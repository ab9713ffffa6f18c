//! Processor time: what each kind of work needs on a whole core, and how long that takes on a function's share of one.
//!
//! The figures are constants of this repository, in milliseconds of the reference core, so that two machines get the
//! same bill. They are estimates from the burst meter's rows of Lambda. [`calibration`](super::super::calibration), a
//! fixed piece of work, compares a machine with the reference core, so the figures can be measured again on any
//! machine.

use crate::aws::call::Call;
use crate::aws::unit::MEMORY_OF_A_CORE;
use curlew_ports::CallKind;
use std::time::Duration;
use tokio::sync::Mutex;

/// Processor time of each kind of work on the reference core, in milliseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Work {
    /// An invocation, without the work below.
    pub(super) invocation: f64,
    /// A call to a table, a queue or an object: signing, sending, reading.
    pub(super) service_call: f64,
    /// A connection to a site: its TLS handshake.
    pub(super) connection: f64,
    /// Parsing a robots.txt.
    pub(super) robots: f64,
    /// Reading a feed.
    pub(super) feed: f64,
    /// A page, in the fetch stage.
    pub(super) page: f64,
    /// An image and its thumbnail.
    pub(super) image: f64,
    /// A page, in the extract stage.
    pub(super) extract: f64,
    /// Reading a row in dispatch.
    pub(super) row: f64,
    /// Indexing a page.
    pub(super) indexed: f64,
}

/// The estimates.
pub(super) const WORK: Work = Work {
    invocation: 2.0,
    service_call: 0.15,
    connection: 1.5,
    robots: 0.3,
    feed: 0.4,
    page: 2.5,
    image: 4.0,
    extract: 4.5,
    row: 0.05,
    indexed: 3.0,
};

/// A function's share of a core, which does one piece of work at a time.
#[derive(Debug)]
pub(super) struct Processor {
    function: &'static str,
    share: f64,
    turn: Mutex<()>,
}

impl Processor {
    pub(super) fn new(function: &'static str, memory_mb: u32) -> Processor {
        Processor { function, share: (f64::from(memory_mb) / MEMORY_OF_A_CORE).min(1.0), turn: Mutex::default() }
    }

    /// Waits for as long as this share needs for `milliseconds` of a whole core.
    pub(super) async fn work(&self, milliseconds: f64) {
        let _turn = self.turn.lock().await;
        tokio::time::sleep(Duration::from_secs_f64(milliseconds / 1e3 / self.share)).await;
    }

    /// Accounts for a call to a service, and the function's own work for it.
    pub(super) async fn called(&self, call: &Call, request: &[u8]) {
        let more = match (self.function, call.operation.as_str()) {
            ("dispatch", "SendMessageBatch") => {
                // Each poll names its feed in the text of a message.
                let count = |of: &[u8]| request.windows(of.len()).filter(|bytes| *bytes == of).count();
                WORK.row * count(b"\"Id\":\"").max(count(b"\\\"feed\\\"")).max(1) as f64
            }
            ("index", "GetItem") => WORK.indexed,
            _ => 0.0,
        };
        self.work(WORK.service_call + more).await;
    }

    pub(super) async fn visited(&self, kind: CallKind, is_new: bool) {
        let document = match kind {
            CallKind::Robots => WORK.robots,
            CallKind::Feed => WORK.feed,
            CallKind::Image => WORK.image,
            _ => WORK.page,
        };
        self.work(document + if is_new { WORK.connection } else { 0.0 }).await;
    }

    /// Accounts for the start of an invocation with this number of messages.
    pub(super) async fn begun(&self, messages: usize) {
        let each = if self.function == "extract" { WORK.extract } else { 0.0 };
        self.work(WORK.invocation + each * messages as f64).await;
    }
}
