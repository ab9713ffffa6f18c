//! Valid keys of objects.

use crate::error::corrupt;
use curlew_ports::PortError;

/// Maximum length of a key, in bytes.
const MAX_KEY: usize = 512;
/// Maximum number of characters of an invalid key that its error shows.
const SHOWN: usize = 80;

/// Refuses an invalid key.
pub(crate) fn check(key: &str) -> Result<(), PortError> {
    if key.len() <= MAX_KEY && key.split('/').all(is_part) {
        return Ok(());
    }
    let given: String = key.chars().take(SHOWN).collect();
    Err(corrupt(format!("the key '{}'", given.escape_debug()), "it is not a key of an object"))
}

fn is_part(part: &str) -> bool {
    !matches!(part, "" | "." | "..") && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b))
}
