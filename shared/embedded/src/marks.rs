//! Named instants.

use crate::db::{Db, swapped, to_version, version};
use crate::error::DbError;
use async_trait::async_trait;
use curlew_model::Timestamp;
use curlew_ports::{Marks, PortError, Version};
use rusqlite::{Connection, OptionalExtension, params};

/// Marks: one row for each name.
#[derive(Clone, Debug)]
pub struct MarkTable {
    db: Db,
}

impl MarkTable {
    pub(crate) fn new(db: Db) -> MarkTable {
        MarkTable { db }
    }
}

#[async_trait]
impl Marks for MarkTable {
    async fn load(&self, name: &str) -> Result<(Option<Timestamp>, Version), PortError> {
        let name = name.to_owned();
        self.db.read("read a mark", move |c| load(c, &name)).await
    }

    async fn swap(&self, name: &str, seen: Version, next: Timestamp) -> Result<Version, PortError> {
        let name = name.to_owned();
        self.db.write("keep a mark", move |c| swap(c, &name, seen, next.as_millis())).await
    }
}

fn load(c: &Connection, name: &str) -> Result<(Option<Timestamp>, Version), DbError> {
    let row: Option<(i64, i64)> = c
        .prepare_cached("SELECT at, version FROM marks WHERE name = ?1")?
        .query_row([name], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    Ok(row.map_or((None, Version::ABSENT), |(at, version)| (Some(Timestamp::from_millis(at)), to_version(version))))
}

fn swap(c: &Connection, name: &str, seen: Version, next: i64) -> Result<Version, DbError> {
    let rows = if seen == Version::ABSENT {
        c.prepare_cached("INSERT INTO marks (name, version, at) VALUES (?1, 1, ?2) ON CONFLICT DO NOTHING")?
            .execute(params![name, next])?
    } else {
        c.prepare_cached("UPDATE marks SET version = version + 1, at = ?3 WHERE name = ?1 AND version = ?2")?
            .execute(params![name, version(seen), next])?
    };
    swapped(rows, seen)
}
