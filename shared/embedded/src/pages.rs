//! Rows of pages.

use crate::db::{Db, limit, swapped, to_version, version};
use crate::error::{DbError, corrupt};
use async_trait::async_trait;
use curlew_model::{Page, PageId};
use curlew_ports::{Pages, PortError, Version};
use rusqlite::{Connection, OptionalExtension, params};

/// Rows of pages: one row for each URL that was ever taken up.
#[derive(Clone, Debug)]
pub struct PageTable {
    db: Db,
}

impl PageTable {
    pub(crate) fn new(db: Db) -> PageTable {
        PageTable { db }
    }
}

#[async_trait]
impl Pages for PageTable {
    async fn get(&self, id: &PageId) -> Result<Option<(Page, Version)>, PortError> {
        let id = id.clone();
        self.db.read("read a page's row", move |c| get(c, id.as_str())).await
    }

    async fn insert(&self, page: &Page) -> Result<bool, PortError> {
        let (id, json) = (page.id.clone(), to_json(page)?);
        self.db.write("keep a page's row", move |c| insert(c, id.as_str(), &json)).await
    }

    async fn swap(&self, seen: Version, page: &Page) -> Result<Version, PortError> {
        let (id, json) = (page.id.clone(), to_json(page)?);
        self.db.write("keep a page's row", move |c| swap(c, id.as_str(), seen, &json)).await
    }

    async fn list(&self, after: Option<&PageId>, most: usize) -> Result<Vec<Page>, PortError> {
        let after = after.map(|id| id.as_str().to_owned()).unwrap_or_default();
        self.db.read("list the pages", move |c| list(c, &after, limit(most))).await
    }
}

fn get(c: &Connection, id: &str) -> Result<Option<(Page, Version)>, DbError> {
    let row: Option<(String, i64)> = c
        .prepare_cached("SELECT page, version FROM pages WHERE id = ?1")?
        .query_row([id], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    row.map(|(json, version)| Ok((from_json(id, &json)?, to_version(version)))).transpose()
}

fn insert(c: &Connection, id: &str, json: &str) -> Result<bool, DbError> {
    let mut statement =
        c.prepare_cached("INSERT INTO pages (id, version, page) VALUES (?1, 1, ?2) ON CONFLICT DO NOTHING")?;
    Ok(statement.execute(params![id, json])? == 1)
}

fn swap(c: &Connection, id: &str, seen: Version, json: &str) -> Result<Version, DbError> {
    let rows = c
        .prepare_cached("UPDATE pages SET version = version + 1, page = ?3 WHERE id = ?1 AND version = ?2")?
        .execute(params![id, version(seen), json])?;
    swapped(rows, seen)
}

fn list(c: &Connection, after: &str, most: i64) -> Result<Vec<Page>, DbError> {
    let mut statement = c.prepare_cached("SELECT id, page FROM pages WHERE id > ?1 ORDER BY id LIMIT ?2")?;
    let mut rows = statement.query(params![after, most])?;
    let mut pages = Vec::new();
    while let Some(row) = rows.next()? {
        let (id, json): (String, String) = (row.get(0)?, row.get(1)?);
        pages.push(from_json(&id, &json)?);
    }
    Ok(pages)
}

fn to_json(page: &Page) -> Result<String, PortError> {
    serde_json::to_string(page).map_err(|e| corrupt(format!("the row of page {}", page.id), e))
}

fn from_json(id: &str, json: &str) -> Result<Page, PortError> {
    serde_json::from_str(json).map_err(|e| corrupt(format!("the row of page {id}"), e))
}
