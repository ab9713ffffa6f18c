//! `curlew export records`: streams all current records into one file. A separate thread writes, so that a slow disk or
//! pipe reader delays only the reading of records.

pub(crate) mod bulk;
pub(crate) mod columns;
pub(crate) mod destination;
mod engine;
mod lines;
#[cfg(feature = "parquet")]
mod parquet;

use crate::args::RecordsArgs;
use crate::commands::transfer::site_named;
use crate::world::World;
use anyhow::{Result, anyhow};
use clap::ValueEnum;
use columns::{COLUMNS, Column};
use curlew_catalog::export::RecordFilter;
use curlew_model::Record;
use destination::Destination;
use std::io;
use std::path::Path;
use std::sync::Arc;
use tokio::sync::mpsc::{Receiver, channel};

const WAITING: usize = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// One JSON object per line.
    Jsonl,
    /// Comma-separated values with a header line (RFC 4180).
    Csv,
    /// Apache Parquet.
    Parquet,
}

/// Writes the selected records to a file or to standard output, with the selected columns or else all.
pub(crate) async fn records(world: &World, args: RecordsArgs) -> Result<()> {
    let RecordsArgs { format, since, site, lang, columns, output } = args;
    let site = site_named(world, site.as_deref())?;
    // Drop subtags after the primary language, as in `en-GB`.
    let language = lang.as_deref().and_then(|code| code.split(['-', '_']).next()).map(str::to_ascii_lowercase);
    let filter = RecordFilter { since, site, language };
    let columns: Arc<[&'static Column]> = if columns.is_empty() { COLUMNS.iter().collect() } else { columns.into() };
    let output = output.as_deref();
    match format {
        ExportFormat::Jsonl => text(world, filter, Vec::new(), lines::json, columns, output).await,
        ExportFormat::Csv => {
            let header = lines::csv_header(&columns)?;
            text(world, filter, header, lines::csv, columns, output).await
        }
        #[cfg(feature = "parquet")]
        ExportFormat::Parquet => parquet::export(world, filter, columns, output).await,
        #[cfg(not(feature = "parquet"))]
        ExportFormat::Parquet => Err(crate::optional::missing("--format parquet", "parquet")),
    }
}

async fn text(
    world: &World,
    filter: RecordFilter,
    header: Vec<u8>,
    encode: fn(&[&'static Column], &[Record]) -> io::Result<Vec<u8>>,
    columns: Arc<[&'static Column]>,
    output: Option<&Path>,
) -> Result<()> {
    let mut destination = Destination::open(output)?;
    let encode = move |records: Vec<Record>| encode(&columns, &records);
    stream(world, filter, encode, move |mut parts| {
        destination.write(&header)?;
        while let Some(part) = next(&mut parts)? {
            destination.write(&part?)?;
        }
        destination.finish()
    })
    .await
}

/// Passes encoded records to `write` on a separate thread. A stream without a final `None` was cut short.
async fn stream<T: Send + 'static>(
    world: &World,
    filter: RecordFilter,
    encode: impl Fn(Vec<Record>) -> T + Send + Sync + 'static,
    write: impl FnOnce(Receiver<Option<T>>) -> Result<()> + Send + 'static,
) -> Result<()> {
    let (sender, parts) = channel(WAITING);
    let writing = tokio::task::spawn_blocking(move || write(parts));
    let send = async |part| sender.send(part).await.map_err(|_| anyhow!("the export has ended"));
    let export = world.library.export();
    let read = Box::pin(export.run(filter, encode, async |part| send(Some(part)).await)).await;
    let read = match read {
        Ok(()) => send(None).await,
        error => error,
    };
    drop(sender);
    let written = writing.await?;
    match read {
        // The writer's error is the cause.
        Err(_) if written.as_ref().is_err_and(|error| !error.is::<CutShort>()) => written,
        Err(error) => Err(error),
        Ok(()) => written,
    }
}

/// Reading ended before the last record.
#[derive(Debug, thiserror::Error)]
#[error("the export is cut short")]
struct CutShort;

/// Returns the next part; `None` at the end.
fn next<T>(parts: &mut Receiver<Option<T>>) -> Result<Option<T>, CutShort> {
    parts.blocking_recv().ok_or(CutShort)
}
