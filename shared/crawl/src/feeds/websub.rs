//! Callbacks: the URLs that hubs call, one per subscription. A callback contains its feed's key and is signed, so that
//! it need not be stored, and a forged one is rejected without a read of the store.

use curlew_model::{SourceKey, Timestamp, hex, unhex};
use curlew_ports::stage::Result;
use curlew_ports::{Blobs, PortError};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::sync::{Arc, OnceLock};

/// Key of the secret of the web pages, shared by all processes that serve one site.
pub const WEB_SECRET: &str = "web-secret";
/// Size of the web secret, in bytes.
pub const SECRET_BYTES: usize = 32;
const PATH: &str = "/websub/";
/// Domain separation of callback signatures.
const NAMING: &[u8] = b"curlew websub callback 1";
/// Domain separation of signing keys.
const SIGNING: &[u8] = b"curlew websub secret 1";
/// Size of a callback's signature in bytes: 128 bits cannot be guessed.
const SIGNATURE: usize = 16;

/// Makes and checks the callbacks of one site with its secret.
pub struct Callbacks {
    pub(crate) base: Option<String>,
    blobs: Arc<dyn Blobs>,
    secret: OnceLock<[u8; SECRET_BYTES]>,
}

impl Callbacks {
    /// Creates callbacks under this origin, such as `https://search.example`, if there is one.
    pub fn new(base: Option<String>, blobs: Arc<dyn Blobs>) -> Callbacks {
        Callbacks { base, blobs, secret: OnceLock::new() }
    }

    /// Returns the callback of a subscription, for its hub; `None` if hubs cannot call this process.
    pub async fn for_feed(&self, feed: &SourceKey, begun: Timestamp) -> Result<Option<Callback>> {
        let (Some(base), Some(secret)) = (&self.base, self.secret().await?) else { return Ok(None) };
        let url = format!("{base}{PATH}{}", name(&secret, feed, begun));
        Ok(Some(Callback { url, secret: signing_key(&secret, feed, begun) }))
    }

    /// Returns the feed, the beginning and the secret of a callback's subscription; `None` if the callback is forged.
    pub(crate) async fn read(&self, name: &str) -> Result<Option<(SourceKey, Timestamp, String)>, PortError> {
        let Some((feed, begun, signature)) = parse(name) else { return Ok(None) };
        let Some(secret) = self.secret().await? else { return Ok(None) };
        let is_ours = keyed(&secret, NAMING, &feed, begun).verify_truncated_left(&signature).is_ok();
        Ok(is_ours.then(|| (feed.clone(), begun, signing_key(&secret, &feed, begun))))
    }

    async fn secret(&self) -> Result<Option<[u8; SECRET_BYTES]>, PortError> {
        if let Some(secret) = self.secret.get() {
            return Ok(Some(*secret));
        }
        let secret = web_secret(self.blobs.as_ref()).await?;
        Ok(secret.map(|secret| *self.secret.get_or_init(|| secret)))
    }
}

/// Returns the secret of the web pages, if it exists; [`PortError::Corrupt`] if it has the wrong size.
pub async fn web_secret(blobs: &dyn Blobs) -> Result<Option<[u8; SECRET_BYTES]>, PortError> {
    let Some(blob) = blobs.get(WEB_SECRET).await? else { return Ok(None) };
    let corrupt = |_| PortError::Corrupt { what: WEB_SECRET.into(), why: format!("it has not {SECRET_BYTES} bytes") };
    blob.bytes.as_ref().try_into().map(Some).map_err(corrupt)
}

/// The callback of one subscription.
pub struct Callback {
    /// The address that the hub calls.
    pub url: String,
    /// `hub.secret`, with which the hub signs its notifications.
    pub secret: String,
}

fn name(secret: &[u8; SECRET_BYTES], feed: &SourceKey, begun: Timestamp) -> String {
    let signature = keyed(secret, NAMING, feed, begun).finalize().into_bytes();
    format!("{feed}.{}.{}", begun.as_millis(), hex(&signature[..SIGNATURE]))
}

fn parse(name: &str) -> Option<(SourceKey, Timestamp, [u8; SIGNATURE])> {
    let mut parts = name.split('.');
    let feed = SourceKey::new(parts.next()?).ok()?;
    let begun = Timestamp::from_millis(parts.next()?.parse().ok()?);
    let signature = unhex(parts.next()?)?.try_into().ok()?;
    parts.next().is_none().then_some((feed, begun, signature))
}

fn signing_key(secret: &[u8; SECRET_BYTES], feed: &SourceKey, begun: Timestamp) -> String {
    hex(&keyed(secret, SIGNING, feed, begun).finalize().into_bytes())
}

fn keyed(secret: &[u8; SECRET_BYTES], purpose: &[u8], feed: &SourceKey, begun: Timestamp) -> Hmac<Sha256> {
    let mut block = [0; 64];
    block[..secret.len()].copy_from_slice(secret);
    let mut mac = <Hmac<Sha256> as KeyInit>::new(&block.into());
    mac.update(purpose);
    mac.update(feed.as_str().as_bytes());
    mac.update(&begun.as_millis().to_be_bytes());
    mac
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;
    use curlew_testkit::memory::MemoryBlobs;

    fn feed(digit: char) -> SourceKey {
        SourceKey::new(&digit.to_string().repeat(32)).unwrap()
    }

    #[tokio::test]
    async fn f13_a_callback_is_one_subscription_s_own_and_cannot_be_made_up() {
        let blobs = Arc::new(MemoryBlobs::default());
        let callbacks = Callbacks::new(Some("https://search.example".into()), blobs.clone());
        let begun = Timestamp::from_millis(1_800_000_000_000);
        assert!(callbacks.for_feed(&feed('a'), begun).await.unwrap().is_none(), "nobody listens yet");
        blobs.put(WEB_SECRET, vec![7; 32].into()).await.unwrap();
        let one = callbacks.for_feed(&feed('a'), begun).await.unwrap().unwrap();
        let name = one.url.strip_prefix("https://search.example/websub/").unwrap();
        assert_eq!(callbacks.read(name).await.unwrap().unwrap(), (feed('a'), begun, one.secret.clone()));
        for (key, at) in [('b', begun), ('a', begun + curlew_model::Millis(1))] {
            let other = callbacks.for_feed(&feed(key), at).await.unwrap().unwrap();
            assert!(other.url != one.url && other.secret != one.secret);
        }
        let forged = [
            name.replace(".1800000000000.", ".1800000000001."),
            name.replace("aaaa", "bbbb"),
            name[..name.len() - 2].to_owned(),
            format!("{name}.1"),
            format!("{}.1800000000000.", feed('a')),
            String::new(),
            "é".repeat(20),
        ];
        for forged in forged {
            assert!(callbacks.read(&forged).await.unwrap().is_none(), "{forged}");
        }
        assert!(!one.url.contains(&one.secret));
    }
}
