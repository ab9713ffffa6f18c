//! What the search page sees of a deployed stack.

use async_trait::async_trait;
use bytes::Bytes;
use curlew_model::{Challenge, ThumbnailId, Wish};
use curlew_ports::{
    Claimed, FindError, Found, Front, HubAnswer, HubAsks, Message, PortError, Refused, Start, Status, SuggestError,
    Suggested, Told, Wished,
};
use curlew_stages::indexed_years;
use curlew_wiring::Program;

/// A stack behind the search page.
pub(crate) struct Behind(pub(crate) Program);

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

    /// Only what the manifests say: counting rows would read whole tables each time that anybody asks.
    async fn status(&self) -> Result<Status, PortError> {
        let index = indexed_years(self.0.ports.blobs.as_ref()).await?;
        Ok(Status { index, ..Status::default() })
    }
}
