use async_trait::async_trait;
use bytes::Bytes;

/// Looks up what a name says about itself in the DNS.
#[async_trait]
pub trait Names: Send + Sync {
    /// Returns the texts of a name's TXT records, the strings of each joined (RFC 7208 §3.3), CNAMEs followed; empty
    /// without such a name or record. The error says why there is no answer, which another time may come.
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
