//! The version of the format of a stack's rows and objects.

use crate::error::corrupt;
use crate::item::{self, text};
use crate::store::Store;
use crate::table::Read;
use curlew_ports::{PortError, Version, swapped};

/// Version that this program writes; it can read this version and all earlier ones.
pub const KNOWN_VERSION: u32 = 1;
/// Key of the item in the table of marks: functions that read the version have permission to read marks.
const KEY: &str = "m#version";

impl Store {
    /// Checks that this program knows the stack's version, else [`PortError::Corrupt`]; writes its own version if the
    /// stack has none or an earlier one. Call it once per process.
    pub async fn check_version(&self) -> Result<(), PortError> {
        let found = self.read_version().await?;
        known(&self.name, found.map(|(version, _)| version))?;
        let seen = match found {
            None => Version::ABSENT,
            Some((KNOWN_VERSION, _)) => return Ok(()),
            Some((_, seen)) => seen,
        };
        let version = text(KNOWN_VERSION.to_string());
        // After a conflict, another process was first.
        swapped(self.hosts.0.swap("keep the version", item::key(KEY), seen, version).await).map(drop)
    }

    /// Checks that no newer program has written the stack, else [`PortError::Corrupt`], without writing anything: an
    /// eventually consistent read of one item.
    pub async fn check_not_later(&self) -> Result<(), PortError> {
        known(&self.name, self.version().await?)
    }

    /// Returns the version of the stack, without writing anything; `None` if no function or command has used the stack.
    pub async fn version(&self) -> Result<Option<u32>, PortError> {
        Ok(self.read_version().await?.map(|(found, _)| found))
    }

    /// Returns the version of the stack, and the version of its item.
    async fn read_version(&self) -> Result<Option<(u32, Version)>, PortError> {
        let item = self.hosts.0.get("read the version", item::key(KEY), Read::Eventual).await?;
        item.map(|item| item::versioned_text(|| name(&self.name), &item)).transpose()
    }
}

/// Checks that this program can use a stack of this version: it reads all earlier versions, and a stack without a
/// version is new.
fn known(stack: &str, found: Option<u32>) -> Result<(), PortError> {
    let Some(found) = found.filter(|found| *found > KNOWN_VERSION) else { return Ok(()) };
    let why = format!(
        "it is {found}, but this program knows only versions up to {KNOWN_VERSION}: use or deploy a newer curlew"
    );
    Err(corrupt(name(stack), why))
}

fn name(stack: &str) -> String {
    format!("the version of the stack {stack}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_later_version_is_refused() {
        for found in [None, Some(0), Some(KNOWN_VERSION - 1), Some(KNOWN_VERSION)] {
            assert!(known("s", found).is_ok(), "{found:?}");
        }
        for found in [KNOWN_VERSION + 1, u32::MAX] {
            let refused = known("s", Some(found)).expect_err("is refused").to_string();
            assert!(refused.starts_with("the version of the stack s cannot be read: it is "), "{refused}");
            assert!(refused.contains(&format!("it is {found}, ")), "{refused}");
            assert!(refused.ends_with("deploy a newer curlew"), "{refused}");
        }
    }
}
