//! Destinations of an export: standard output, or a file that gets its final name once it is complete.

use anyhow::{Context, Result};
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

/// Context of the system's error if a write fails.
pub(crate) const CANNOT: &str = "the export cannot be written";

/// An open destination. Dropping it deletes an unfinished file.
pub(crate) struct Destination {
    file: File,
    /// The temporary and the final path of an unfinished file.
    renamed: Option<(PathBuf, PathBuf)>,
}

impl Destination {
    pub(crate) fn open(output: Option<&Path>) -> Result<Destination> {
        let Some(path) = output else {
            return Ok(Destination { file: File::from(io::stdout().as_fd().try_clone_to_owned()?), renamed: None });
        };
        let cannot = || format!("{} cannot be written", path.display());
        // A pipe or a device cannot be replaced by renaming, so write to it directly.
        if fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
            let file = fs::OpenOptions::new().write(true).open(path).with_context(cannot)?;
            return Ok(Destination { file, renamed: None });
        }
        let mut name = path.file_name().map(ToOwned::to_owned).unwrap_or_default();
        name.push(".part");
        let part = path.with_file_name(name);
        let file = File::create(&part).with_context(cannot)?;
        Ok(Destination { file, renamed: Some((part, path.to_owned())) })
    }

    /// Writes bytes; fails if the disk is full or the pipe is closed.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all(bytes).context(CANNOT)
    }

    #[cfg(feature = "parquet")]
    pub(crate) fn file(&self) -> Result<File> {
        self.file.try_clone().context(CANNOT)
    }

    /// Syncs a complete file, and renames it to its final path.
    pub(crate) fn finish(mut self) -> Result<()> {
        if let Some((part, path)) = &self.renamed {
            self.file.sync_all().context(CANNOT)?;
            fs::rename(part, path).context(CANNOT)?;
            self.renamed = None;
        }
        Ok(())
    }
}

impl Drop for Destination {
    fn drop(&mut self) {
        if let Some((part, _)) = &self.renamed {
            // An error cannot be reported from `drop`.
            let _left_behind = fs::remove_file(part);
        }
    }
}
