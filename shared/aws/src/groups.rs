//! Leases that polls of a group share.

use crate::item::{self, Item};
use crate::pack::{pack, unpack};
use crate::table::{Read, Table};
use async_trait::async_trait;
use curlew_model::{GroupLease, PollGroup};
use curlew_ports::{GroupLeases, PortError, Version};

/// Prefix of the keys of groups.
const PREFIX: &str = "g#";

/// Leases of poll groups: one item for each group, in the table of host states.
#[derive(Clone, Debug)]
pub struct GroupTable {
    table: Table,
}

impl GroupTable {
    pub(crate) fn new(table: Table) -> GroupTable {
        GroupTable { table }
    }
}

#[async_trait]
impl GroupLeases for GroupTable {
    async fn load(&self, group: PollGroup) -> Result<(Option<GroupLease>, Version), PortError> {
        let Some(item) = self.table.get("read the lease of a poll group", key(group), Read::Strong).await? else {
            return Ok((None, Version::ABSENT));
        };
        let lease = unpack(|| what(group), item::state(|| what(group), &item)?)?;
        Ok((Some(lease), item::version(|| what(group), &item)?))
    }

    async fn swap(&self, group: PollGroup, seen: Version, next: GroupLease) -> Result<Version, PortError> {
        let state = pack(|| what(group), &next)?;
        self.table.swap("keep the lease of a poll group", key(group), seen, state).await
    }
}

fn key(group: PollGroup) -> Item {
    item::key(format!("{PREFIX}{}", group.number()))
}

fn what(group: PollGroup) -> String {
    format!("the lease of poll group {}", group.number())
}
