//! Records as lines of text: JSON Lines, and CSV (RFC 4180).

use super::columns::{Cell, Column};
use curlew_model::Record;
use serde::{Serialize, Serializer};
use std::borrow::Cow;
use std::io;

/// A record, serialized as one JSON object without the columns that have no value.
struct Object<'a>(&'a [&'static Column], &'a Record);

impl Serialize for Object<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Object(columns, record) = self;
        let cells = columns.iter().map(|column| (column.name, (column.cell)(record)));
        serializer.collect_map(cells.filter(|(_, cell)| *cell != Cell::Absent))
    }
}

pub(super) fn json(columns: &[&'static Column], records: &[Record]) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    for record in records {
        serde_json::to_writer(&mut bytes, &Object(columns, record))?;
        bytes.push(b'\n');
    }
    Ok(bytes)
}

pub(super) fn csv_header(columns: &[&'static Column]) -> io::Result<Vec<u8>> {
    let mut writer = writer();
    writer.write_record(columns.iter().map(|column| column.name))?;
    written(writer)
}

/// Returns records as CSV; a column without a value is empty.
pub(super) fn csv(columns: &[&'static Column], records: &[Record]) -> io::Result<Vec<u8>> {
    let mut writer = writer();
    for record in records {
        for column in columns {
            match (column.cell)(record) {
                Cell::Absent => writer.write_field("")?,
                Cell::Text(text) => writer.write_field(guarded(&text).as_bytes())?,
                Cell::Time(at) => writer.write_field(at.to_string())?,
                Cell::Integer(number) => writer.write_field(number.to_string())?,
                Cell::Boolean(is) => writer.write_field(if is { "true" } else { "false" })?,
            }
        }
        writer.write_record(None::<&[u8]>)?;
    }
    written(writer)
}

fn writer() -> csv::Writer<Vec<u8>> {
    csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(Vec::new())
}

fn written(writer: csv::Writer<Vec<u8>>) -> io::Result<Vec<u8>> {
    writer.into_inner().map_err(|error| error.into_error())
}

/// Returns a text that no spreadsheet reads as a formula, because strangers write these texts (OWASP, "CSV Injection").
/// A text that begins like a formula, after any number of apostrophes, is prefixed with an apostrophe; removing one
/// apostrophe restores the text.
fn guarded(text: &str) -> Cow<'_, str> {
    let first = text.trim_start_matches('\'').chars().next();
    let is_formula = matches!(first, Some('=' | '+' | '-' | '@' | '\t' | '\r' | '\n' | '＝' | '＋' | '－' | '＠'));
    if is_formula { Cow::Owned(format!("'{text}")) } else { Cow::Borrowed(text) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;
    use crate::export::columns::column;
    use curlew_model::{PageId, Timestamp};

    fn record(title: &str) -> Record {
        let id = PageId::new("0123456789abcdef0123456789abcdef").unwrap();
        Record { title: title.into(), ..Record::new(id, "https://example.org/a".into(), Timestamp::from_millis(0)) }
    }

    #[test]
    fn csv_is_that_of_rfc_4180_and_reads_back() {
        let columns = ["title", "author", "fetched_at", "no_archive", "schema"].map(|name| column(name).unwrap());
        let titles = ["plain", "a, \"b\"", "two\r\nlines", "", "Größe"];
        let records = titles.map(record);
        let text = [csv_header(&columns).unwrap(), csv(&columns, &records).unwrap()].concat();
        assert!(
            text.starts_with(b"title,author,fetched_at,no_archive,schema\r\nplain,,1970-01-01T00:00:00Z,false,1\r\n")
        );
        assert!(String::from_utf8_lossy(&text).contains("\"a, \"\"b\"\"\",,"));
        let rows: Vec<csv::StringRecord> = csv::Reader::from_reader(&text[..]).records().map(Result::unwrap).collect();
        assert_eq!(rows.iter().map(|row| row.get(0).unwrap()).collect::<Vec<_>>(), titles);
        let alone = csv(&[column("author").unwrap()], &records[..1]).unwrap();
        assert_eq!(alone, b"\"\"\r\n", "no row is an empty line");
    }

    #[test]
    fn no_text_of_a_stranger_is_a_formula_and_each_can_be_had_back() {
        for text in ["=1+1", "+1", "-5 degrees", "@SUM(A1)", "\t=1", "\r=1", "＝1", "'=1", "''=1"] {
            let said = guarded(text);
            assert!(said.starts_with('\''), "{text}");
            assert_eq!(said.strip_prefix('\''), Some(text));
        }
        for text in ["", "1+1", "a=b", "'quoted'", "don't", " =1"] {
            assert_eq!(guarded(text), text);
        }
    }

    #[test]
    fn json_leaves_out_what_has_no_value() {
        let columns = ["author", "title", "image_of_site"].map(|name| column(name).unwrap());
        let said = json(&columns, &[record("\"a\"\n")]).unwrap();
        assert_eq!(String::from_utf8(said).unwrap(), "{\"title\":\"\\\"a\\\"\\n\",\"image_of_site\":false}\n");
    }
}
