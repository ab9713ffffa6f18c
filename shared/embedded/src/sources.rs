//! Rows of feeds and sites.

use crate::db::{Db, limit, swapped, to_version, version};
use crate::error::{DbError, corrupt};
use async_trait::async_trait;
use curlew_model::{Slot, Source, SourceKey};
use curlew_ports::{PortError, Sources, Version};
use rusqlite::{Connection, OptionalExtension, Rows, params};

/// Query that runs for each minute that passes.
pub(crate) const IN_SLOT: &str = "SELECT key, source FROM sources WHERE slot = ?1 AND key > ?2 ORDER BY key LIMIT ?3";

/// Sources: one row for each feed and each site.
#[derive(Clone, Debug)]
pub struct SourceTable {
    db: Db,
}

impl SourceTable {
    pub(crate) fn new(db: Db) -> SourceTable {
        SourceTable { db }
    }
}

#[async_trait]
impl Sources for SourceTable {
    async fn get(&self, key: &SourceKey) -> Result<Option<(Source, Version)>, PortError> {
        let key = key.clone();
        self.db.read("read a source", move |c| get(c, key.as_str())).await
    }

    async fn insert(&self, source: &Source) -> Result<bool, PortError> {
        let row = Row::from_source(source)?;
        self.db.write("keep a source", move |c| insert(c, &row)).await
    }

    async fn swap(&self, seen: Version, source: &Source) -> Result<Version, PortError> {
        let row = Row::from_source(source)?;
        self.db.write("keep a source", move |c| swap(c, seen, &row)).await
    }

    async fn in_slot(&self, slot: Slot, after: Option<&SourceKey>, most: usize) -> Result<Vec<Source>, PortError> {
        let after = text(after);
        self.db.read("list the sources of a slot", move |c| in_slot(c, slot, &after, limit(most))).await
    }

    async fn list(&self, after: Option<&SourceKey>, most: usize) -> Result<Vec<Source>, PortError> {
        let after = text(after);
        self.db.read("list the sources", move |c| list(c, &after, limit(most))).await
    }
}

/// A source as it is stored.
struct Row {
    key: SourceKey,
    slot: u16,
    json: String,
}

impl Row {
    fn from_source(source: &Source) -> Result<Row, PortError> {
        let key = source.key().clone();
        let json = serde_json::to_string(source).map_err(|e| corrupt(format!("the source {key}"), e))?;
        Ok(Row { key, slot: source.slot().index(), json })
    }
}

/// Returns the key after which a list begins; no key is before the empty text.
fn text(after: Option<&SourceKey>) -> String {
    after.map(|key| key.as_str().to_owned()).unwrap_or_default()
}

fn get(c: &Connection, key: &str) -> Result<Option<(Source, Version)>, DbError> {
    let row: Option<(String, i64)> = c
        .prepare_cached("SELECT source, version FROM sources WHERE key = ?1")?
        .query_row([key], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    row.map(|(json, version)| Ok((from_json(key, &json)?, to_version(version)))).transpose()
}

fn insert(c: &Connection, row: &Row) -> Result<bool, DbError> {
    let mut statement = c.prepare_cached(
        "INSERT INTO sources (key, slot, version, source) VALUES (?1, ?2, 1, ?3) ON CONFLICT DO NOTHING",
    )?;
    Ok(statement.execute(params![row.key.as_str(), row.slot, row.json])? == 1)
}

/// Replaces a row. A row of another slot never matches, since sources never change their slot.
fn swap(c: &Connection, seen: Version, row: &Row) -> Result<Version, DbError> {
    let mut statement = c.prepare_cached(
        "UPDATE sources SET version = version + 1, source = ?4 WHERE key = ?1 AND slot = ?2 AND version = ?3",
    )?;
    swapped(statement.execute(params![row.key.as_str(), row.slot, version(seen), row.json])?, seen)
}

fn in_slot(c: &Connection, slot: Slot, after: &str, most: i64) -> Result<Vec<Source>, DbError> {
    let mut statement = c.prepare_cached(IN_SLOT)?;
    collect(statement.query(params![slot.index(), after, most])?)
}

fn list(c: &Connection, after: &str, most: i64) -> Result<Vec<Source>, DbError> {
    let mut statement = c.prepare_cached("SELECT key, source FROM sources WHERE key > ?1 ORDER BY key LIMIT ?2")?;
    collect(statement.query(params![after, most])?)
}

fn collect(mut rows: Rows<'_>) -> Result<Vec<Source>, DbError> {
    let mut sources = Vec::new();
    while let Some(row) = rows.next()? {
        let (key, json): (String, String) = (row.get(0)?, row.get(1)?);
        sources.push(from_json(&key, &json)?);
    }
    Ok(sources)
}

fn from_json(key: &str, json: &str) -> Result<Source, PortError> {
    serde_json::from_str(json).map_err(|e| corrupt(format!("the source {key}"), e))
}
