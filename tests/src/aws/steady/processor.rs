//! Processor time: what work takes on a whole core, and how long that is on a function's share of one.
//!
//! The figures are constants of this repository, in milliseconds of the reference core, so that two machines come to
//! the same bill. They are estimates from the burst meter's rows of Lambda. [`calibration`](super::super::calibration),
//! a fixed piece of work, says how fast a machine is beside the reference core, so that they can be taken anew on any.

use crate::aws::call::Call;
use crate::aws::unit::MEMORY_OF_A_CORE;
use curlew_ports::CallKind;
use std::time::Duration;
use tokio::sync::Mutex;

/// Processor time of each piece of work on the reference core, in milliseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Work {
    /// An invocation, besides what follows.
    pub(super) invocation: f64,
    /// A call to a table, a queue or an object: signing, sending, reading.
    pub(super) service_call: f64,
    /// A connection to a site: its TLS handshake.
    pub(super) connection: f64,
    /// A robots.txt.
    pub(super) robots: f64,
    /// A feed.
    pub(super) feed: f64,
    /// A page, as far as fetch reads it.
    pub(super) page: f64,
    /// An image, its thumbnail included.
    pub(super) image: f64,
    /// A page, as extract reads it.
    pub(super) extract: f64,
    /// A row that dispatch reads.
    pub(super) row: f64,
    /// A page that is indexed.
    pub(super) indexed: f64,
}

/// The table.
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

/// A function's share of a core: one piece of work at a time.
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

    /// Takes the time that some milliseconds of a whole core are on this share.
    pub(super) async fn work(&self, milliseconds: f64) {
        let _turn = self.turn.lock().await;
        tokio::time::sleep(Duration::from_secs_f64(milliseconds / 1e3 / self.share)).await;
    }

    /// A call to a service, and what this function does for each of its calls.
    pub(super) async fn called(&self, call: &Call, request: &[u8]) {
        let more = match (self.function, call.operation.as_str()) {
            ("dispatch", "SendMessageBatch") => {
                // Each poll names its feed, in the text of a message.
                let count = |of: &[u8]| request.windows(of.len()).filter(|bytes| *bytes == of).count();
                WORK.row * count(b"\"Id\":\"").max(count(b"\\\"feed\\\"")).max(1) as f64
            }
            ("index", "GetItem") => WORK.indexed,
            _ => 0.0,
        };
        self.work(WORK.service_call + more).await;
    }

    /// A call to a site.
    pub(super) async fn visited(&self, kind: CallKind, is_new: bool) {
        let document = match kind {
            CallKind::Robots => WORK.robots,
            CallKind::Feed => WORK.feed,
            CallKind::Image => WORK.image,
            _ => WORK.page,
        };
        self.work(document + if is_new { WORK.connection } else { 0.0 }).await;
    }

    /// The start of an invocation with this number of messages.
    pub(super) async fn begun(&self, messages: usize) {
        let each = if self.function == "extract" { WORK.extract } else { 0.0 };
        self.work(WORK.invocation + each * messages as f64).await;
    }
}
