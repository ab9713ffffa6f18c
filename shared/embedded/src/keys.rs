//! Valid keys of objects, and their files in the folder.

use crate::error::corrupt;
use curlew_ports::PortError;
use std::path::{Path, PathBuf};

/// Maximum length of a key, in bytes.
const MAX_KEY: usize = 512;
/// Maximum length of a part of a key, in bytes: the limit of file systems for a name.
const MAX_PART: usize = 255;

/// Returns the file of a key below `root`.
pub(crate) fn path(root: &Path, key: &str) -> Result<PathBuf, PortError> {
    if key.len() > MAX_KEY || !key.split('/').all(is_part) {
        let given: String = key.chars().take(80).collect();
        return Err(corrupt(format!("the key '{}'", given.escape_debug()), "it is not a key of an object"));
    }
    Ok(root.join(key))
}

/// True if a name may be a part of a key. No other file belongs to the store.
pub(crate) fn is_part(part: &str) -> bool {
    !part.is_empty()
        && part.len() <= MAX_PART
        && part != "."
        && part != ".."
        && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b))
}
