//! Host states.

use crate::db::{Db, limit, swapped, to_version, version};
use crate::error::{DbError, corrupt};
use async_trait::async_trait;
use curlew_model::{HostKey, HostState};
use curlew_ports::{HostLedger, Hosts, PortError, Version};
use rusqlite::{Connection, OptionalExtension, params};

/// States of hosts: one row for each host key.
#[derive(Clone, Debug)]
pub struct HostTable {
    db: Db,
}

impl HostTable {
    pub(crate) fn new(db: Db) -> HostTable {
        HostTable { db }
    }
}

#[async_trait]
impl HostLedger for HostTable {
    async fn load(&self, host: &HostKey) -> Result<(HostState, Version), PortError> {
        let host = host.clone();
        self.db.read("read the state of a host", move |c| load(c, &host)).await
    }

    async fn swap(&self, host: &HostKey, seen: Version, next: HostState) -> Result<Version, PortError> {
        let host = host.clone();
        let state = to_json(&host, &next)?;
        self.db.write("keep the state of a host", move |c| swap(c, &host, seen, &state)).await
    }
}

#[async_trait]
impl Hosts for HostTable {
    async fn list(&self, after: Option<&HostKey>, most: usize) -> Result<Vec<(HostKey, HostState)>, PortError> {
        let after = after.map(|host| host.as_str().to_owned()).unwrap_or_default();
        self.db.read("list the hosts", move |c| list(c, &after, limit(most))).await
    }
}

fn load(c: &Connection, host: &HostKey) -> Result<(HostState, Version), DbError> {
    let row: Option<(String, i64)> = c
        .prepare_cached("SELECT state, version FROM hosts WHERE host = ?1")?
        .query_row([host.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    match row {
        Some((state, version)) => Ok((from_json(host.as_str(), &state)?, to_version(version))),
        None => Ok((HostState::default(), Version::ABSENT)),
    }
}

fn swap(c: &Connection, host: &HostKey, seen: Version, state: &str) -> Result<Version, DbError> {
    let rows = if seen == Version::ABSENT {
        c.prepare_cached("INSERT INTO hosts (host, version, state) VALUES (?1, 1, ?2) ON CONFLICT DO NOTHING")?
            .execute(params![host.as_str(), state])?
    } else {
        c.prepare_cached("UPDATE hosts SET version = version + 1, state = ?3 WHERE host = ?1 AND version = ?2")?
            .execute(params![host.as_str(), version(seen), state])?
    };
    swapped(rows, seen)
}

fn list(c: &Connection, after: &str, most: i64) -> Result<Vec<(HostKey, HostState)>, DbError> {
    let mut statement = c.prepare_cached("SELECT host, state FROM hosts WHERE host > ?1 ORDER BY host LIMIT ?2")?;
    let mut rows = statement.query(params![after, most])?;
    let mut hosts = Vec::new();
    while let Some(row) = rows.next()? {
        let (host, state): (String, String) = (row.get(0)?, row.get(1)?);
        let key = HostKey::new(&host).map_err(|e| corrupt("a host key", e))?;
        hosts.push((key, from_json(&host, &state)?));
    }
    Ok(hosts)
}

fn to_json(host: &HostKey, state: &HostState) -> Result<String, PortError> {
    serde_json::to_string(state).map_err(|e| corrupt(format!("the state of {host}"), e))
}

fn from_json(host: &str, state: &str) -> Result<HostState, PortError> {
    serde_json::from_str(state).map_err(|e| corrupt(format!("the state of {host}"), e))
}
