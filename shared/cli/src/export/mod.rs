//! `curlew export records`: all current records, streamed from the segments into one file.
//!
//! Segments are read and encoded on threads of the pool. A thread of its own does the writing, so that a slow disk or
//! reader of a pipe holds back the reading, and nothing else.

pub(crate) mod columns;
pub(crate) mod destination;
mod lines;
#[cfg(feature = "parquet")]
mod parquet;

use crate::failure::usage;
use crate::world::World;
use anyhow::{Result, anyhow};
use clap::ValueEnum;
use columns::{COLUMNS, Column};
use curlew_model::Record;
use curlew_stages::catalog::export::RecordFilter;
use destination::Destination;
use std::fs::File;
use std::io::{self, IsTerminal};
use std::path::Path;
use std::sync::Arc;
use tokio::sync::mpsc::{Receiver, channel};

/// Portions that wait to be written.
const WAITING: usize = 2;

/// Form of exported records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// One JSON object per line.
    Jsonl,
    /// Comma-separated values with a header line (RFC 4180).
    Csv,
    /// Apache Parquet.
    Parquet,
}

/// Writes records in a form that needs more than one portion at a time.
trait RecordWriter {
    /// Takes the next records.
    ///
    /// # Errors
    /// The destination's.
    fn write(&mut self, records: Vec<Record>) -> Result<()>;

    /// Writes what is still held, and the end of the file.
    ///
    /// # Errors
    /// The destination's.
    fn finish(&mut self) -> Result<()>;
}

/// Opens a [`RecordWriter`] over a file.
type OpenWriter = fn(File, &[&'static Column]) -> Result<Box<dyn RecordWriter>>;

/// Writes the records that a filter takes to a file, or to standard output; all columns, if none is chosen.
pub(crate) async fn records(
    world: &World,
    filter: RecordFilter,
    (format, columns): (ExportFormat, Vec<&'static Column>),
    output: Option<&Path>,
) -> Result<()> {
    let columns = if columns.is_empty() { COLUMNS.iter().collect() } else { columns };
    let columns: Arc<[&'static Column]> = columns.into();
    let chosen = columns.clone();
    match format {
        ExportFormat::Jsonl => {
            let encode = move |records: Vec<Record>| lines::json(&chosen, &records);
            let mut destination = Destination::open(output)?;
            stream(world, filter, encode, move |mut parts| {
                while let Some(part) = next(&mut parts)? {
                    destination.write(&part?)?;
                }
                destination.finish()
            })
            .await
        }
        ExportFormat::Csv => {
            let encode = move |records: Vec<Record>| lines::csv(&chosen, &records);
            let mut destination = Destination::open(output)?;
            stream(world, filter, encode, move |mut parts| {
                destination.write(&lines::csv_header(&columns)?)?;
                while let Some(part) = next(&mut parts)? {
                    destination.write(&part?)?;
                }
                destination.finish()
            })
            .await
        }
        ExportFormat::Parquet => {
            let open = parquet_writer()?;
            if output.is_none() && io::stdout().is_terminal() {
                return Err(usage("Parquet is no text: name a file by --output FILE, or redirect standard output"));
            }
            let destination = Destination::open(output)?;
            stream(
                world,
                filter,
                |records| records,
                move |mut parts| {
                    let mut writer = open(destination.file()?, &columns)?;
                    while let Some(records) = next(&mut parts)? {
                        writer.write(records)?;
                    }
                    writer.finish()?;
                    destination.finish()
                },
            )
            .await
        }
    }
}

#[cfg(feature = "parquet")]
#[expect(clippy::unnecessary_wraps, reason = "the build that lacks the feature refuses")]
fn parquet_writer() -> Result<OpenWriter> {
    Ok(parquet::open)
}

/// Refuses Parquet: this build cannot write it.
#[cfg(not(feature = "parquet"))]
fn parquet_writer() -> Result<OpenWriter> {
    Err(crate::optional::missing("--format parquet", "parquet"))
}

/// Passes all records, encoded, to `write`, which runs on a thread of its own. The portion `None` is the end; a stream
/// that ends without it is cut short.
async fn stream<T: Send + 'static>(
    world: &World,
    filter: RecordFilter,
    encode: impl Fn(Vec<Record>) -> T + Send + Sync + 'static,
    write: impl FnOnce(Receiver<Option<T>>) -> Result<()> + Send + 'static,
) -> Result<()> {
    let (sender, parts) = channel(WAITING);
    let writing = tokio::task::spawn_blocking(move || write(parts));
    let send = async |part| sender.send(part).await.map_err(|_| anyhow!("the export has ended"));
    let export = world.export();
    let read = Box::pin(export.run(filter, encode, async |part| send(Some(part)).await)).await;
    let read = match read {
        Ok(()) => send(None).await,
        error => error,
    };
    drop(sender);
    let written = writing.await?;
    match read {
        // The writer knows why it ended.
        Err(_) if written.as_ref().is_err_and(|error| !error.is::<CutShort>()) => written,
        Err(error) => Err(error),
        Ok(()) => written,
    }
}

/// Reading ended before the last record.
#[derive(Debug, thiserror::Error)]
#[error("the export is cut short")]
struct CutShort;

/// Returns the next portion; `None` at the end.
fn next<T>(parts: &mut Receiver<Option<T>>) -> Result<Option<T>, CutShort> {
    parts.blocking_recv().ok_or(CutShort)
}
