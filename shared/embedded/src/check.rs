//! Consistency checks of the database: SQLite's own, and a search for jobs without messages and vice versa.

use crate::store::Store;
use curlew_ports::PortError;
use rusqlite::{Connection, ErrorCode};

/// Maximum number of faults that SQLite reports.
const MOST_FAULTS: u32 = 100;
const LOST: &str = "FROM jobs WHERE id NOT IN (SELECT id FROM messages)";
const STRAY: &str = "FROM messages WHERE id NOT IN (SELECT id FROM jobs UNION ALL SELECT id FROM dead)";

/// Result of a check of the database.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DatabaseReport {
    /// Faults that SQLite found in the file (sqlite.org/pragma.html#pragma_integrity_check).
    pub faults: Vec<String>,
    /// Number of jobs without a message; not counted if there are faults.
    pub lost: u64,
    /// Number of messages without a job; not counted if there are faults.
    pub stray: u64,
}

impl Store {
    /// Runs all checks of the database.
    pub async fn check(&self) -> Result<DatabaseReport, PortError> {
        let check = |c: &Connection| {
            let faults = faults(c).or_else(|error| match error.sqlite_error_code() {
                Some(ErrorCode::DatabaseCorrupt) => Ok(vec![error.to_string()]),
                _ => Err(error),
            })?;
            if !faults.is_empty() {
                return Ok(DatabaseReport { faults, ..DatabaseReport::default() });
            }
            let count = |from: &str| c.query_row(&format!("SELECT count(*) {from}"), [], |row| row.get::<_, u32>(0));
            Ok(DatabaseReport { faults, lost: count(LOST)?.into(), stray: count(STRAY)?.into() })
        };
        self.db().read("check the database", check).await
    }

    /// Deletes jobs without a message, and messages without a job: neither can ever be run.
    pub async fn mend(&self) -> Result<(), PortError> {
        let mend = |c: &Connection| {
            c.execute(&format!("DELETE {LOST}"), [])?;
            c.execute(&format!("DELETE {STRAY}"), [])?;
            Ok(())
        };
        self.db().write("mend the database", mend).await
    }
}

fn faults(c: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut statement = c.prepare(&format!("PRAGMA integrity_check({MOST_FAULTS})"))?;
    let rows = statement.query_map([], |row| row.get::<_, String>(0))?;
    rows.filter(|row| row.as_ref().map_or(true, |row| row != "ok")).collect()
}
