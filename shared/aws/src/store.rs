//! All adapters of a stack.

use crate::connection::Connection;
use crate::jobs::Jobs;
use crate::names::Names;
use crate::objects::Objects;
use crate::robots::RobotsTable;
use crate::rows::{HostTable, PageTable};
use crate::sources::SourceTable;
use crate::table::Table;
use curlew_ports::Ports;
use std::sync::Arc;

/// A deployed stack. Cheap to clone; its adapters share their clients.
#[derive(Clone, Debug)]
pub struct Store {
    pub(crate) hosts: Arc<HostTable>,
    pub(crate) robots: Arc<RobotsTable>,
    pub(crate) pages: Arc<PageTable>,
    pub(crate) sources: Arc<SourceTable>,
    jobs: Arc<Jobs>,
    objects: Arc<Objects>,
    pub(crate) name: Arc<str>,
}

impl Store {
    /// Creates the store of the stack with these names. Makes no request.
    pub fn new(connection: &Connection, names: Names) -> Store {
        let rows = connection.dynamodb();
        let table = |part: &str| Table::new(rows.clone(), names.part(part), &names.stack);
        let objects = Arc::new(Objects::new(connection.s3(), &names));
        Store {
            hosts: Arc::new(HostTable(table("hosts"))),
            robots: Arc::new(RobotsTable { table: table("hosts"), objects: objects.clone() }),
            pages: Arc::new(PageTable(table("pages"))),
            sources: Arc::new(SourceTable(table("sources"))),
            jobs: Arc::new(Jobs::new(connection, table("parked"), objects.clone(), &names)),
            objects,
            name: names.stack.as_str().into(),
        }
    }

    /// Returns the ports of the stack.
    pub fn ports(&self) -> Ports {
        Ports {
            ledger: self.hosts.clone(),
            hosts: self.hosts.clone(),
            robots: self.robots.clone(),
            marks: self.hosts.clone(),
            pages: self.pages.clone(),
            sources: self.sources.clone(),
            queue: self.jobs.clone(),
            inbox: self.jobs.clone(),
            blobs: self.objects.clone(),
            is_billed: true,
        }
    }

    /// Returns the queues.
    pub fn jobs(&self) -> Arc<Jobs> {
        self.jobs.clone()
    }

    /// Returns the objects.
    pub fn objects(&self) -> Arc<Objects> {
        self.objects.clone()
    }
}
