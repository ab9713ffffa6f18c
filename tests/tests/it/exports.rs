//! Reads exported records with the programs that people use to read them.

use curlew_fixtureweb::Uniform;
use curlew_tests::{Child, LIMIT, Ran, Store, Web, named};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

const FORMATS: [&str; 3] = ["jsonl", "csv", "parquet"];

fn crawled(prefix: &str) -> (Web, Store) {
    let web = Web::uniform(&Uniform { hosts: 3, pages: 4, bytes: 4096, images: false, prefix: prefix.into() });
    let store = Store::crawled(&web);
    (web, store)
}

/// Reads a file of records with DuckDB and with pandas. Prints for each the columns with their types, and the rows as
/// JSON with instants in RFC 3339. DuckDB detects the formats `jsonl` and `csv` by itself; the documented types are
/// passed to it.
const READ: &str = r#"
import datetime, duckdb, json, pandas, sys
path, form, types = sys.argv[1], sys.argv[2], dict(json.loads(sys.argv[3]))
def plain(value):
    if value is None or value is pandas.NaT or (isinstance(value, float) and value != value) or value is pandas.NA:
        return None
    if hasattr(value, "astimezone"):
        value = value.astimezone(datetime.timezone.utc).isoformat().replace("+00:00", "Z")
        return value if "." not in value else value.rstrip("Z").rstrip("0") + "Z"
    return value.item() if hasattr(value, "item") else value
connection = duckdb.connect()
connection.execute("set timezone = 'UTC'")
name = {"string": "VARCHAR", "timestamp": "TIMESTAMPTZ", "integer": "BIGINT", "boolean": "BOOLEAN"}
columns = {column: name[kind] for column, kind in types.items()}
if form == "parquet":
    written = connection.sql(f"select * from read_parquet('{path}')")
elif form == "csv":
    written = connection.sql(f"select * from read_csv('{path}', header = true, columns = {columns}, strict_mode = true)")
else:
    written = connection.sql(f"select * from read_json('{path}', format = 'newline_delimited', columns = {columns})")
times = [column for column, kind in types.items() if kind == "timestamp"]
shown = connection.sql("select * replace (" + ", ".join(f"epoch_ms({c}) as {c}" for c in times) + ") from written")
def instant(ms):
    return None if ms is None else plain(datetime.datetime.fromtimestamp(ms / 1000, datetime.timezone.utc))
rows = [dict(zip(shown.columns, map(plain, row))) for row in shown.fetchall()]
said = {"duckdb": {"columns": dict(zip(written.columns, map(str, written.types))),
                   "rows": [{c: instant(v) if c in times else v for c, v in row.items()} for row in rows]}}
if form == "parquet":
    frame = pandas.read_parquet(path, engine="pyarrow")
    import pyarrow.parquet
    said["metadata"] = {k.decode(): v.decode() for k, v in (pyarrow.parquet.read_schema(path).metadata or {}).items()}
    schema = pyarrow.parquet.read_schema(path)
    said["arrow"] = {field.name: [str(field.type), field.nullable] for field in schema}
elif form == "csv":
    frame = pandas.read_csv(path, dtype={c: "str" for c, k in types.items() if k == "string"}, keep_default_na=False,
                            na_values={c: [""] for c in types})
else:
    frame = pandas.read_json(path, lines=True, dtype=False, convert_dates=False)
said["pandas"] = {"columns": {c: str(t) for c, t in frame.dtypes.items()},
                  "rows": [{c: plain(v) for c, v in row.items()} for row in frame.to_dict("records")]}
print(json.dumps(said))
"#;

/// Returns the documented columns, with their types and whether each record has a value.
fn documented() -> Vec<(String, String, bool)> {
    let page = curlew_tests::read("docs/reference/records.md");
    let row = |line: &str| {
        let mut cells = line.strip_prefix("| `")?.split('|').map(str::trim);
        let (name, of) = (cells.next()?.trim_end_matches('`').to_owned(), cells.next()?);
        Some((name, of.trim_end_matches(", always").to_owned(), of.ends_with(", always")))
    };
    page.lines().filter_map(row).collect()
}

fn read(path: &Path, form: &str) -> Value {
    let types: Vec<(String, String)> = documented().into_iter().map(|(name, of, _)| (name, of)).collect();
    let mut python = Command::new(named("CURLEW_DUCKDB_PYTHON", ".tools/duckdb/bin/python"));
    python.args(["-c", READ]).arg(path).arg(form).arg(json!(types).to_string()).stdin(Stdio::null());
    Child::spawn(python).wait(LIMIT).ok().json()
}

/// Returns the rows by id, without fields that have no value. In a CSV file an empty text counts as no value.
fn by_id(rows: &Value, form: &str) -> BTreeMap<String, Value> {
    let row = |row: &Value| {
        let mut row = row.as_object().unwrap().clone();
        row.retain(|_, value| !value.is_null() && (form != "csv" || *value != ""));
        (row["id"].as_str().unwrap().to_owned(), Value::Object(row))
    };
    rows.as_array().unwrap().iter().map(row).collect()
}

#[test]
fn duckdb_and_pandas_read_each_format_with_the_documented_schema_and_the_same_rows() {
    let (_web, store) = crawled("read");
    let records = Value::Array(store.records());
    assert_eq!(records.as_array().unwrap().len(), 12);
    for form in FORMATS {
        let file = store.around().join(format!("records.{form}"));
        let path = file.to_str().unwrap();
        store.run(&["export", "records", "--format", form, "--output", path]).ok();
        let mut piped = Command::new("bash");
        piped.args(["-c", "\"$0\" \"$@\" | cat >piped", curlew_tests::binary().to_str().unwrap()]);
        piped.args(["export", "records", "--format", form]);
        store.on_this_store(&mut piped);
        Child::spawn(piped).wait(LIMIT).ok();
        let (whole, piped) = (std::fs::read(&file).unwrap(), std::fs::read(store.around().join("piped")).unwrap());
        assert!(whole == piped, "{form}: a file and a pipe must have the same bytes");

        let said = read(&file, form);
        let wanted = by_id(&records, form);
        assert_eq!(by_id(&said["duckdb"]["rows"], form), wanted, "{form}, DuckDB");
        let rows = by_id(&said["pandas"]["rows"], form);
        assert_eq!(rows.keys().collect::<Vec<_>>(), wanted.keys().collect::<Vec<_>>(), "{form}, pandas");
        for (id, record) in &wanted {
            for name in ["url", "title", "text", "host", "fetched_at", "no_archive"] {
                assert_eq!(rows[id][name], record[name], "{form}, pandas: {name}");
            }
        }
        let of_duckdb = |of: &str| match of {
            "string" => "VARCHAR",
            "timestamp" => "TIMESTAMP WITH TIME ZONE",
            "integer" => "BIGINT",
            _ => "BOOLEAN",
        };
        let of_arrow = |of: &str| match of {
            "string" => "string",
            "timestamp" => "timestamp[ms, tz=UTC]",
            "integer" => "int64",
            _ => "bool",
        };
        let documented = documented();
        assert_eq!(said["duckdb"]["columns"].as_object().unwrap().len(), documented.len(), "{form}");
        for (name, of, is_always) in &documented {
            assert_eq!(said["duckdb"]["columns"][name], of_duckdb(of), "{form}: {name}");
            if form == "parquet" {
                assert_eq!(said["arrow"][name], json!([of_arrow(of), !is_always]), "{name}");
            }
        }
        if form == "parquet" {
            assert_eq!(said["metadata"]["curlew.schema"], "1");
        }
        if form == "csv" {
            let header = documented.iter().map(|(name, ..)| name.as_str()).collect::<Vec<_>>().join(",");
            assert_eq!(String::from_utf8_lossy(&whole).lines().next(), Some(&*header));
        }
    }
    let none = store.around().join("none.parquet");
    let args = ["export", "records", "--format", "parquet", "--since", "2199-01-01", "--output"];
    store.run(&[&args[..], &[none.to_str().unwrap()]].concat()).ok();
    assert_eq!(read(&none, "parquet")["duckdb"]["rows"], json!([]), "an empty export must be readable, too");
}

#[test]
fn records_are_chosen_by_site_language_and_column() {
    let (web, store) = crawled("choose");
    let host = web.farm().sites()[0].host.clone();
    let rows = |args: &[&str]| store.run(&[&["export", "records"], args].concat()).ok().rows();
    assert_eq!(rows(&["--site", &host]).len(), 4);
    assert_eq!(rows(&["--site", &format!("http://{}/", host.to_uppercase())]).len(), 4);
    assert_eq!(rows(&["--site", "test"]).len(), 12);
    assert_eq!(rows(&["--site", "nowhere.test"]).len(), 0);
    assert_eq!(rows(&["--lang", "EN-gb"]).len() + rows(&["--lang", "it"]).len(), 12);
    let some = rows(&["--columns", "title,url"]);
    assert!(
        some.iter().all(|row| row.as_object().unwrap().keys().all(|name| ["title", "url"].contains(&name.as_str())))
    );
    let csv = store.run(&["export", "records", "--format", "csv", "--columns", "url,title"]).ok().stdout;
    assert!(csv.starts_with("url,title\r\nhttp"), "{csv}");
    store.run(&["export", "records", "--columns", "url,body"]).refused(2, &["'body'", "fetched_at", "simhash"]);
    store.run(&["export", "records", "--site", "http://"]).refused(2, &["is not a host"]);
    store.run(&["block", &host]).ok();
    assert_eq!(rows(&[]).len(), 8, "no search finds the pages of a blocked host");
    store.run(&["unblock", &host]).ok();
    assert_eq!(rows(&[]).len(), 12);
}

#[test]
fn a_reader_that_stops_is_no_failure_and_a_full_disk_is_one() {
    let (_web, store) = crawled("stop");
    let shell = |script: &str| -> Ran {
        let mut shell = Command::new("bash");
        shell.args(["-c", script, curlew_tests::binary().to_str().unwrap(), "export", "records"]);
        store.on_this_store(&mut shell);
        Child::spawn(shell).wait(LIMIT)
    };
    for form in FORMATS {
        let ran = shell(&format!("(\"$0\" \"$@\" --format {form}; echo $? >code) | head -c 10 >first; cat code"));
        assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("0\n", ""), "{form}");
        let ran = shell(&format!("exec \"$0\" \"$@\" --format {form} >/dev/full"));
        ran.refused(1, &["cannot be written", "No space left on device"]);
        let ran = store.run(&["export", "records", "--format", form, "--output", "/dev/full"]);
        ran.refused(1, &["cannot be written", "No space left on device"]);
    }
    let file = store.around().join("kept.jsonl");
    let path = file.to_str().unwrap();
    store.run(&["export", "records", "--output", path]).ok();
    let before = std::fs::read(&file).unwrap();
    assert_eq!(before.iter().filter(|byte| **byte == b'\n').count(), 12);
    store.run(&["export", "records", "--output", path, "--columns", "url"]).ok();
    assert!(std::fs::read(&file).unwrap().len() < before.len(), "the new file replaces the old one");
    assert!(!store.around().join("kept.jsonl.part").exists());
    store.run(&["export", "records", "--output", "/nowhere/a.jsonl"]).refused(1, &["/nowhere/a.jsonl", "No such file"]);
}
