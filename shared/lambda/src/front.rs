//! What the search page sees of a deployed stack.

use async_trait::async_trait;
use bytes::Bytes;
use curlew_model::{Challenge, ThumbnailId, Wish, Year};
use curlew_ports::{
    Blobs, Claimed, FindError, Found, Front, HubAnswer, HubAsks, Message, PortError, Refused, Start, StatusLine,
    SuggestError, Suggested, Told, Wished,
};
use curlew_wiring::Program;

/// Where the manifests of the index lie.
const MANIFESTS: &str = "manifests/";
/// Manifests that are listed at most; there is one a year.
const YEARS: usize = 1_000;

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

    /// Only what the manifests say: anybody may ask for it as often as they like, and counting rows would read whole
    /// tables each time.
    async fn status(&self) -> Result<Vec<StatusLine>, PortError> {
        let mut lines = Vec::new();
        for year in years(self.0.ports.blobs.as_ref()).await? {
            let pages = self.0.index.indexed(year).await?;
            lines.push(line(&format!("pages to be found: {year}"), &pages.to_string()));
        }
        if lines.is_empty() {
            lines.push(line("pages to be found", "none yet"));
        }
        lines.push(line("sites, feeds, queues, held hosts", "not counted here; the operator sees them"));
        Ok(lines)
    }
}

/// The years that have an index.
async fn years(blobs: &dyn Blobs) -> Result<Vec<Year>, PortError> {
    let keys = blobs.list(MANIFESTS, None, YEARS).await?;
    Ok(keys.iter().filter_map(|key| key.strip_prefix(MANIFESTS)?.strip_suffix(".json")?.parse().ok()).collect())
}

fn line(name: &str, value: &str) -> StatusLine {
    StatusLine { name: name.to_owned(), value: value.to_owned() }
}
