//! Rows of hosts, marks, pages and sources, with compare-and-swap by version. All but marks are stored as JSON.

use crate::db::{Db, execute, limit};
use crate::error::{DbError, corrupt};
use async_trait::async_trait;
use curlew_model::{HostKey, HostState, Page, PageId, Slot, Source, SourceKey, Timestamp};
use curlew_ports::{HostLedger, Hosts, Marks, Pages, PortError, Sources, Version};
use rusqlite::{Connection, OptionalExtension, Params, ToSql, params};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Query that runs for each minute.
pub(crate) const IN_SLOT: &str = "SELECT key, source FROM sources WHERE slot = ?1 AND key > ?2 ORDER BY key LIMIT ?3";

// Names of rows in error messages; the key follows.
const HOST: &str = "the state of";
const PAGE: &str = "the row of page";
const SOURCE: &str = "the source";

#[async_trait]
impl HostLedger for Db {
    async fn load(&self, host: &HostKey) -> Result<(HostState, Version), PortError> {
        let host = host.as_str().to_owned();
        let read = move |c: &Connection| json_row(c, "SELECT state, version FROM hosts WHERE host = ?1", HOST, &host);
        Ok(self.read("read the state of a host", read).await?.unwrap_or((HostState::default(), Version::ABSENT)))
    }

    async fn swap(&self, host: &HostKey, seen: Version, next: HostState) -> Result<Version, PortError> {
        let (host, state) = (host.as_str().to_owned(), to_json(HOST, host.as_str(), &next)?);
        let insert = "INSERT INTO hosts (host, version, state) VALUES (?1, 1, ?2) ON CONFLICT DO NOTHING";
        let update = "UPDATE hosts SET version = version + 1, state = ?2 WHERE host = ?1 AND version = ?3";
        let swap = move |c: &Connection| insert_or_update(c, insert, update, &host, &state, seen);
        self.write("keep the state of a host", swap).await
    }
}

#[async_trait]
impl Hosts for Db {
    async fn list(&self, after: Option<&HostKey>, most: usize) -> Result<Vec<(HostKey, HostState)>, PortError> {
        let after = start(after.map(HostKey::as_str));
        let sql = "SELECT host, state FROM hosts WHERE host > ?1 ORDER BY host LIMIT ?2";
        let read = move |c: &Connection| json_rows(c, sql, HOST, params![after, limit(most)]);
        let rows = self.read("list the hosts", read).await?;
        let key = |host: &str| HostKey::new(host).map_err(|e| corrupt("a host key", e));
        rows.into_iter().map(|(host, state)| Ok((key(&host)?, state))).collect()
    }
}

#[async_trait]
impl Marks for Db {
    async fn load(&self, name: &str) -> Result<(Option<Timestamp>, Version), PortError> {
        let name = name.to_owned();
        let read = move |c: &Connection| {
            let mut statement = c.prepare_cached("SELECT at, version FROM marks WHERE name = ?1")?;
            Ok(statement.query_row([name], |row| Ok((row.get(0)?, row.get(1)?))).optional()?)
        };
        let row: Option<(i64, i64)> = self.read("read a mark", read).await?;
        Ok(row.map_or((None, Version::ABSENT), |(at, version)| (Some(Timestamp::from_millis(at)), to_version(version))))
    }

    async fn swap(&self, name: &str, seen: Version, next: Timestamp) -> Result<Version, PortError> {
        let (name, next) = (name.to_owned(), next.as_millis());
        let insert = "INSERT INTO marks (name, version, at) VALUES (?1, 1, ?2) ON CONFLICT DO NOTHING";
        let update = "UPDATE marks SET version = version + 1, at = ?2 WHERE name = ?1 AND version = ?3";
        let swap = move |c: &Connection| insert_or_update(c, insert, update, &name, &next, seen);
        self.write("keep a mark", swap).await
    }
}

#[async_trait]
impl Pages for Db {
    async fn get(&self, id: &PageId) -> Result<Option<(Page, Version)>, PortError> {
        let id = id.as_str().to_owned();
        let read = move |c: &Connection| json_row(c, "SELECT page, version FROM pages WHERE id = ?1", PAGE, &id);
        self.read("read a page's row", read).await
    }

    async fn insert(&self, page: &Page) -> Result<bool, PortError> {
        let (id, json) = (page.id.clone(), to_json(PAGE, page.id.as_str(), page)?);
        let sql = "INSERT INTO pages (id, version, page) VALUES (?1, 1, ?2) ON CONFLICT DO NOTHING";
        let insert = move |c: &Connection| Ok(execute(c, sql, params![id.as_str(), json])? == 1);
        self.write("keep a page's row", insert).await
    }

    async fn swap(&self, seen: Version, page: &Page) -> Result<Version, PortError> {
        let (id, json) = (page.id.clone(), to_json(PAGE, page.id.as_str(), page)?);
        let sql = "UPDATE pages SET version = version + 1, page = ?3 WHERE id = ?1 AND version = ?2";
        let swap = move |c: &Connection| swapped(execute(c, sql, params![id.as_str(), stored(seen), json])?, seen);
        self.write("keep a page's row", swap).await
    }

    async fn list(&self, after: Option<&PageId>, most: usize) -> Result<Vec<Page>, PortError> {
        let after = start(after.map(PageId::as_str));
        let sql = "SELECT id, page FROM pages WHERE id > ?1 ORDER BY id LIMIT ?2";
        let read = move |c: &Connection| json_rows(c, sql, PAGE, params![after, limit(most)]);
        Ok(self.read("list the pages", read).await?.into_iter().map(|(_, page)| page).collect())
    }
}

#[async_trait]
impl Sources for Db {
    async fn get(&self, key: &SourceKey) -> Result<Option<(Source, Version)>, PortError> {
        let key = key.as_str().to_owned();
        let read =
            move |c: &Connection| json_row(c, "SELECT source, version FROM sources WHERE key = ?1", SOURCE, &key);
        self.read("read a source", read).await
    }

    async fn insert(&self, source: &Source) -> Result<bool, PortError> {
        let (key, slot) = (source.key().clone(), source.slot().index());
        let json = to_json(SOURCE, key.as_str(), source)?;
        let sql = "INSERT INTO sources (key, slot, version, source) VALUES (?1, ?2, 1, ?3) ON CONFLICT DO NOTHING";
        let insert = move |c: &Connection| Ok(execute(c, sql, params![key.as_str(), slot, json])? == 1);
        self.write("keep a source", insert).await
    }

    /// Replaces a row. The query matches the slot too, since a source never changes its slot.
    async fn swap(&self, seen: Version, source: &Source) -> Result<Version, PortError> {
        let (key, slot) = (source.key().clone(), source.slot().index());
        let json = to_json(SOURCE, key.as_str(), source)?;
        let sql = "UPDATE sources SET version = version + 1, source = ?4 WHERE key = ?1 AND slot = ?2 AND version = ?3";
        let swap =
            move |c: &Connection| swapped(execute(c, sql, params![key.as_str(), slot, stored(seen), json])?, seen);
        self.write("keep a source", swap).await
    }

    async fn in_slot(&self, slot: Slot, after: Option<&SourceKey>, most: usize) -> Result<Vec<Source>, PortError> {
        let after = start(after.map(SourceKey::as_str));
        let read = move |c: &Connection| json_rows(c, IN_SLOT, SOURCE, params![slot.index(), after, limit(most)]);
        let rows = self.read("list the sources of a slot", read).await?;
        Ok(rows.into_iter().map(|(_, source)| source).collect())
    }

    async fn list(&self, after: Option<&SourceKey>, most: usize) -> Result<Vec<Source>, PortError> {
        let after = start(after.map(SourceKey::as_str));
        let sql = "SELECT key, source FROM sources WHERE key > ?1 ORDER BY key LIMIT ?2";
        let read = move |c: &Connection| json_rows(c, sql, SOURCE, params![after, limit(most)]);
        Ok(self.read("list the sources", read).await?.into_iter().map(|(_, source)| source).collect())
    }
}

/// Returns the exclusive lower bound of a list; the empty text is before every key.
fn start(after: Option<&str>) -> String {
    after.unwrap_or_default().to_owned()
}

fn stored(version: Version) -> i64 {
    // SQLite's versions fit in an i64. A larger one becomes -1, which matches no row.
    i64::try_from(version.0).unwrap_or(-1)
}

fn to_version(stored: i64) -> Version {
    Version(u64::try_from(stored).unwrap_or(0))
}

/// Inserts the row of a key if `seen` is [`Version::ABSENT`], else updates the row if it has the version `seen`.
/// `insert` takes key and value, `update` key, value and version.
fn insert_or_update(
    c: &Connection,
    insert: &str,
    update: &str,
    key: &str,
    value: &dyn ToSql,
    seen: Version,
) -> Result<Version, DbError> {
    let rows = match seen == Version::ABSENT {
        true => execute(c, insert, params![key, value])?,
        false => execute(c, update, params![key, value, stored(seen)])?,
    };
    swapped(rows, seen)
}

/// Returns the version after a swap that has changed `rows` rows, or a conflict.
fn swapped(rows: usize, seen: Version) -> Result<Version, DbError> {
    if rows == 1 { Ok(Version(seen.0.saturating_add(1))) } else { Err(PortError::Conflict.into()) }
}

fn to_json(what: &str, key: &str, value: &impl Serialize) -> Result<String, PortError> {
    serde_json::to_string(value).map_err(|e| corrupt(format!("{what} {key}"), e))
}

fn from_json<T: DeserializeOwned>(what: &str, key: &str, json: &str) -> Result<T, PortError> {
    serde_json::from_str(json).map_err(|e| corrupt(format!("{what} {key}"), e))
}

/// Reads the value and version of a row by its key.
fn json_row<T: DeserializeOwned>(
    c: &Connection,
    sql: &str,
    what: &str,
    key: &str,
) -> Result<Option<(T, Version)>, DbError> {
    let mut statement = c.prepare_cached(sql)?;
    let row: Option<(String, i64)> = statement.query_row([key], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    row.map(|(json, version)| Ok((from_json(what, key, &json)?, to_version(version)))).transpose()
}

/// Reads the keys and values of rows.
fn json_rows<T: DeserializeOwned>(
    c: &Connection,
    sql: &str,
    what: &str,
    params: impl Params,
) -> Result<Vec<(String, T)>, DbError> {
    let mut statement = c.prepare_cached(sql)?;
    let mut rows = statement.query(params)?;
    let mut values = Vec::new();
    while let Some(row) = rows.next()? {
        let (key, json): (String, String) = (row.get(0)?, row.get(1)?);
        let value = from_json(what, &key, &json)?;
        values.push((key, value));
    }
    Ok(values)
}
