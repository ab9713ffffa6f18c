use async_trait::async_trait;
use bytes::Bytes;

/// Looks up DNS records of a name.
#[async_trait]
pub trait Names: Send + Sync {
    /// Returns the texts of a name's TXT records, following CNAMEs and joining the strings of each record (RFC 7208
    /// §3.3); empty without such a name or record. The error says why the lookup failed; a later one may succeed.
    async fn texts(&self, name: &str) -> Result<Vec<Bytes>, String>;
}

/// Implementation for programs that look up no names.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoNames;

#[async_trait]
impl Names for NoNames {
    async fn texts(&self, _: &str) -> Result<Vec<Bytes>, String> {
        Err("this program looks up no names".to_owned())
    }
}
