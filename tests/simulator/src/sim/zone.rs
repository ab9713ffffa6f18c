//! The DNS of the model web.

use super::stores::Shared;
use async_trait::async_trait;
use bytes::Bytes;
use curlew_model::Way;
use curlew_policy::site::ownership;
use curlew_ports::Names;
use std::sync::Arc;

/// The DNS, in which some owners publish their challenges.
pub(super) struct Zone(pub(super) Arc<Shared>);

#[async_trait]
impl Names for Zone {
    async fn texts(&self, name: &str) -> Result<Vec<Bytes>, String> {
        let now = self.0.moment();
        let owners = self.0.world.owners.iter();
        let published = owners
            .filter(|owner| ownership::txt_name(&owner.host) == name && owner.publishes(&owner.host, Way::Dns, now));
        Ok(published.map(|owner| Bytes::from(owner.challenge.to_string())).collect())
    }
}
