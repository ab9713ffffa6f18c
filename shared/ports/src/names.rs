use async_trait::async_trait;
use bytes::Bytes;

/// Looks up what a name says about itself in the DNS.
#[async_trait]
pub trait Names: Send + Sync {
    /// The texts of a name's TXT records, each whole: the strings of a record are joined (RFC 7208 §3.3 reads them so).
    /// CNAME records are followed. None if there is no such name or no such record.
    ///
    /// # Errors
    /// The reason for the lack of an answer, in a few words; another time there may be one.
    async fn texts(&self, name: &str) -> Result<Vec<Bytes>, String>;
}

/// For programs that ask no names.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoNames;

#[async_trait]
impl Names for NoNames {
    async fn texts(&self, _: &str) -> Result<Vec<Bytes>, String> {
        Err("this program looks up no names".to_owned())
    }
}
