//! Adapters of the ports on SQLite and a folder, for one process.
//!
//! A store is one folder: `curlew.sqlite3` holds rows and queues, `objects/` holds objects as plain files, `incoming/`
//! holds files that are still being written, and `curlew.lock` names the process that holds the lock.
//!
//! Only the owner can access the files (0700, 0600): the secret that signs the forms of the website is one of the
//! objects.
//!
//! [`backup`] copies a store while it is in use; [`restore`] makes a store from such a copy.
//!
//! A write returns after it has reached the disk. Writes that arrive at the same time share one transaction, and thus
//! one flush.

mod backup;
mod check;
mod connect;
mod db;
mod error;
mod folder;
mod keys;
mod layout;
mod lock;
mod private;
mod queue;
mod restore;
mod robots;
mod rows;
mod schema;
mod seal;
mod size;
mod staging;
mod store;
mod writer;

#[cfg(test)]
mod conformance_tests;

pub use backup::{BackupReport, backup};
pub use check::DatabaseReport;
pub use error::OpenError;
pub use folder::Folder;
pub use lock::Access;
pub use restore::{RestoreReport, restore};
pub use seal::BackupError;
pub use size::StoreSize;
pub use store::Store;
