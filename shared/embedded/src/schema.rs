//! The tables, and the versions of the schema that this program knows.
//!
//! Instants are integers: milliseconds since 1970-01-01T00:00:00Z. Rows with compare-and-swap have a version that
//! starts at 1 and increments by one. They are never deleted, so no version of a row is ever reused.

use rusqlite::Connection;

/// "Crlw" in ASCII: marks the file as a database of Curlew.
pub(crate) const APPLICATION_ID: i64 = 0x4372_6c77;

/// The newest version of the schema, stored as the file's `user_version`.
pub(crate) const VERSION: i64 = 1;

const TABLES: &str = "
-- One row for each host key: all that politeness remembers of it, as JSON.
CREATE TABLE hosts (
    host    TEXT PRIMARY KEY,
    version INTEGER NOT NULL,
    state   TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- robots.txt by origin. The validators are the server's bytes.
CREATE TABLE robots (
    origin        TEXT PRIMARY KEY,
    standing      TEXT NOT NULL,
    body_at       INTEGER NOT NULL,
    fetched_at    INTEGER NOT NULL,
    fresh_until   INTEGER NOT NULL,
    etag          TEXT,
    last_modified TEXT,
    body          BLOB NOT NULL
) STRICT;

-- Named instants, such as how far dispatch has come.
CREATE TABLE marks (
    name    TEXT PRIMARY KEY,
    version INTEGER NOT NULL,
    at      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- One row for every URL that was ever taken up, as JSON.
CREATE TABLE pages (
    id      TEXT PRIMARY KEY,
    version INTEGER NOT NULL,
    page    TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Feeds and sites, as JSON. The slot is the minute of the cycle at which dispatch asks for them.
CREATE TABLE sources (
    key     TEXT PRIMARY KEY,
    slot    INTEGER NOT NULL,
    version INTEGER NOT NULL,
    source  TEXT NOT NULL
) STRICT;
CREATE INDEX sources_by_slot ON sources (slot, key);

-- Jobs. The message lies apart, since a row that is handed out is written again and a message may be a megabyte long.
-- AUTOINCREMENT: a receipt names a row, and must never come to name another one.
CREATE TABLE jobs (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    stage      TEXT NOT NULL,
    due        INTEGER NOT NULL,           -- while it is handed out: when its visibility ends
    handed_out INTEGER NOT NULL DEFAULT 0, -- 1 from being handed out until it is put back
    receives   INTEGER NOT NULL DEFAULT 0  -- how often it was handed out
) STRICT;
CREATE INDEX jobs_by_due ON jobs (stage, due);                           -- receive, count
CREATE INDEX jobs_idle ON jobs (due, stage) WHERE handed_out = 0;        -- next_due, waiting, count

-- Jobs that were given up.
CREATE TABLE dead (
    id    INTEGER PRIMARY KEY,
    stage TEXT NOT NULL,
    at    INTEGER NOT NULL,
    error TEXT NOT NULL
) STRICT;
CREATE INDEX dead_by_time ON dead (at);

-- The messages of both, by the same id.
CREATE TABLE messages (
    id      INTEGER PRIMARY KEY,
    message TEXT NOT NULL
) STRICT;
";

/// State of a database file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// The database has no tables and no application id.
    Empty,
    /// A store of this version.
    Store(i64),
    /// The database belongs to another program.
    Foreign,
}

/// Reads the state of a file from its header and tables.
pub(crate) fn standing(connection: &Connection) -> rusqlite::Result<Standing> {
    let number = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
    let application = number("PRAGMA application_id")?;
    let version = number("PRAGMA user_version")?;
    let tables = number("SELECT count(*) FROM sqlite_schema")?;
    Ok(match (application, version, tables) {
        (APPLICATION_ID, version, _) => Standing::Store(version),
        (0, 0, 0) => Standing::Empty,
        _ => Standing::Foreign,
    })
}

/// Creates the tables in an empty database, in one transaction.
pub(crate) fn create(connection: &mut Connection) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Exclusive)?;
    transaction.execute_batch(TABLES)?;
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", VERSION)?;
    transaction.commit()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{queue, rows, size};

    /// Returns SQLite's plan for a query, one step per line.
    fn plan(connection: &Connection, sql: &str) -> String {
        let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).expect("is SQL");
        let unbound = rusqlite::params_from_iter(vec![1; statement.parameter_count()]);
        let steps = statement.query_map(unbound, |row| row.get::<_, String>(3)).expect("is planned");
        steps.collect::<Result<Vec<_>, _>>().expect("is planned").join("\n")
    }

    #[test]
    fn frequent_questions_are_answered_from_an_index_and_need_no_sorting() {
        let mut connection = Connection::open_in_memory().expect("opens");
        create(&mut connection).expect("makes the tables");
        let frequent = [
            (queue::DUE, "jobs_by_due"),
            (size::OLDEST, "jobs_by_due"),
            (queue::NEXT_DUE, "jobs_idle"),
            (queue::WAITING, "jobs_idle"),
            (queue::DEAD_LETTERS, "dead_by_time"),
            (rows::IN_SLOT, "sources_by_slot"),
        ];
        for (sql, index) in frequent {
            let plan = plan(&connection, sql);
            assert!(plan.contains(index), "{sql}\n{plan}");
            assert!(!plan.contains("TEMP B-TREE"), "{sql}\n{plan}");
        }
    }

    #[test]
    fn a_creation_that_fails_leaves_nothing() {
        let mut connection = Connection::open_in_memory().expect("opens");
        connection.execute_batch("CREATE TABLE messages (x)").expect("is made");
        assert!(create(&mut connection).is_err());
        let tables: i64 =
            connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).expect("counts");
        assert_eq!(tables, 1);
        assert_eq!(standing(&connection).expect("reads"), Standing::Foreign);
    }
}
