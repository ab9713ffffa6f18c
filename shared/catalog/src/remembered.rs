//! Objects that every query reads, kept as they were parsed for as long as they stay the same.

use curlew_ports::stage::Result;
use curlew_ports::{Blobs, Seen, Tag};
use parking_lot::Mutex;
use std::sync::Arc;

/// The last content of an object; the store is asked each time, and only a changed object is transferred and parsed.
#[derive(Default)]
pub(crate) struct Remembered<T>(Mutex<Option<Content<T>>>);

type Content<T> = (Arc<T>, Option<Tag>);

impl<T> Remembered<T> {
    pub(crate) async fn load(
        &self,
        blobs: &dyn Blobs,
        key: &str,
        parse: impl Fn(Option<&[u8]>) -> Result<T>,
    ) -> Result<Content<T>> {
        let known = self.0.lock().clone();
        let blob = match known {
            None => blobs.get(key).await?,
            Some((value, tag)) => match blobs.get_changed(key, tag.as_ref()).await? {
                Seen::Same => return Ok((value, tag)),
                Seen::Changed(blob) => blob,
            },
        };
        let value = Arc::new(parse(blob.as_ref().map(|blob| blob.bytes.as_ref()))?);
        let content = (value, blob.map(|blob| blob.tag));
        // Another caller may have stored a later version meanwhile; then the next call reads that again.
        *self.0.lock() = Some(content.clone());
        Ok(content)
    }
}
