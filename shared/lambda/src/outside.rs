//! The world around a function that is not in Lambda.

use curlew_aws::Connection;
use curlew_ports::{Clock, Fetch, Seeds};
use std::sync::Arc;

/// All that is outside of a function.
#[derive(Clone)]
pub struct Outside {
    /// The way to the stack.
    pub connection: Connection,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Chance.
    pub seeds: Arc<dyn Seeds>,
    /// Calls to sites.
    pub fetch: Arc<dyn Fetch>,
}
