//! `curlew export bulk`: writes changes as `_bulk` actions to a file or an engine. A cursor lets the next run continue.

use super::columns::{COLUMNS, Column};
use super::destination::Destination;
use super::engine::{Action, Engine};
use super::lines;
use crate::args::BulkArgs;
use crate::output::{self, count};
use crate::world::World;
use anyhow::{Context, Result, bail};
use curlew_catalog::export::changes::{Change, Cursor};
use serde_json::json;
use std::path::Path;
use std::{fs, io};

/// Maximum size of a batch in bytes; a single document may be larger. Engines on small machines accept 10 MB.
const MAX_BATCH: usize = 4 << 20;
const MAX_ACTIONS: usize = 1_000;
/// Maximum number of refused documents reported.
const NAMED: usize = 20;

enum Receiver {
    File(Destination),
    Engine(Engine),
}

struct Bulk {
    receiver: Receiver,
    batch: Vec<Action>,
    bytes: usize,
    sent: u64,
    refused: u64,
}

/// Writes or posts all changes since the cursor, and stores the new cursor.
pub(crate) async fn bulk(world: &World, args: BulkArgs) -> Result<()> {
    let receiver = match &args.to {
        Some(to) => {
            let guard = &world.config.guard;
            Receiver::Engine(Engine::new(to, args.authorization.as_deref(), guard, world.clock.clone())?)
        }
        None => Receiver::File(Destination::open(args.output.as_deref())?),
    };
    let mut bulk = Bulk { receiver, batch: vec![], bytes: 0, sent: 0, refused: 0 };
    let columns: Vec<&'static Column> = COLUMNS.iter().collect();
    let start = match args.cursor.as_deref().map(read_cursor).transpose()?.flatten() {
        Some(cursor) => cursor,
        None => args.since.map_or_else(Cursor::default, Cursor::since),
    };
    let export = world.library.export();
    let write = async |changes: Vec<Change>, cursor: &Cursor| -> Result<()> {
        // A part without changes only advances the cursor.
        let is_due = changes.is_empty();
        for change in changes {
            bulk.add(action(change, &columns, &args.index)?).await?;
        }
        let is_posting = matches!(bulk.receiver, Receiver::Engine(_));
        let is_half_full = bulk.bytes >= MAX_BATCH / 2 || bulk.batch.len() >= MAX_ACTIONS / 2;
        if is_posting && (is_due || is_half_full) {
            bulk.send().await?;
            keep_cursor(args.cursor.as_deref(), cursor)?;
        }
        Ok(())
    };
    let end = Box::pin(export.changes(start, write)).await?;
    bulk.send().await?;
    let Bulk { receiver, sent, refused, .. } = bulk;
    let is_posted = matches!(receiver, Receiver::Engine(_));
    if let Receiver::File(destination) = receiver {
        destination.finish()?;
    }
    keep_cursor(args.cursor.as_deref(), &end)?;
    if is_posted {
        output::line(format!("{} taken, {refused} refused", count(sent - refused, "action")))?;
    }
    if refused > 0 {
        bail!("the engine refused {}; they are sent again when their pages change", count(refused, "document"));
    }
    Ok(())
}

impl Bulk {
    async fn add(&mut self, action: Action) -> Result<()> {
        if self.bytes + action.len() > MAX_BATCH || self.batch.len() >= MAX_ACTIONS {
            self.send().await?;
        }
        self.bytes += action.len();
        self.batch.push(action);
        Ok(())
    }

    async fn send(&mut self) -> Result<()> {
        let batch = std::mem::take(&mut self.batch);
        self.bytes = 0;
        match &mut self.receiver {
            _ if batch.is_empty() => {}
            Receiver::File(destination) => destination.write(&batch.concat())?,
            Receiver::Engine(engine) => {
                for why in engine.take(&batch).await? {
                    self.refused += 1;
                    if self.refused <= NAMED as u64 {
                        output::error_line(format!("curlew: refused: {why}"));
                    }
                }
            }
        }
        self.sent += batch.len() as u64;
        Ok(())
    }
}

fn action(change: Change, columns: &[&'static Column], index: &str) -> io::Result<Action> {
    let line = |action: &str, id: &str| format!("{}\n", json!({ action: { "_index": index, "_id": id } })).into_bytes();
    match change {
        Change::Delete(id) => Ok(line("delete", id.as_str())),
        Change::Index(record) => {
            let document = lines::json(columns, std::slice::from_ref(&*record))?;
            Ok([line("index", record.id.as_str()), document].concat())
        }
    }
}

/// Reads a cursor; `None` if the file does not exist.
fn read_cursor(path: &Path) -> Result<Option<Cursor>> {
    let json = match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        json => json.with_context(|| format!("{} cannot be read", path.display()))?,
    };
    let cursor = serde_json::from_slice::<Cursor>(&json);
    let cursor = cursor.with_context(|| format!("{} is not a cursor of `curlew export bulk`", path.display()))?;
    if !cursor.is_known() {
        bail!("another version of curlew wrote {}; start again without it", path.display());
    }
    Ok(Some(cursor))
}

fn keep_cursor(path: Option<&Path>, cursor: &Cursor) -> Result<()> {
    let Some(path) = path else { return Ok(()) };
    let mut file = Destination::open(Some(path))?;
    file.write(&serde_json::to_vec(cursor)?)?;
    file.finish()
}
