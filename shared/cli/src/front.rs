//! What the search page sees of the program.

use crate::commands;
use crate::world::World;
use async_trait::async_trait;
use bytes::Bytes;
use curlew_model::{Challenge, ThumbnailId, Wish};
use curlew_ports::{
    Claimed, FindError, Found, Front, HubAnswer, HubAsks, Message, PortError, Refused, Start, Status, SuggestError,
    Suggested, Told, Wished,
};
use std::sync::Arc;

/// The embedded program behind the search page.
pub(crate) struct Behind(pub(crate) Arc<World>);

#[async_trait]
impl Front for Behind {
    async fn find(&self, query: &str, start: Start<'_>, limit: usize) -> Result<Found, FindError> {
        self.0.finder.find(query, start, limit).await
    }

    async fn suggest(&self, url: &str) -> Result<Suggested, SuggestError> {
        self.0.suggest.offered(url).await
    }

    fn site_of(&self, typed: &str) -> Result<String, Refused> {
        self.0.owners.site_of(typed)
    }

    async fn claimed(&self, host: &str, challenge: &Challenge) -> Result<Claimed, PortError> {
        Ok(self.0.owners.claimed(host, challenge).await?)
    }

    async fn wished(&self, host: &str, challenge: &Challenge, wish: Wish) -> Result<Wished, PortError> {
        Ok(self.0.owners.wished(host, challenge, wish).await?)
    }

    async fn tell(&self, message: &Message) -> Result<Told, PortError> {
        Ok(self.0.messages.take(message).await?)
    }

    async fn hub_asks(&self, callback: &str, asked: &HubAsks<'_>) -> Result<HubAnswer, PortError> {
        self.0.pushes.asked(callback, asked).await
    }

    async fn hub_tells(&self, callback: &str, signature: Option<&str>, body: &[u8]) -> Result<HubAnswer, PortError> {
        self.0.pushes.told(callback, signature, body).await
    }

    async fn thumbnail(&self, id: &ThumbnailId) -> Result<Option<Bytes>, PortError> {
        curlew_stages::thumbnail(self.0.ports.blobs.as_ref(), id).await
    }

    async fn status(&self) -> Result<Status, PortError> {
        let failed = |e| PortError::Unavailable { what: format!("the status cannot be read: {e:#}"), source: None };
        let counted = commands::status::Status::gather(&self.0).await.map_err(failed)?;
        let due_since = self.0.ports.inbox.next_due().await?.filter(|due| *due <= self.0.clock.now());
        Ok(Status { due_since, ..counted.for_anybody() })
    }
}
