//! DynamoDB items and their common attributes.

use crate::error::corrupt;
use crate::pack::unpack;
use aws_sdk_dynamodb::types::AttributeValue;
use curlew_ports::{PortError, Version};
use serde::de::DeserializeOwned;
use std::collections::HashMap;
use std::fmt::Display;
use std::str::FromStr;

/// An item or its key. Attribute names are short since every write bills them.
pub(crate) type Item = HashMap<String, AttributeValue>;

/// Attribute with the version, a number that grows with each write and is never reused.
pub(crate) const VERSION: &str = "v";
pub(crate) const STATE: &str = "s";
/// Attribute with the unique name of the write that stored the item.
pub(crate) const WRITE: &str = "w";
/// The key attribute of all tables except that of parked jobs.
pub(crate) const KEY: &str = "k";

pub(crate) fn text(value: impl Into<String>) -> AttributeValue {
    AttributeValue::S(value.into())
}

pub(crate) fn number(value: impl ToString) -> AttributeValue {
    AttributeValue::N(value.to_string())
}

/// Returns the key of an item in a table with one key attribute.
pub(crate) fn key(value: impl Into<String>) -> Item {
    Item::from([(KEY.to_owned(), text(value))])
}

fn version(what: impl FnOnce() -> String, item: &Item) -> Result<Version, PortError> {
    match item.get(VERSION) {
        Some(AttributeValue::N(digits)) => digits.parse().map(Version).map_err(|e| corrupt(what(), e)),
        _ => Err(corrupt(what(), "it has no version")),
    }
}

/// Returns the packed state of an item.
pub(crate) fn state(what: impl FnOnce() -> String, item: &Item) -> Result<&AttributeValue, PortError> {
    item.get(STATE).ok_or_else(|| corrupt(what(), "it has no state"))
}

/// Returns the value of an item; `what` names it in an error.
pub(crate) fn value<T: DeserializeOwned>(what: impl Fn() -> String, item: &Item) -> Result<T, PortError> {
    unpack(&what, state(&what, item)?)
}

/// Returns the value of an item and its version.
pub(crate) fn versioned<T: DeserializeOwned>(
    what: impl Fn() -> String,
    item: &Item,
) -> Result<(T, Version), PortError> {
    Ok((value(&what, item)?, version(&what, item)?))
}

/// Returns the value of an item that is stored as plain text, and its version.
pub(crate) fn versioned_text<T: FromStr<Err: Display>>(
    what: impl Fn() -> String,
    item: &Item,
) -> Result<(T, Version), PortError> {
    let text = state(&what, item)?.as_s().map_err(|_| corrupt(what(), "it is no text"))?;
    Ok((text.parse().map_err(|e: T::Err| corrupt(what(), e))?, version(what, item)?))
}

pub(crate) fn text_of<'a>(item: &'a Item, name: &str) -> Option<&'a str> {
    item.get(name)?.as_s().ok().map(String::as_str)
}

pub(crate) fn number_of(item: &Item, name: &str) -> Option<i64> {
    item.get(name)?.as_n().ok()?.parse().ok()
}
