//! Items and their common attributes.

use crate::error::corrupt;
use aws_sdk_dynamodb::types::AttributeValue;
use curlew_ports::{PortError, Version};
use std::collections::HashMap;

/// An item, or the key of one. Attribute names are short since they are billed with every write.
pub(crate) type Item = HashMap<String, AttributeValue>;

/// The version: a number that grows with each write and is never used twice.
pub(crate) const VERSION: &str = "v";
/// The state.
pub(crate) const STATE: &str = "s";
/// The name of the write that made it.
pub(crate) const WRITE: &str = "w";
/// The key attribute of all tables but that of parked jobs.
pub(crate) const KEY: &str = "k";

/// Returns a text attribute.
pub(crate) fn text(value: impl Into<String>) -> AttributeValue {
    AttributeValue::S(value.into())
}

/// Returns a number attribute.
pub(crate) fn number(value: impl ToString) -> AttributeValue {
    AttributeValue::N(value.to_string())
}

/// Returns the key of an item in a table with one key attribute.
pub(crate) fn key(value: impl Into<String>) -> Item {
    Item::from([(KEY.to_owned(), text(value))])
}

/// Returns the version of an item.
pub(crate) fn version(what: impl FnOnce() -> String, item: &Item) -> Result<Version, PortError> {
    match item.get(VERSION) {
        Some(AttributeValue::N(digits)) => digits.parse().map(Version).map_err(|e| corrupt(what(), e)),
        _ => Err(corrupt(what(), "it has no version")),
    }
}

/// Returns the state of an item, still packed.
pub(crate) fn state(what: impl FnOnce() -> String, item: &Item) -> Result<&AttributeValue, PortError> {
    item.get(STATE).ok_or_else(|| corrupt(what(), "it has no state"))
}

/// Returns the text in an attribute of an item.
pub(crate) fn text_of<'a>(item: &'a Item, name: &str) -> Option<&'a str> {
    item.get(name)?.as_s().ok().map(String::as_str)
}

/// Returns the number in an attribute of an item.
pub(crate) fn number_of(item: &Item, name: &str) -> Option<i64> {
    item.get(name)?.as_n().ok()?.parse().ok()
}
