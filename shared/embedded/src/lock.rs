//! The lock that keeps a second process out of the folder.

use crate::error::OpenError;
use crate::layout::LOCK;
use crate::private;
use std::fs::{File, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::Path;

/// Maximum number of bytes read from the file; more than the digits of any process number.
const MAX_DIGITS: u64 = 20;

/// Mode in which a store is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// For crawling and serving: creates the folder if it is missing, takes the lock, and deletes the remains of a
    /// crash. One process at a time.
    Exclusive,
    /// For reading, and for small changes to rows such as a block, while another process may be running. Creates and
    /// deletes nothing. A read-only store can still be read.
    Shared,
}

/// The lock, released on drop. The operating system also releases it when the process ends for any reason.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock of `dir` and writes the process number into the lock file.
    pub(crate) fn take(dir: &Path) -> Result<Lock, OpenError> {
        let io = |error| OpenError::from_io(dir, error);
        let path = dir.join(LOCK);
        let mut file = private::open_or_create(&path).map_err(io)?;
        private::tighten(&path).map_err(io)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(OpenError::InUse { dir: dir.to_owned(), process: holder(&mut file) });
            }
            Err(TryLockError::Error(error)) => return Err(io(error)),
        }
        file.set_len(0).map_err(io)?;
        file.rewind().map_err(io)?;
        write!(file, "{}", std::process::id()).map_err(io)?;
        Ok(Lock { _file: file })
    }
}

/// True if another process holds the lock of `dir`. Writes nothing.
pub(crate) fn is_held(dir: &Path) -> bool {
    let held = |file: File| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock));
    File::open(dir.join(LOCK)).is_ok_and(held)
}

/// Returns the process number in the lock file. It only informs people; the operating system's lock decides.
fn holder(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.take(MAX_DIGITS).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}
