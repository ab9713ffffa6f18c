//! Records as Apache Parquet, written with its low-level column writers.

use super::columns::{Cell, Column, ColumnType, SCHEMA};
use super::destination::Destination;
use super::{next, stream};
use crate::failure::usage;
use crate::world::World;
use anyhow::{Context, Result};
use curlew_catalog::export::RecordFilter;
use curlew_model::Record;
use parquet::basic::{Compression, LogicalType, Repetition, TimeUnit, Type as Physical, ZstdLevel};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{ColumnPath, Type, TypePtr};
use std::fs::File;
use std::io::{self, IsTerminal};
use std::path::Path;
use std::sync::Arc;

/// Number of bytes of rows after which a row group is written; a group is held in memory.
const GROUP_BYTES: usize = 32 * 1024 * 1024;
/// Approximate number of bytes of a row without its text.
const ROW_BYTES: usize = 512;
/// Number of values of a column copied at a time.
const VALUES_AT_ONCE: usize = 1_024;
const LEVEL: i32 = 3;
/// Columns with nearly unique values, for which a dictionary would only add cost.
const WITHOUT_DICTIONARY: [&str; 7] = ["id", "url", "title", "text", "fetched_at", "thumbnail", "simhash"];
/// Columns whose minimum and maximum help no query.
const WITHOUT_STATISTICS: [&str; 4] = ["title", "text", "thumbnail", "simhash"];

pub(super) async fn export(
    world: &World,
    filter: RecordFilter,
    columns: Arc<[&'static Column]>,
    output: Option<&Path>,
) -> Result<()> {
    if output.is_none() && io::stdout().is_terminal() {
        return Err(usage("Parquet is a binary format: name a file with --output FILE, or redirect standard output"));
    }
    let destination = Destination::open(output)?;
    let write = move |mut parts| {
        let mut table = Table::begin(destination.file()?, columns)?;
        while let Some(records) = next(&mut parts)? {
            table.write(records)?;
        }
        table.finish()?;
        destination.finish()
    };
    stream(world, filter, |records| records, write).await
}

struct Table {
    columns: Arc<[&'static Column]>,
    file: SerializedFileWriter<File>,
    rows: Vec<Record>,
    bytes: usize,
}

impl Table {
    fn begin(file: File, columns: Arc<[&'static Column]>) -> Result<Table> {
        let (schema, properties) = (schema(&columns).map_err(cause)?, Arc::new(properties().map_err(cause)?));
        let file = SerializedFileWriter::new(file, schema, properties).map_err(cause)?;
        Ok(Table { columns, file, rows: vec![], bytes: 0 })
    }

    fn write(&mut self, records: Vec<Record>) -> Result<()> {
        for record in records {
            self.bytes += record.text.len() + ROW_BYTES;
            self.rows.push(record);
            if self.bytes >= GROUP_BYTES {
                self.group()?;
            }
        }
        Ok(())
    }

    /// Writes the remaining rows and the end of the file.
    fn finish(mut self) -> Result<()> {
        self.group()?;
        self.file.finish().map_err(cause)?;
        Ok(())
    }

    fn group(&mut self) -> Result<()> {
        let rows = std::mem::take(&mut self.rows);
        self.bytes = 0;
        if rows.is_empty() {
            return Ok(());
        }
        let mut group = self.file.next_row_group().map_err(cause)?;
        for column in self.columns.iter() {
            let mut writer = group.next_column().map_err(cause)?.context("a column has no writer")?;
            let written = match column.of {
                ColumnType::Text => write::<ByteArrayType>(&mut writer, column, &rows, |cell| match cell {
                    Cell::Text(text) => Some(ByteArray::from(text.into_owned().into_bytes())),
                    _ => None,
                }),
                ColumnType::Time | ColumnType::Integer => {
                    write::<Int64Type>(&mut writer, column, &rows, |cell| match cell {
                        Cell::Time(at) => Some(at.as_millis()),
                        Cell::Integer(number) => Some(number),
                        _ => None,
                    })
                }
                ColumnType::Boolean => write::<BoolType>(&mut writer, column, &rows, |cell| match cell {
                    Cell::Boolean(is) => Some(is),
                    _ => None,
                }),
            };
            written.and_then(|()| writer.close()).map_err(cause)?;
        }
        group.close().map_err(cause)?;
        Ok(())
    }
}

/// Writes the values of one column; a row without a value has definition level 0.
fn write<T: DataType>(
    writer: &mut SerializedColumnWriter<'_>,
    column: &Column,
    rows: &[Record],
    value: impl Fn(Cell<'_>) -> Option<T::T>,
) -> Result<(), ParquetError> {
    for rows in rows.chunks(VALUES_AT_ONCE) {
        let cells: Vec<Option<T::T>> = rows.iter().map(|record| value((column.cell)(record))).collect();
        let levels: Vec<i16> = cells.iter().map(|cell| i16::from(cell.is_some())).collect();
        let values: Vec<T::T> = cells.into_iter().flatten().collect();
        writer.typed::<T>().write_batch(&values, (!column.is_required).then_some(&levels[..]), None)?;
    }
    Ok(())
}

fn schema(columns: &[&'static Column]) -> Result<TypePtr, ParquetError> {
    let field = |column: &&'static Column| {
        let (physical, logical) = match column.of {
            ColumnType::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            ColumnType::Time => (Physical::INT64, Some(LogicalType::timestamp(true, TimeUnit::MILLIS))),
            ColumnType::Integer => (Physical::INT64, Some(LogicalType::integer(64, true))),
            ColumnType::Boolean => (Physical::BOOLEAN, None),
        };
        let repetition = if column.is_required { Repetition::REQUIRED } else { Repetition::OPTIONAL };
        let field = Type::primitive_type_builder(column.name, physical);
        field.with_repetition(repetition).with_logical_type(logical).build().map(Arc::new)
    };
    let fields = columns.iter().map(field).collect::<Result<Vec<_>, _>>()?;
    Type::group_type_builder("record").with_fields(fields).build().map(Arc::new)
}

fn properties() -> Result<WriterProperties, ParquetError> {
    let path = |name: &str| ColumnPath::from(name);
    let mut properties = WriterProperties::builder()
        .set_created_by(format!("curlew version {}", env!("CARGO_PKG_VERSION")))
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(LEVEL)?))
        .set_key_value_metadata(Some(vec![KeyValue::new("curlew.schema".to_owned(), SCHEMA.to_string())]));
    for name in WITHOUT_DICTIONARY {
        properties = properties.set_column_dictionary_enabled(path(name), false);
    }
    for name in WITHOUT_STATISTICS {
        properties = properties.set_column_statistics_enabled(path(name), EnabledStatistics::None);
    }
    Ok(properties.build())
}

/// Returns the I/O error, such as that of a closed pipe, that caused a Parquet error, or else that error.
fn cause(error: ParquetError) -> anyhow::Error {
    let error = match error {
        ParquetError::External(below) => match below.downcast::<io::Error>() {
            Ok(error) => anyhow::Error::from(*error),
            Err(other) => anyhow::anyhow!(other),
        },
        error => error.into(),
    };
    error.context(super::destination::CANNOT)
}
