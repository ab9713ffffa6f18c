//! Names of the files in a store's folder, and in a backup's.

pub(crate) const DATABASE: &str = "curlew.sqlite3";
pub(crate) const OBJECTS: &str = "objects";
pub(crate) const INCOMING: &str = "incoming";
/// The lock. It stays after the lock is released, since deleting it could let two processes in.
pub(crate) const LOCK: &str = "curlew.lock";
/// Files of a store besides its database and its objects: the keys that sign requests.
pub(crate) const BESIDE: [&str; 1] = ["keys.json"];
/// The file that is there while the files of a backup take their places. A store with it is not opened.
pub(crate) const RESTORING: &str = "curlew.restoring";
/// The file that makes a folder a backup. It is written first, without checksums, and again as the last file.
pub(crate) const SEAL: &str = "backup.json";
/// The checksums of a backup.
pub(crate) const SUMS: &str = "SHA256SUMS";
