//! The version of a stack's rows and objects.

use crate::error::corrupt;
use crate::item::{self, text};
use crate::store::Store;
use crate::table::{Read, Table};
use curlew_ports::{PortError, Version};

/// Version that this program writes; it reads this and all earlier ones.
/// Since 2 a host key's state names the poll groups whose leases count as its own.
const KNOWN: u32 = 2;
/// Key of the item, among the marks: the functions that read it may read those.
const KEY: &str = "m#version";

impl Store {
    /// Checks that the stack is of a version that this program knows; writes this program's version if the stack has none or an
    /// earlier one. For once a process.
    ///
    /// # Errors
    /// [`PortError::Corrupt`] if a later program has written it, transport errors.
    pub async fn check_version(&self) -> Result<(), PortError> {
        check(self.marks().table(), self.name()).await
    }
}

async fn check(table: &Table, stack: &str) -> Result<(), PortError> {
    let what = || format!("the version of the stack {stack}");
    let seen = match table.get("read the version", item::key(KEY), Read::Eventual).await? {
        None => Version::ABSENT,
        Some(item) => {
            let found = item::state(what, &item)?.as_s().map_err(|_| corrupt(what(), "it is no text"))?;
            let found: u32 = found.parse().map_err(|e| corrupt(what(), e))?;
            if found > KNOWN {
                let why = format!(
                    "it is {found}, but this program knows only versions up to {KNOWN}: use or deploy a newer curlew"
                );
                return Err(corrupt(what(), why));
            }
            if found == KNOWN {
                return Ok(());
            }
            item::version(what, &item)?
        }
    };
    match table.swap("keep the version", item::key(KEY), seen, text(KNOWN.to_string())).await {
        // Another process was first.
        Ok(_) | Err(PortError::Conflict) => Ok(()),
        Err(other) => Err(other),
    }
}
