//! What the search page sees of a deployed stack.

use async_trait::async_trait;
use curlew_ports::{PortError, Status};
use curlew_stages::indexed_years;
use curlew_wiring::{Program, Served};

/// A stack, whose pages are served.
pub(crate) struct Stack(pub(crate) Program);

#[async_trait]
impl Served for Stack {
    fn program(&self) -> &Program {
        &self.0
    }

    /// Only what the manifests say: counting rows would read whole tables each time that anybody asks.
    async fn status(&self) -> Result<Status, PortError> {
        let index = indexed_years(self.0.ports.blobs.as_ref()).await?;
        Ok(Status { index, ..Status::default() })
    }
}
