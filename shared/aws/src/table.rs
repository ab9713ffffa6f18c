//! A DynamoDB table of versioned items.

use crate::chance::short_name;
use crate::error::RequestContext;
use crate::item::{Item, STATE, VERSION, WRITE, number};
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::operation::put_item::PutItemError;
use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::{AttributeValue, ReturnValuesOnConditionCheckFailure};
use curlew_ports::{PortError, Version};

/// Version of a new item.
const FIRST: u64 = 1;
/// Maximum number of items that one request reads, so that a long list comes in parts of bounded size.
const PAGE: usize = 1_000;

#[derive(Clone, Debug)]
pub(crate) struct Table {
    pub(crate) client: Client,
    pub(crate) name: String,
    stack: String,
}

/// Range of items that a list covers.
#[derive(Clone, Debug)]
pub(crate) enum Span {
    All,
    /// Items with an attribute that begins with a text. The other items are read and billed too.
    Beginning(&'static str, &'static str),
    /// Items of one partition, in the order of their sort keys.
    Partition(&'static str, AttributeValue),
    /// Items of one partition with sort keys between these two, both included.
    Range((&'static str, AttributeValue), (&'static str, AttributeValue, AttributeValue)),
}

/// Consistency of a read; a strongly consistent one costs twice as much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Read {
    /// Eventually consistent: writes of the last second may be missing.
    Eventual,
    /// Strongly consistent: all writes are visible.
    Strong,
}

impl Table {
    pub(crate) fn new(client: Client, name: String, stack: &str) -> Table {
        Table { client, name, stack: stack.to_owned() }
    }

    /// Describes a request to this table, for error messages.
    pub(crate) fn context<'a>(&'a self, what: &'a str) -> RequestContext<'a> {
        RequestContext { what, kind: "table", name: &self.name, stack: &self.stack }
    }

    /// Returns the item with this key.
    pub(crate) async fn get(&self, what: &str, key: Item, read: Read) -> Result<Option<Item>, PortError> {
        let get = self.client.get_item().table_name(&self.name).set_key(Some(key));
        let got = get.consistent_read(read == Read::Strong).send().await;
        Ok(got.map_err(|e| self.context(what).failed(e))?.item)
    }

    /// Writes an item unconditionally.
    pub(crate) async fn put(&self, what: &str, item: Item) -> Result<(), PortError> {
        let put = self.client.put_item().table_name(&self.name).set_item(Some(item));
        put.send().await.map(drop).map_err(|e| self.context(what).failed(e))
    }

    /// Writes an item unless it exists; returns true if it was written.
    pub(crate) async fn insert(&self, what: &str, key: Item, state: AttributeValue) -> Result<bool, PortError> {
        self.write(what, key, None, FIRST, state).await
    }

    /// Replaces an item if its version is still `seen`; inserts it if `seen` is [`Version::ABSENT`].
    pub(crate) async fn swap(
        &self,
        what: &str,
        key: Item,
        seen: Version,
        state: AttributeValue,
    ) -> Result<Version, PortError> {
        let Some(next) = seen.0.checked_add(1) else { return Err(PortError::Conflict) };
        let expected = (seen != Version::ABSENT).then_some(seen.0);
        if self.write(what, key, expected, next, state).await? { Ok(Version(next)) } else { Err(PortError::Conflict) }
    }

    /// Makes one conditional write. The condition also fails if an earlier attempt succeeded and only its response was
    /// lost; the item that DynamoDB then returns has this write's name.
    async fn write(
        &self,
        what: &str,
        mut item: Item,
        expected: Option<u64>,
        next: u64,
        state: AttributeValue,
    ) -> Result<bool, PortError> {
        let name = AttributeValue::B(Blob::new(short_name().to_be_bytes()));
        item.insert(VERSION.to_owned(), number(next));
        item.insert(STATE.to_owned(), state);
        item.insert(WRITE.to_owned(), name.clone());
        let put = self
            .client
            .put_item()
            .table_name(&self.name)
            .set_item(Some(item))
            .expression_attribute_names("#v", VERSION)
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld);
        let put = match expected {
            None => put.condition_expression("attribute_not_exists(#v)"),
            Some(seen) => put.condition_expression("#v = :seen").expression_attribute_values(":seen", number(seen)),
        };
        match put.send().await {
            Ok(_) => Ok(true),
            Err(error) => match error.as_service_error() {
                Some(PutItemError::ConditionalCheckFailedException(failed)) => {
                    Ok(failed.item().is_some_and(|there| there.get(WRITE) == Some(&name)))
                }
                _ => Err(self.context(what).failed(error)),
            },
        }
    }

    /// Returns at most `limit` items after the key `after`: in the order of the sort keys for a partition, else in the
    /// table's own order.
    pub(crate) async fn list(
        &self,
        what: &str,
        span: &Span,
        mut after: Option<Item>,
        limit: usize,
    ) -> Result<Vec<Item>, PortError> {
        let mut listed = Vec::new();
        while listed.len() < limit {
            let want = limit - listed.len();
            let (items, next) = match span {
                Span::Partition(name, value) => self.query(what, name, value, None, after, want).await?,
                Span::Range((name, value), keys) => self.query(what, name, value, Some(keys), after, want).await?,
                Span::All => self.scan(what, None, after, want).await?,
                // Many of the items that are read may have another prefix.
                Span::Beginning(name, prefix) => self.scan(what, Some((name, prefix)), after, PAGE).await?,
            };
            listed.extend(items.into_iter().take(want));
            after = next;
            if after.is_none() {
                break;
            }
        }
        Ok(listed)
    }

    /// Returns some attributes of all items. The items are read and billed in full, but sent without the other
    /// attributes.
    pub(crate) async fn list_only(&self, what: &str, attributes: &[&str]) -> Result<Vec<Item>, PortError> {
        let (mut scan, mut wanted) = (self.client.scan().table_name(&self.name), Vec::new());
        for (n, attribute) in attributes.iter().enumerate() {
            scan = scan.expression_attribute_names(format!("#a{n}"), *attribute);
            wanted.push(format!("#a{n}"));
        }
        let items = scan.projection_expression(wanted.join(",")).into_paginator().items().send();
        items.collect::<Result<_, _>>().await.map_err(|e| self.context(what).failed(e))
    }

    async fn query(
        &self,
        what: &str,
        name: &str,
        value: &AttributeValue,
        keys: Option<&(&'static str, AttributeValue, AttributeValue)>,
        after: Option<Item>,
        limit: usize,
    ) -> Result<(Vec<Item>, Option<Item>), PortError> {
        let query = self
            .client
            .query()
            .table_name(&self.name)
            .expression_attribute_names("#p", name)
            .expression_attribute_values(":p", value.clone())
            .set_exclusive_start_key(after)
            .limit(at_most(limit));
        let query = match keys {
            None => query.key_condition_expression("#p = :p"),
            Some((key, first, last)) => query
                .key_condition_expression("#p = :p AND #k BETWEEN :first AND :last")
                .expression_attribute_names("#k", *key)
                .expression_attribute_values(":first", first.clone())
                .expression_attribute_values(":last", last.clone()),
        };
        let answer = query.send().await.map_err(|e| self.context(what).failed(e))?;
        Ok((answer.items.unwrap_or_default(), answer.last_evaluated_key))
    }

    async fn scan(
        &self,
        what: &str,
        beginning: Option<(&str, &str)>,
        after: Option<Item>,
        limit: usize,
    ) -> Result<(Vec<Item>, Option<Item>), PortError> {
        let mut scan = self.client.scan().table_name(&self.name).set_exclusive_start_key(after).limit(at_most(limit));
        if let Some((name, prefix)) = beginning {
            scan = scan
                .filter_expression("begins_with(#n, :prefix)")
                .expression_attribute_names("#n", name)
                .expression_attribute_values(":prefix", AttributeValue::S(prefix.to_owned()));
        }
        let answer = scan.send().await.map_err(|e| self.context(what).failed(e))?;
        Ok((answer.items.unwrap_or_default(), answer.last_evaluated_key))
    }
}

/// Returns a version unless it is that of a missing item, which cannot be replaced.
pub(crate) fn existing(seen: Version) -> Result<Version, PortError> {
    if seen == Version::ABSENT { Err(PortError::Conflict) } else { Ok(seen) }
}

fn at_most(limit: usize) -> i32 {
    i32::try_from(limit.clamp(1, PAGE)).unwrap_or(1)
}
