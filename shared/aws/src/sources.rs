//! Rows of feeds and sites, one partition for each slot.

use crate::error::corrupt;
use crate::item::{Item, KEY, number, state, text, text_of, version};
use crate::pack::{pack, unpack};
use crate::table::{Read, Span, Table};
use async_trait::async_trait;
use curlew_model::{Slot, Source, SourceKey};
use curlew_ports::{PortError, Sources, Version};

/// The partition: the minute of the cycle.
const SLOT: &str = "slot";
/// Number of hexadecimal digits of a key that determine its slot: 64 bits.
const SLOT_DIGITS: usize = 16;

/// One item for each feed and each site.
#[derive(Clone, Debug)]
pub struct SourceTable {
    table: Table,
}

impl SourceTable {
    pub(crate) fn new(table: Table) -> SourceTable {
        SourceTable { table }
    }
}

#[async_trait]
impl Sources for SourceTable {
    /// Reads eventually consistently first, at half the price, and strongly if that finds nothing. A swap by a stale
    /// version fails with a conflict.
    async fn get(&self, key: &SourceKey) -> Result<Option<(Source, Version)>, PortError> {
        let ask = |read| self.table.get("read a source", place(key), read);
        let found = match ask(Read::Eventual).await? {
            Some(item) => Some(item),
            None => ask(Read::Strong).await?,
        };
        found.map(|item| Ok((source(&item)?, version(|| what(key.as_str()), &item)?))).transpose()
    }

    async fn insert(&self, source: &Source) -> Result<bool, PortError> {
        check(source)?;
        let state = pack(|| what(source.key().as_str()), source)?;
        self.table.insert("keep a source", place(source.key()), state).await
    }

    async fn swap(&self, seen: Version, source: &Source) -> Result<Version, PortError> {
        check(source)?;
        let state = pack(|| what(source.key().as_str()), source)?;
        self.table.swap_existing("keep a source", place(source.key()), seen, state).await
    }

    async fn in_slot(&self, slot: Slot, after: Option<&SourceKey>, limit: usize) -> Result<Vec<Source>, PortError> {
        let span = Span::Partition(SLOT, number(slot.index()));
        let after = after.map(|key| at(slot, key));
        let items = self.table.list("list the sources of a slot", &span, after, limit).await?;
        items.iter().map(source).collect()
    }

    /// Lists slot by slot, in the order of DynamoDB's hashes of the slots.
    async fn list(&self, after: Option<&SourceKey>, limit: usize) -> Result<Vec<Source>, PortError> {
        let items = self.table.list("list the sources", &Span::All, after.map(place), limit).await?;
        items.iter().map(source).collect()
    }
}

/// Returns a key's slot. A new source gets its slot by the same rule, so that the key alone leads to the row.
fn slot(key: &SourceKey) -> Slot {
    Slot::of(u64::from_str_radix(&key.as_str()[..SLOT_DIGITS], 16).unwrap_or(0))
}

/// Refuses a source whose slot is not that of its key: its row could not be found again.
fn check(source: &Source) -> Result<(), PortError> {
    let (said, right) = (source.slot().index(), slot(source.key()).index());
    if said == right {
        return Ok(());
    }
    Err(corrupt(what(source.key().as_str()), format!("its slot is {said}, but its key gives slot {right}")))
}

fn place(key: &SourceKey) -> Item {
    at(slot(key), key)
}

fn at(slot: Slot, key: &SourceKey) -> Item {
    Item::from([(SLOT.to_owned(), number(slot.index())), (KEY.to_owned(), text(key.as_str()))])
}

fn what(key: &str) -> String {
    format!("the source {key}")
}

fn source(item: &Item) -> Result<Source, PortError> {
    let what = || what(text_of(item, KEY).unwrap_or_default());
    unpack(what, state(what, item)?)
}
