//! Keys of objects: validation, and listing in byte order with as few folders read as possible.

use std::io;
use std::path::Path;

/// Maximum length of a key, in bytes.
const MAX_KEY: usize = 512;
/// Maximum length of a part of a key, in bytes: the limit of file systems for a file name.
const MAX_PART: usize = 255;

/// True if a text is a valid key of an object, and thus a valid path below the folder.
pub(crate) fn is_key(key: &str) -> bool {
    key.len() <= MAX_KEY && key.split('/').all(is_part)
}

/// True if a name is a valid part of a key. Files with other names do not belong to the store.
fn is_part(part: &str) -> bool {
    !part.is_empty()
        && part.len() <= MAX_PART
        && part != "."
        && part != ".."
        && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b))
}

/// A request for a list of keys.
pub(crate) struct Listing<'a> {
    pub(crate) prefix: &'a str,
    pub(crate) after: Option<&'a str>,
    pub(crate) limit: usize,
}

impl Listing<'_> {
    /// Returns the matching keys below `root`.
    pub(crate) fn read(&self, root: &Path) -> io::Result<Vec<String>> {
        // Start at the deepest folder that the prefix names in full.
        let folder = self.prefix.rfind('/').map_or("", |end| &self.prefix[..=end]);
        let mut keys = Vec::new();
        if folder.is_empty() || folder.trim_end_matches('/').split('/').all(is_part) {
            self.walk(root, folder, &mut keys)?;
        }
        Ok(keys)
    }

    /// Adds the keys below `folder`, which is empty or ends with a slash. The longest valid key bounds the depth.
    fn walk(&self, root: &Path, folder: &str, keys: &mut Vec<String>) -> io::Result<()> {
        for name in entries(&root.join(folder))? {
            if keys.len() >= self.limit {
                break;
            }
            let key = format!("{folder}{name}");
            if key.ends_with('/') {
                let inside = key.starts_with(self.prefix) || self.prefix.starts_with(&key);
                if inside && self.after.is_none_or(|after| *key > *after || after.starts_with(&key)) {
                    self.walk(root, &key, keys)?;
                }
            } else if key.starts_with(self.prefix) && self.after.is_none_or(|after| key.as_str() > after) {
                keys.push(key);
            }
        }
        Ok(())
    }
}

/// Returns the names in a folder, with a slash after names of folders: sorted this way, whole keys are in byte order.
fn entries(folder: &Path) -> io::Result<Vec<String>> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(Vec::new());
        }
        Err(error) => return Err(error),
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry?;
        let Ok(mut name) = entry.file_name().into_string() else { continue };
        if !is_part(&name) {
            continue;
        }
        let kind = entry.file_type()?;
        if kind.is_dir() {
            name.push('/');
        } else if !kind.is_file() {
            continue;
        }
        names.push(name);
    }
    names.sort_unstable();
    Ok(names)
}
