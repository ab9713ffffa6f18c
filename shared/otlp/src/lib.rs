//! Exports the spans of jobs by the OpenTelemetry protocol (OTLP 1.x), as protobuf over HTTP.
//!
//! A [`SpanLayer`] stands beside the log and takes the spans that the stages open: one for each run of a job, in the trace
//! that the job belongs to, and one for each call within it. The [`Exporter`] sends them in batches. Between the two is a
//! queue with a limit: whoever opens spans never waits for a collector. Only the names, times and fields of spans are
//! exported, no text of the log.

mod export;
mod layer;
mod message;

pub use export::{Exporter, SetupError};
pub use layer::SpanLayer;

use std::sync::Arc;
use tokio::sync::mpsc;
use url::Url;

/// Maximum number of spans that wait to be exported; about half a kilobyte each. More are dropped, and counted.
const MAX_QUEUED_SPANS: usize = 8_192;

/// Returns both ends: the layer, and the exporter to the collector at this address. `authorization` is sent as the header
/// of that name.
///
/// # Errors
/// If the header cannot be sent, or no client can be made.
pub fn start(collector: &Url, authorization: Option<&str>) -> Result<(SpanLayer, Exporter), SetupError> {
    let (sender, receiver) = mpsc::channel(MAX_QUEUED_SPANS);
    let lost = Arc::default();
    let exporter = Exporter::new(collector, authorization, (receiver, Arc::clone(&lost)))?;
    Ok((SpanLayer::new(sender, lost), exporter))
}
