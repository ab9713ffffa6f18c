//! Stored copies of robots.txt files.

use crate::db::{Db, execute};
use async_trait::async_trait;
use bytes::Bytes;
use curlew_model::{Origin, Timestamp, Validators};
use curlew_ports::{PortError, RobotsCopy, RobotsStore};
use rusqlite::types::Type;
use rusqlite::{OptionalExtension, params};

/// Compression level of zstd: the files are small and seldom written.
const LEVEL: i32 = 3;
/// Maximum uncompressed size of a stored file, in bytes; twice the maximum that is fetched.
const UNPACK_LIMIT: usize = 1024 * 1024;

const GET: &str =
    "SELECT standing, body_at, fetched_at, fresh_until, etag, last_modified, body FROM robots WHERE origin = ?1";
const PUT: &str =
    "INSERT OR REPLACE INTO robots (origin, standing, body_at, fetched_at, fresh_until, etag, last_modified, body)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";

#[async_trait]
impl RobotsStore for Db {
    async fn get(&self, origin: &Origin) -> Result<Option<RobotsCopy>, PortError> {
        let origin = origin.clone();
        self.read("read a robots.txt", move |c| {
            let copy = c.prepare_cached(GET)?.query_row([origin.as_str()], |row| {
                Ok(RobotsCopy {
                    standing: row.get(0)?,
                    body_at: Timestamp::from_millis(row.get(1)?),
                    fetched_at: Timestamp::from_millis(row.get(2)?),
                    fresh_until: Timestamp::from_millis(row.get(3)?),
                    validators: Validators { etag: row.get(4)?, last_modified: row.get(5)? },
                    body: unpacked(row.get_ref(6)?.as_blob()?)?,
                })
            });
            Ok(copy.optional()?)
        })
        .await
    }

    async fn put(&self, origin: &Origin, copy: &RobotsCopy) -> Result<(), PortError> {
        let (origin, copy) = (origin.clone(), copy.clone());
        self.write("keep a robots.txt", move |c| {
            let row = params![
                origin.as_str(),
                copy.standing,
                copy.body_at.as_millis(),
                copy.fetched_at.as_millis(),
                copy.fresh_until.as_millis(),
                copy.validators.etag,
                copy.validators.last_modified,
                packed(&copy.body)?,
            ];
            execute(c, PUT, row).map(drop)
        })
        .await
    }
}

/// Compresses a file, since robots.txt files are many and repetitive. An empty file is stored as zero bytes.
fn packed(body: &[u8]) -> Result<Vec<u8>, rusqlite::Error> {
    if body.is_empty() {
        return Ok(Vec::new());
    }
    zstd::bulk::compress(body, LEVEL).map_err(|e| rusqlite::Error::ToSqlConversionFailure(e.into()))
}

fn unpacked(kept: &[u8]) -> Result<Bytes, rusqlite::Error> {
    if kept.is_empty() {
        return Ok(Bytes::new());
    }
    let body = zstd::bulk::decompress(kept, UNPACK_LIMIT);
    let unreadable = |e: std::io::Error| rusqlite::Error::FromSqlConversionFailure(6, Type::Blob, e.into());
    body.map(Bytes::from).map_err(unreadable)
}
