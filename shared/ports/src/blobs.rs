use crate::PortError;
use async_trait::async_trait;
use bytes::Bytes;

/// Version of an object's content, like an ETag.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Tag(pub String);

/// An object and its tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blob {
    /// The content; may be a memory map.
    pub bytes: Bytes,
    /// The version, to pass to [`Blobs::swap`].
    pub tag: Tag,
}

/// Answer to a request for an object that was read before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    /// The object has not changed.
    Same,
    /// The object has changed; contains the new object, or `None` if it was deleted.
    Changed(Option<Blob>),
}

/// Stores objects by key; each exists completely or not at all. Keys are parts of `[A-Za-z0-9._-]` except `.` and `..`,
/// joined by `/`, at most 512 bytes long; any other key is refused with [`PortError::Corrupt`].
#[async_trait]
pub trait Blobs: Send + Sync {
    /// Returns the object, if there is one.
    async fn get(&self, key: &str) -> Result<Option<Blob>, PortError>;

    /// Returns the object unless its tag is still `seen`; `seen` is `None` for an object that did not exist.
    async fn get_changed(&self, key: &str, seen: Option<&Tag>) -> Result<Seen, PortError> {
        let blob = self.get(key).await?;
        Ok(if blob.as_ref().map(|blob| &blob.tag) == seen { Seen::Same } else { Seen::Changed(blob) })
    }

    /// Returns a range of bytes; [`PortError::NotFound`] without an object, [`PortError::Corrupt`] if it is too short.
    async fn get_range(&self, key: &str, offset: u64, length: u64) -> Result<Bytes, PortError>;

    /// Writes the object; the last writer wins. After an error, such as a full disk, the old content is still there.
    async fn put(&self, key: &str, bytes: Bytes) -> Result<(), PortError>;

    /// Writes the object unless there is one; returns whether it was written.
    async fn put_if_absent(&self, key: &str, bytes: Bytes) -> Result<bool, PortError>;

    /// Replaces the object if its tag is still `seen` (`None` for no object); otherwise [`PortError::Conflict`].
    async fn swap(&self, key: &str, seen: Option<&Tag>, bytes: Bytes) -> Result<Tag, PortError>;

    /// Deletes the object; a missing object is no error.
    async fn delete(&self, key: &str) -> Result<(), PortError>;

    /// Returns at most `limit` keys that begin with `prefix` and come after `after`, in byte order.
    async fn list(&self, prefix: &str, after: Option<&str>, limit: usize) -> Result<Vec<String>, PortError>;
}
