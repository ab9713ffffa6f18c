//! Names of the files in the folder of a store or of a backup.

pub(crate) const DATABASE: &str = "curlew.sqlite3";
pub(crate) const OBJECTS: &str = "objects";
pub(crate) const INCOMING: &str = "incoming";
/// The lock file. It is not deleted after use, since deleting it could let two processes in.
pub(crate) const LOCK: &str = "curlew.lock";
/// Files of a store other than its database and its objects: the keys that sign requests.
pub(crate) const BESIDE: [&str; 1] = ["keys.json"];
/// Marker that exists while a restore moves files into place. A store with this marker is not opened.
pub(crate) const RESTORING: &str = "curlew.restoring";
/// The file that makes a folder a backup. It is written first, without a checksum, and again at the end.
pub(crate) const SEAL: &str = "backup.json";
/// The checksums of a backup.
pub(crate) const SUMS: &str = "SHA256SUMS";
