//! An operator's keys. A new key is published at once but signs only a day later, when no site caches an older
//! directory any more. The old key stays published for a week after that.

use crate::signer::{SEED_BYTES, SigningKey};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use curlew_model::{Millis, Timestamp};
use serde::{Deserialize, Serialize};

/// Time between publication of a new key and its first signature.
pub const PUBLISHED_BEFORE_USE: Millis = Millis::from_days(1);
/// Time for which an old key stays published after the new key's first signature.
pub const PUBLISHED_AFTER_USE: Millis = Millis::from_days(7);
/// Maximum number of keys published at the same time.
pub const MAX_KEYS: usize = 2;
/// Maximum size of a key file in bytes; a larger one is not parsed.
pub const MAX_BYTES: usize = 4 * 1024;
const VERSION: u32 = 1;

/// Error in reading or rotating keys.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// The file is not a valid key file.
    #[error("the file of keys cannot be read: {0}")]
    Unreadable(String),
    /// The file was written by a newer version.
    #[error("the file of keys has version {0}, and this program knows version {VERSION}; use a newer program")]
    Newer(u32),
    /// The previous rotation has not ended.
    #[error("the key before this one is published until {0}; rotate again after that")]
    RotationUnderWay(Timestamp),
}

/// An operator's keys, oldest first. There is at least one.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyRing {
    version: u32,
    keys: Vec<StoredKey>,
}

/// A key in stored form.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredKey {
    seed: String,
    /// Creation time of the key.
    pub made: Timestamp,
    /// Time from which the key signs.
    pub signs_from: Timestamp,
    /// Time at which the key leaves the directory; `None` until another key replaces it.
    pub published_until: Option<Timestamp>,
}

impl StoredKey {
    fn new(seed: &[u8; SEED_BYTES], made: Timestamp, signs_from: Timestamp) -> StoredKey {
        StoredKey { seed: URL_SAFE_NO_PAD.encode(seed), made, signs_from, published_until: None }
    }

    fn is_published(&self, now: Timestamp) -> bool {
        self.published_until.is_none_or(|until| now < until)
    }

    /// Returns the signing key; `None` if the seed is invalid.
    pub fn key(&self) -> Option<SigningKey> {
        let seed = URL_SAFE_NO_PAD.decode(&self.seed).ok()?;
        SigningKey::from_seed(&seed.try_into().ok()?)
    }
}

impl KeyRing {
    /// Creates a key ring with one key, which signs at once.
    pub fn new(seed: &[u8; SEED_BYTES], now: Timestamp) -> KeyRing {
        KeyRing { version: VERSION, keys: vec![StoredKey::new(seed, now, now)] }
    }

    /// Parses the output of [`KeyRing::write`]. Errors never contain seeds.
    pub fn read(bytes: &[u8]) -> Result<KeyRing, KeyError> {
        let unreadable = |why: &str| KeyError::Unreadable(why.to_owned());
        if bytes.len() > MAX_BYTES {
            return Err(unreadable("it is longer than any file of keys"));
        }
        #[derive(Deserialize)]
        struct Head {
            version: u32,
        }
        // The message of serde might quote a seed, so only the position is reported.
        let place = |e: serde_json::Error| KeyError::Unreadable(format!("line {}, column {}", e.line(), e.column()));
        let Head { version } = serde_json::from_slice(bytes).map_err(place)?;
        if version > VERSION {
            return Err(KeyError::Newer(version));
        }
        let ring: KeyRing = serde_json::from_slice(bytes).map_err(place)?;
        if ring.keys.is_empty() || ring.keys.len() > MAX_KEYS {
            return Err(unreadable("it has no key, or too many"));
        }
        if ring.keys.iter().any(|stored| stored.key().is_none()) {
            return Err(unreadable("a seed in it is not 32 bytes in base64url"));
        }
        Ok(ring)
    }

    /// Serializes the keys, including their seeds.
    pub fn write(&self) -> Vec<u8> {
        serde_json::to_vec_pretty(self).unwrap_or_default()
    }

    /// Adds a key that takes over later, and drops keys no longer published. Fails while [`MAX_KEYS`] are published.
    pub fn rotate(&self, seed: &[u8; SEED_BYTES], now: Timestamp) -> Result<KeyRing, KeyError> {
        let mut keys: Vec<StoredKey> = self.keys.iter().filter(|key| key.is_published(now)).cloned().collect();
        if keys.len() >= MAX_KEYS {
            let until = keys.iter().filter_map(|key| key.published_until).min();
            return Err(KeyError::RotationUnderWay(until.unwrap_or(now)));
        }
        let signs_from = now + PUBLISHED_BEFORE_USE;
        for key in &mut keys {
            key.published_until = Some(signs_from + PUBLISHED_AFTER_USE);
        }
        keys.push(StoredKey::new(seed, now, signs_from));
        Ok(KeyRing { version: VERSION, keys })
    }

    /// Returns the keys listed in the directory, oldest first.
    pub fn published(&self, now: Timestamp) -> Vec<(&StoredKey, SigningKey)> {
        let published = self.keys.iter().filter(|key| key.is_published(now));
        published.filter_map(|stored| Some((stored, stored.key()?))).collect()
    }

    /// Returns the key that signs requests: the newest one that may sign already.
    pub fn signing(&self, now: Timestamp) -> Option<SigningKey> {
        let ready = |key: &&StoredKey| key.signs_from <= now && key.is_published(now);
        // If the clock was set back, the oldest key signs, rather than none.
        self.keys.iter().rev().find(ready).or(self.keys.first())?.key()
    }
}

/// Shows key ids instead of seeds.
impl std::fmt::Debug for KeyRing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ids = self.keys.iter().map(|stored| stored.key().map(|key| key.id()).unwrap_or_default());
        f.debug_list().entries(ids).finish()
    }
}
