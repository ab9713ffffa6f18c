//! Stored copies of robots.txt files.

use crate::chance::long_name;
use crate::error::corrupt;
use crate::item::{self, Item, STATE, number, text_of};
use crate::objects::Objects;
use crate::pack::{deflate, inflate, pack};
use crate::table::{Read, Table};
use async_trait::async_trait;
use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use bytes::Bytes;
use curlew_model::{Millis, Origin, Timestamp, Validators};
use curlew_ports::{Blobs, PortError, RobotsCopy, RobotsStore};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

const PREFIX: &str = "r#";
/// The compressed body; absent if it is empty.
const BODY: &str = "b";
/// Key of the object with the compressed body, if it is too large for an item.
const OBJECT: &str = "o";
/// Time at which DynamoDB may delete the item, in seconds since 1970. Only DynamoDB reads it.
const TTL: &str = "ttl";
/// Time for which a copy is kept after its last fetch.
const KEEP: Millis = Millis::from_days(30);
/// Maximum length of a compressed body inside an item; DynamoDB limits items to 400 KB. A longer body becomes an object
/// under `claims/`; only a file of half a megabyte without any repetition needs that.
const MOST_INSIDE: usize = 350 << 10;

/// Copies of robots.txt: one item for each origin.
#[derive(Clone, Debug)]
pub(crate) struct RobotsTable {
    pub(crate) table: Table,
    pub(crate) objects: Arc<Objects>,
}

impl RobotsTable {
    /// Stores a compressed body in an attribute, or in an object that the attribute names; returns the attribute.
    async fn stow(&self, packed: Vec<u8>) -> Result<(&'static str, AttributeValue), PortError> {
        if packed.len() <= MOST_INSIDE {
            return Ok((BODY, AttributeValue::B(Blob::new(packed))));
        }
        let key = format!("claims/robots/{}", long_name());
        self.objects.put(&key, packed.into()).await?;
        Ok((OBJECT, item::text(key)))
    }
}

/// A copy without its body.
#[derive(Serialize, Deserialize)]
struct RobotsRow {
    standing: String,
    body_at: Timestamp,
    fetched_at: Timestamp,
    fresh_until: Timestamp,
    #[serde(default, skip_serializing_if = "Validators::is_empty")]
    validators: Validators,
}

#[async_trait]
impl RobotsStore for RobotsTable {
    async fn get(&self, origin: &Origin) -> Result<Option<RobotsCopy>, PortError> {
        let Some(item) = self.table.get("read a robots.txt", key(origin), Read::Eventual).await? else {
            return Ok(None);
        };
        let kept: RobotsRow = item::value(|| what(origin), &item)?;
        let body = match (item.get(BODY), text_of(&item, OBJECT)) {
            (Some(AttributeValue::B(packed)), _) => inflate(|| what(origin), packed.as_ref())?.into(),
            (Some(_), _) => return Err(corrupt(what(origin), "its body is not binary")),
            // A copy counts as missing if its object was deleted.
            (None, Some(object)) => match self.objects.get(object).await? {
                Some(blob) => inflate(|| what(origin), &blob.bytes)?.into(),
                None => return Ok(None),
            },
            (None, None) => Bytes::new(),
        };
        let RobotsRow { standing, body_at, fetched_at, fresh_until, validators } = kept;
        Ok(Some(RobotsCopy { standing, body, body_at, fetched_at, fresh_until, validators }))
    }

    async fn put(&self, origin: &Origin, copy: &RobotsCopy) -> Result<(), PortError> {
        let RobotsCopy { standing, body, body_at, fetched_at, fresh_until, validators } = copy.clone();
        let kept = RobotsRow { standing, body_at, fetched_at, fresh_until, validators };
        let mut item = key(origin);
        item.insert(STATE.to_owned(), pack(|| what(origin), &kept)?);
        item.insert(TTL.to_owned(), number((fetched_at + KEEP).as_millis().div_euclid(1_000)));
        if !body.is_empty() {
            let packed = deflate(&body).ok_or_else(|| corrupt(what(origin), "its body cannot be compressed"))?;
            let (name, value) = self.stow(packed).await?;
            item.insert(name.to_owned(), value);
        }
        self.table.put("keep a robots.txt", item).await
    }
}

fn key(origin: &Origin) -> Item {
    item::key(format!("{PREFIX}{origin}"))
}

fn what(origin: &Origin) -> String {
    format!("the robots.txt of {origin}")
}
