use crate::PortError;
use async_trait::async_trait;
use bytes::Bytes;

/// Version of an object's content, as an ETag is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Tag(pub String);

/// An object and its tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blob {
    /// The content; may be a memory map.
    pub bytes: Bytes,
    /// For [`Blobs::swap`].
    pub tag: Tag,
}

/// Answer to a question for an object that was read before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    /// The object has not changed.
    Same,
    /// The object has changed, to this; `None` if it is gone.
    Changed(Option<Blob>),
}

/// Objects by key. Keys are made by Curlew itself: parts of `[A-Za-z0-9._-]` joined by `/`, at most
/// 512 bytes, no part being `.` or `..`. Any other key is refused with [`PortError::Corrupt`].
/// An object is there as a whole or not at all.
#[async_trait]
pub trait Blobs: Send + Sync {
    /// The object, if there is one.
    ///
    /// # Errors
    /// Transport errors.
    async fn get(&self, key: &str) -> Result<Option<Blob>, PortError>;

    /// The object, unless its tag is `seen`, which is `None` for an object that was not there: then it is not
    /// transferred again.
    ///
    /// # Errors
    /// Transport errors.
    async fn get_changed(&self, key: &str, seen: Option<&Tag>) -> Result<Seen, PortError> {
        let blob = self.get(key).await?;
        Ok(if blob.as_ref().map(|blob| &blob.tag) == seen { Seen::Same } else { Seen::Changed(blob) })
    }

    /// `length` bytes from `offset`.
    ///
    /// # Errors
    /// [`PortError::NotFound`] if there is no object, [`PortError::Corrupt`] if it is too short.
    async fn get_range(&self, key: &str, offset: u64, length: u64) -> Result<Bytes, PortError>;

    /// Writes the object; the last writer wins.
    ///
    /// # Errors
    /// Transport errors, a full disk among them; then the old content is still there.
    async fn put(&self, key: &str, bytes: Bytes) -> Result<(), PortError>;

    /// Writes the object unless there is one already; says whether it was written.
    ///
    /// # Errors
    /// Transport errors. That there is one is no error.
    async fn put_if_absent(&self, key: &str, bytes: Bytes) -> Result<bool, PortError>;

    /// Replaces the object if its tag is still `seen`; `None` means that there must be none.
    ///
    /// # Errors
    /// [`PortError::Conflict`] if somebody else was first.
    async fn swap(&self, key: &str, seen: Option<&Tag>, bytes: Bytes) -> Result<Tag, PortError>;

    /// Removes the object; that there is none is no error.
    ///
    /// # Errors
    /// Transport errors.
    async fn delete(&self, key: &str) -> Result<(), PortError>;

    /// Keys that begin with `prefix`, in byte order, after `after`, at most `limit`.
    ///
    /// # Errors
    /// Transport errors.
    async fn list(&self, prefix: &str, after: Option<&str>, limit: usize) -> Result<Vec<String>, PortError>;
}
