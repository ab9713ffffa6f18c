//! The columns of exported records (docs/reference/records.md). Other programs rely on them: a column keeps its name,
//! type and meaning; adding or removing one makes a new version.

use curlew_model::{Record, Timestamp};
use serde::Serialize;
use std::borrow::Cow;

pub(crate) const SCHEMA: i64 = 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ColumnType {
    Text,
    /// An instant in UTC milliseconds; an RFC 3339 string in formats without instants.
    Time,
    /// A signed 64-bit integer.
    Integer,
    Boolean,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub(crate) enum Cell<'a> {
    Absent,
    Text(Cow<'a, str>),
    Time(Timestamp),
    Integer(i64),
    Boolean(bool),
}

impl<'a> Cell<'a> {
    fn text(text: &'a str) -> Cell<'a> {
        Cell::Text(Cow::Borrowed(text))
    }

    fn any_text(text: Option<&'a String>) -> Cell<'a> {
        text.map_or(Cell::Absent, |text| Cell::text(text))
    }

    fn spelled(value: Option<impl ToString>) -> Cell<'a> {
        value.map_or(Cell::Absent, |value| Cell::Text(Cow::Owned(value.to_string())))
    }

    fn any_time(at: Option<Timestamp>) -> Cell<'a> {
        at.map_or(Cell::Absent, Cell::Time)
    }
}

#[derive(Debug)]
pub(crate) struct Column {
    pub(crate) name: &'static str,
    #[cfg_attr(not(any(feature = "parquet", test)), expect(dead_code, reason = "lines have no types"))]
    pub(crate) of: ColumnType,
    /// True if every record has a value.
    #[cfg_attr(not(any(feature = "parquet", test)), expect(dead_code, reason = "lines leave out what is absent"))]
    pub(crate) is_required: bool,
    pub(crate) cell: fn(&Record) -> Cell<'_>,
}

const fn required(name: &'static str, of: ColumnType, cell: fn(&Record) -> Cell<'_>) -> Column {
    Column { name, of, is_required: true, cell }
}

const fn optional(name: &'static str, of: ColumnType, cell: fn(&Record) -> Cell<'_>) -> Column {
    Column { name, of, is_required: false, cell }
}

pub(crate) static COLUMNS: [Column; 23] = [
    required("schema", ColumnType::Integer, |_| Cell::Integer(SCHEMA)),
    required("id", ColumnType::Text, |record| Cell::text(record.id.as_str())),
    required("url", ColumnType::Text, |record| Cell::text(&record.url)),
    required("host", ColumnType::Text, |record| Cell::text(&record.host)),
    optional("feed", ColumnType::Text, |record| Cell::any_text(record.feed.as_ref())),
    optional("site_name", ColumnType::Text, |record| Cell::any_text(record.site_name.as_ref())),
    required("title", ColumnType::Text, |record| Cell::text(&record.title)),
    required("text", ColumnType::Text, |record| Cell::text(&record.text)),
    optional("language", ColumnType::Text, |record| Cell::any_text(record.language.as_ref())),
    optional("author", ColumnType::Text, |record| Cell::any_text(record.author.as_ref())),
    optional("published", ColumnType::Time, |record| Cell::any_time(record.published)),
    optional("modified", ColumnType::Time, |record| Cell::any_time(record.modified)),
    required("fetched_at", ColumnType::Time, |record| Cell::Time(record.fetched_at)),
    optional("image", ColumnType::Text, |record| Cell::any_text(record.image.as_ref())),
    required("image_of_site", ColumnType::Boolean, |record| Cell::Boolean(record.image_of_site)),
    optional("thumbnail", ColumnType::Text, |record| Cell::spelled(record.thumbnail.as_ref())),
    optional("snippet_limit", ColumnType::Integer, |record| {
        record.snippet_limit.0.map_or(Cell::Absent, |most| Cell::Integer(most.into()))
    }),
    required("no_archive", ColumnType::Boolean, |record| Cell::Boolean(record.no_archive)),
    required("paywalled", ColumnType::Boolean, |record| Cell::Boolean(record.paywalled)),
    optional("unavailable_after", ColumnType::Time, |record| Cell::any_time(record.unavailable_after)),
    optional("content_signal", ColumnType::Text, |record| Cell::any_text(record.preferences.content_signal.as_ref())),
    optional("license", ColumnType::Text, |record| Cell::any_text(record.preferences.license.as_ref())),
    optional("simhash", ColumnType::Text, |record| Cell::spelled(record.simhash)),
];

pub(crate) fn column(name: &str) -> Result<&'static Column, String> {
    let known = || COLUMNS.iter().map(|column| column.name).collect::<Vec<_>>().join(", ");
    COLUMNS.iter().find(|column| column.name == name.trim()).ok_or_else(|| format!("the columns are {}", known()))
}
