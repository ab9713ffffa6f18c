//! What the pages see of a program: the same in one process and on AWS, but for what is told of its status.

use crate::Program;
use async_trait::async_trait;
use bytes::Bytes;
use curlew_model::{Challenge, ThumbnailId, Wish};
use curlew_ports::{
    Claimed, FindError, Found, Front, HubAnswer, HubAsks, HubDelivery, Message, PortError, Refused, Start, Status,
    SuggestError, Suggested, Told, Wished,
};

/// A program whose pages are served.
#[async_trait]
pub trait Served: Send + Sync {
    /// The program.
    fn program(&self) -> &Program;

    /// See [`Front::status`].
    ///
    /// # Errors
    /// Transport errors.
    async fn status(&self) -> Result<Status, PortError>;
}

/// Such a program behind its pages.
pub struct Behind<S>(pub S);

#[async_trait]
impl<S: Served> Front for Behind<S> {
    async fn find(&self, query: &str, start: Start<'_>, limit: usize) -> Result<Found, FindError> {
        self.0.program().finder.find(query, start, limit).await
    }

    async fn suggest(&self, url: &str) -> Result<Suggested, SuggestError> {
        self.0.program().suggest.offered(url).await
    }

    fn site_of(&self, typed: &str) -> Result<String, Refused> {
        self.0.program().owners.site_of(typed)
    }

    async fn claimed(&self, host: &str, challenge: &Challenge) -> Result<Claimed, PortError> {
        Ok(self.0.program().owners.claimed(host, challenge).await?)
    }

    async fn wished(&self, host: &str, challenge: &Challenge, wish: Wish, may_call: bool) -> Result<Wished, PortError> {
        Ok(self.0.program().owners.wished(host, challenge, wish, may_call).await?)
    }

    async fn tell(&self, message: &Message) -> Result<Told, PortError> {
        Ok(self.0.program().messages.take(message).await?)
    }

    async fn hub_asks(&self, callback: &str, asked: &HubAsks<'_>) -> Result<HubAnswer, PortError> {
        self.0.program().pushes.asked(callback, asked).await
    }

    async fn hub_delivers(&self, callback: &str, signature: Option<&str>) -> Result<HubDelivery, PortError> {
        self.0.program().pushes.delivers(callback, signature).await
    }

    async fn hub_delivered(&self, callback: &str) -> Result<HubAnswer, PortError> {
        self.0.program().pushes.delivered(callback).await
    }

    async fn thumbnail(&self, id: &ThumbnailId) -> Result<Option<Bytes>, PortError> {
        curlew_stages::catalog::thumbnails::thumbnail(self.0.program().ports.blobs.as_ref(), id).await
    }

    async fn status(&self) -> Result<Status, PortError> {
        self.0.status().await
    }
}
