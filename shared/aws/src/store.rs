//! A stack's adapters.

use crate::connection::Connection;
use crate::hosts::HostTable;
use crate::jobs::Jobs;
use crate::marks::MarkTable;
use crate::names::Names;
use crate::objects::Objects;
use crate::pages::PageTable;
use crate::robots::RobotsTable;
use crate::sources::SourceTable;
use crate::table::Table;
use std::sync::Arc;

/// A deployed stack. Cheap to clone; its parts share their clients.
#[derive(Clone, Debug)]
pub struct Store {
    hosts: Arc<HostTable>,
    robots: Arc<RobotsTable>,
    marks: Arc<MarkTable>,
    pages: Arc<PageTable>,
    sources: Arc<SourceTable>,
    jobs: Arc<Jobs>,
    objects: Arc<Objects>,
    name: Arc<str>,
}

impl Store {
    /// Creates the store of the stack with these names. Makes no request.
    pub fn new(connection: &Connection, names: Names) -> Store {
        let rows = connection.dynamodb();
        let table = |name: String| Table::new(rows.clone(), name, &names.stack);
        let objects = Arc::new(Objects::new(connection.s3(), &names));
        Store {
            hosts: Arc::new(HostTable::new(table(names.hosts()))),
            robots: Arc::new(RobotsTable::new(table(names.hosts()), Arc::clone(&objects))),
            marks: Arc::new(MarkTable::new(table(names.hosts()))),
            pages: Arc::new(PageTable::new(table(names.pages()))),
            sources: Arc::new(SourceTable::new(table(names.sources()))),
            jobs: Arc::new(Jobs::new(
                connection.sqs(),
                table(names.parked()),
                Arc::clone(&objects),
                &names,
                connection.clock(),
            )),
            objects,
            name: names.stack.as_str().into(),
        }
    }

    /// Returns the stack's name.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns host states: `HostLedger` and `Hosts`.
    pub fn hosts(&self) -> Arc<HostTable> {
        Arc::clone(&self.hosts)
    }

    /// Returns copies of robots.txt: `RobotsStore`.
    pub fn robots(&self) -> Arc<RobotsTable> {
        Arc::clone(&self.robots)
    }

    /// Returns named instants: `Marks`.
    pub fn marks(&self) -> Arc<MarkTable> {
        Arc::clone(&self.marks)
    }

    /// Returns rows of pages: `Pages`.
    pub fn pages(&self) -> Arc<PageTable> {
        Arc::clone(&self.pages)
    }

    /// Returns rows of feeds and sites: `Sources`.
    pub fn sources(&self) -> Arc<SourceTable> {
        Arc::clone(&self.sources)
    }

    /// Returns the queues: `Queue` and `Inbox`.
    pub fn jobs(&self) -> Arc<Jobs> {
        Arc::clone(&self.jobs)
    }

    /// Returns objects: `Blobs`.
    pub fn objects(&self) -> Arc<Objects> {
        Arc::clone(&self.objects)
    }
}
