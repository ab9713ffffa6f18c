//! Rows of feeds and sites, one partition per slot.

use crate::error::corrupt;
use crate::item::{self, Item, KEY, number, text, text_of};
use crate::pack::pack;
use crate::table::{Read, Span, Table, existing};
use async_trait::async_trait;
use aws_sdk_dynamodb::types::AttributeValue;
use curlew_model::{Slot, Source, SourceKey};
use curlew_ports::{PortError, Sources, Version};
use std::collections::{BTreeMap, BTreeSet};

/// Partition key: the slot, which is a minute of the polling cycle.
const SLOT: &str = "slot";
/// Number of hexadecimal digits of a key that determine its slot: 64 bits.
const SLOT_DIGITS: usize = 16;
/// Minimum number of keys in a slot for which one range request reads the rows. A request bills the bytes of all its
/// rows; a row that is read alone is billed as at least four kilobytes.
const TOGETHER: usize = 32;
/// Maximum number of rows that the range request reads per key. The caller reads the remaining rows one by one.
const SPREAD: usize = 4;

/// Sources: one item for each feed and each site.
#[derive(Clone, Debug)]
pub(crate) struct SourceTable(pub(crate) Table);

impl SourceTable {
    /// Reads the rows of `keys` in a slot through a range from the first to the last key, eventually consistently.
    async fn between(&self, slot: Slot, keys: &BTreeSet<&SourceKey>) -> Result<Vec<(Source, Version)>, PortError> {
        let (Some(first), Some(last)) = (keys.first(), keys.last()) else { return Ok(Vec::new()) };
        let span = Span::Range((SLOT, number(slot.index())), (KEY, text(first.as_str()), text(last.as_str())));
        let items = self.0.list("read sources of a slot", &span, None, keys.len() * SPREAD).await?;
        let asked: BTreeSet<&str> = keys.iter().map(|key| key.as_str()).collect();
        let is_asked = |item: &&Item| text_of(item, KEY).is_some_and(|key| asked.contains(key));
        items.iter().filter(is_asked).map(versioned).collect()
    }
}

#[async_trait]
impl Sources for SourceTable {
    /// Reads eventually consistently, for half the price, and again strongly if nothing is found. A swap with a stale
    /// version fails with a conflict.
    async fn get(&self, key: &SourceKey) -> Result<Option<(Source, Version)>, PortError> {
        let ask = |read| self.0.get("read a source", place(key), read);
        let found = if let Some(item) = ask(Read::Eventual).await? { Some(item) } else { ask(Read::Strong).await? };
        found.as_ref().map(versioned).transpose()
    }

    /// Reads sources of slots with many of the keys, eventually consistently; leaves out the others.
    async fn get_together(&self, keys: &[SourceKey]) -> Result<Vec<(Source, Version)>, PortError> {
        let mut slots: BTreeMap<u16, BTreeSet<&SourceKey>> = BTreeMap::new();
        for key in keys {
            slots.entry(slot(key).index()).or_default().insert(key);
        }
        let mut found = Vec::new();
        for (index, of_slot) in slots.into_iter().filter(|(_, of_slot)| of_slot.len() >= TOGETHER) {
            found.extend(self.between(Slot::from_hash(index.into()), &of_slot).await?);
        }
        Ok(found)
    }

    async fn insert(&self, source: &Source) -> Result<bool, PortError> {
        let state = checked(source)?;
        self.0.insert("keep a source", place(source.key()), state).await
    }

    async fn swap(&self, seen: Version, source: &Source) -> Result<Version, PortError> {
        let state = checked(source)?;
        self.0.swap("keep a source", place(source.key()), existing(seen)?, state).await
    }

    async fn in_slot(&self, slot: Slot, after: Option<&SourceKey>, limit: usize) -> Result<Vec<Source>, PortError> {
        let span = Span::Partition(SLOT, number(slot.index()));
        let after = after.map(|key| at(slot, key));
        let items = self.0.list("list the sources of a slot", &span, after, limit).await?;
        items.iter().map(source).collect()
    }

    /// Lists slot by slot, in the order of DynamoDB's hashes of the slots.
    async fn list(&self, after: Option<&SourceKey>, limit: usize) -> Result<Vec<Source>, PortError> {
        let items = self.0.list("list the sources", &Span::All, after.map(place), limit).await?;
        items.iter().map(source).collect()
    }
}

/// Returns the slot of a key. A new source gets its slot by the same rule, so the key alone locates the row.
fn slot(key: &SourceKey) -> Slot {
    Slot::from_hash(u64::from_str_radix(&key.as_str()[..SLOT_DIGITS], 16).unwrap_or(0))
}

/// Returns the packed source. Fails if its slot is not that of its key: the row could not be found again.
fn checked(source: &Source) -> Result<AttributeValue, PortError> {
    let (key, said, right) = (source.key(), source.slot().index(), slot(source.key()).index());
    if said != right {
        return Err(corrupt(what(key.as_str()), format!("its slot is {said}, but its key gives slot {right}")));
    }
    pack(|| what(key.as_str()), source)
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

fn versioned(item: &Item) -> Result<(Source, Version), PortError> {
    item::versioned(|| what(text_of(item, KEY).unwrap_or_default()), item)
}

fn source(item: &Item) -> Result<Source, PortError> {
    item::value(|| what(text_of(item, KEY).unwrap_or_default()), item)
}
