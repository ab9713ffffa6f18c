//! Named instants.

use crate::item::{self, Item, text};
use crate::table::{Read, Table};
use async_trait::async_trait;
use curlew_model::Timestamp;
use curlew_ports::{Marks, PortError, Version};

const PREFIX: &str = "m#";

/// Marks: one item for each name; its state is the instant in RFC 3339 format.
#[derive(Clone, Debug)]
pub(crate) struct MarkTable(pub(crate) Table);

#[async_trait]
impl Marks for MarkTable {
    async fn load(&self, name: &str) -> Result<(Option<Timestamp>, Version), PortError> {
        let Some(item) = self.0.get("read a mark", key(name), Read::Strong).await? else {
            return Ok((None, Version::ABSENT));
        };
        let (at, version) = item::versioned_text(|| format!("the mark {name}"), &item)?;
        Ok((Some(at), version))
    }

    async fn swap(&self, name: &str, seen: Version, next: Timestamp) -> Result<Version, PortError> {
        self.0.swap("keep a mark", key(name), seen, text(next.to_string())).await
    }
}

fn key(name: &str) -> Item {
    item::key(format!("{PREFIX}{name}"))
}
