//! A store in its own folder, and the program that runs on it.

use crate::program::{Child, LIMIT, Ran, curlew};
use crate::web::Web;
use curlew_model::{Millis, Timestamp};
use rusqlite::{Connection, OpenFlags};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;

/// Environment variables with settings that make every pause short, for tests that are not about pauses.
pub const BRISK: [(&str, &str); 4] = [
    ("CURLEW_RULES_MIN_PAUSE", "60ms"),
    ("CURLEW_RULES_JITTER", r#"["10ms", "20ms"]"#),
    ("CURLEW_RULES_POISSON_MEAN", "0ms"),
    ("CURLEW_RULES_REFILL", "1ms"),
];
/// Minimum pause between two calls with the settings [`BRISK`], in microseconds.
pub const BRISK_PAUSE: u64 = 60_000;

/// A folder for one store, which is deleted when this value is dropped.
#[derive(Debug)]
pub struct Store {
    folder: TempDir,
    resolve: Option<String>,
    config: Option<String>,
    settings: &'static [(&'static str, &'static str)],
}

impl Store {
    /// Creates a store that crawls this web; every name under `.test` leads there.
    pub fn new(web: &Web) -> Store {
        Store { resolve: Some(web.resolve()), ..Store::alone() }
    }

    /// Creates a store that crawls this web with [short pauses](BRISK).
    pub fn brisk(web: &Web) -> Store {
        Store { settings: &BRISK, ..Store::new(web) }
    }

    /// Creates a store with short pauses that has crawled all sites of this web.
    #[track_caller]
    pub fn crawled(web: &Web) -> Store {
        let store = Store::brisk(web);
        store.crawl(&web.starts());
        store
    }

    /// Creates a store that crawls nothing.
    pub fn alone() -> Store {
        Store { folder: TempDir::with_prefix("curlew-e2e-").unwrap(), resolve: None, config: None, settings: &[] }
    }

    /// Changes the program's settings from now on.
    pub fn configure(&mut self, toml: &str) {
        self.config = Some(self.file("curlew.toml", toml));
    }

    /// Returns the folder of the store's data.
    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Returns the folder that contains the store and other files of the test.
    pub fn around(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file beside the store and returns its path.
    pub fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        let path = self.folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// Returns the path of the database.
    pub fn database(&self) -> PathBuf {
        self.data().join("curlew.sqlite3")
    }

    /// Returns the program with these arguments for this store.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = curlew(args);
        self.on_this_store(&mut command);
        command
    }

    /// Adds the flags for the store and the web, and the settings of this store.
    pub fn on_this_store(&self, command: &mut Command) {
        command.envs(self.settings.iter().copied());
        command.arg("--data").arg(self.data()).current_dir(self.folder.path());
        if let Some(rule) = &self.resolve {
            command.args(["--resolve", rule]);
        }
        if let Some(path) = &self.config {
            command.arg("--config").arg(path);
        }
    }

    /// Starts the program on this store.
    pub fn start(&self, args: &[&str]) -> Child {
        Child::spawn(self.command(args))
    }

    /// Runs the program on this store to its end.
    pub fn run(&self, args: &[&str]) -> Ran {
        self.start(args).wait(LIMIT)
    }

    /// Crawls these sites until nothing is due, and returns the summary.
    #[track_caller]
    pub fn crawl(&self, sites: &[String]) -> Value {
        self.run(&args(&["crawl", "--json"], sites)).ok().json()
    }

    /// Starts a crawl of these sites.
    pub fn start_crawl(&self, sites: &[String]) -> Child {
        self.start(&args(&["crawl", "--json"], sites))
    }

    /// Returns the output of `curlew WHAT list --json`.
    #[track_caller]
    pub fn list(&self, what: &str) -> Vec<Value> {
        self.run(&[what, "list", "--json"]).ok().rows()
    }

    /// Returns the URLs that a search finds, best first.
    #[track_caller]
    pub fn found(&self, query: &str) -> Vec<String> {
        let answer = self.run(&["search", query, "--limit", "1000", "--json"]).ok().json();
        let hits = answer["hits"].as_array().unwrap();
        hits.iter().map(|hit| hit["url"].as_str().unwrap().to_owned()).collect()
    }

    /// Returns the output of `curlew export records`.
    #[track_caller]
    pub fn records(&self) -> Vec<Value> {
        self.run(&["export", "records"]).ok().rows()
    }

    /// Returns the first column of a SQLite query's result. The connection is read-only.
    #[track_caller]
    pub fn sql(&self, statement: &str) -> Vec<String> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(self.database(), flags).unwrap();
        let mut statement = connection.prepare(statement).unwrap();
        let rows = statement.query_map([], |row| row.get(0)).unwrap();
        rows.map(Result::unwrap).collect()
    }

    /// Moves all instants in the store back, as if this time had passed. No program may be running on the store.
    ///
    /// The clock of the web is not moved. The function sleeps for the real [`BRISK_PAUSE`], so that the calls before
    /// and after can be judged together.
    pub fn let_pass(&self, time: Duration) {
        std::thread::sleep(Duration::from_micros(BRISK_PAUSE));
        let millis = i64::try_from(time.as_millis()).unwrap();
        let db = Connection::open(self.database()).unwrap();
        let shift = |statement: &str| db.execute(statement, [millis]).unwrap();
        shift("UPDATE jobs SET due = due - ?1 WHERE due > 0");
        shift("UPDATE marks SET at = at - ?1");
        // Instants before the epoch stand for "never".
        shift("UPDATE robots SET body_at = body_at - ?1 WHERE body_at > 0");
        shift("UPDATE robots SET fetched_at = fetched_at - ?1, fresh_until = fresh_until - ?1");
        for (table, key, column) in [("hosts", "host", "state"), ("pages", "id", "page"), ("sources", "key", "source")]
        {
            let mut rows = db.prepare(&format!("SELECT {key}, {column} FROM {table}")).unwrap();
            let rows = rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
            for (key_of_row, text) in rows.map(|row| row.unwrap()).collect::<Vec<(String, String)>>() {
                let mut value: Value = serde_json::from_str(&text).unwrap();
                shift_back(&mut value, time);
                let statement = format!("UPDATE {table} SET {column} = ?1 WHERE {key} = ?2");
                db.execute(&statement, [value.to_string(), key_of_row]).unwrap();
            }
        }
    }
}

/// Moves each instant in a document back, except those that stand for "never" and "always".
fn shift_back(value: &mut Value, time: Duration) {
    match value {
        Value::String(text) => {
            let at = text.parse::<Timestamp>().ok().filter(|_| text.starts_with("20"));
            if let Some(at) = at {
                *text = (at - Millis(u64::try_from(time.as_millis()).unwrap())).to_string();
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|value| shift_back(value, time)),
        Value::Object(fields) => fields.values_mut().for_each(|value| shift_back(value, time)),
        _ => {}
    }
}

/// Returns a command's own arguments followed by a list.
pub fn args<'a>(own: &[&'a str], list: &'a [String]) -> Vec<&'a str> {
    own.iter().copied().chain(list.iter().map(String::as_str)).collect()
}

/// Returns a text field of a row, or an empty text.
pub fn text(row: &Value, name: &str) -> String {
    row[name].as_str().unwrap_or_default().to_owned()
}

/// Returns the text of all objects below `segments` or `raw` of a store, decompressed as any zstd tool would do it.
pub fn unpacked_objects(data: &Path, kind: &str) -> String {
    let mut text = String::new();
    let mut folders = vec![data.join("objects").join(kind)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display())) {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let bytes = zstd::stream::decode_all(std::fs::File::open(&path).unwrap()).unwrap();
                text.push_str(&String::from_utf8_lossy(&bytes));
            }
        }
    }
    text
}
