//! The keys of an operator. A new key is published at once and signs a day later, when no site has an older copy of the
//! directory; the old key stays published for a week after that.

use crate::signer::{SEED_BYTES, SigningKey};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use curlew_model::{Millis, Timestamp};
use serde::{Deserialize, Serialize};

/// Time a new key is published before it signs.
pub const PUBLISHED_BEFORE_USE: Millis = Millis::from_days(1);
/// Time an old key stays published after the new one signs.
pub const PUBLISHED_AFTER_USE: Millis = Millis::from_days(7);
/// Number of keys that may be published at once.
pub const MAX_KEYS: usize = 2;
/// Bytes of a file of keys beyond which it is not read.
pub const MAX_BYTES: usize = 4 * 1024;
const VERSION: u32 = 1;

/// Error of using or changing keys.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// The file is no file of keys.
    #[error("the file of keys cannot be read: {0}")]
    Unreadable(String),
    /// A newer version wrote the file.
    #[error("the file of keys has version {0}, and this program knows version {VERSION}; use a newer program")]
    Newer(u32),
    /// The last rotation has not ended.
    #[error("the key before this one is published until {0}; rotate again after that")]
    RotationUnderWay(Timestamp),
}

/// The keys of an operator, the oldest first. At least one.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyRing {
    version: u32,
    keys: Vec<StoredKey>,
}

/// A key as it is stored.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredKey {
    seed: String,
    /// Time at which the key was made.
    pub made: Timestamp,
    /// From when it signs.
    pub signs_from: Timestamp,
    /// End of its time in the directory; `None` while no other takes over.
    pub published_until: Option<Timestamp>,
}

impl StoredKey {
    fn new(seed: &[u8; SEED_BYTES], made: Timestamp, signs_from: Timestamp) -> StoredKey {
        StoredKey { seed: URL_SAFE_NO_PAD.encode(seed), made, signs_from, published_until: None }
    }

    fn is_published(&self, now: Timestamp) -> bool {
        self.published_until.is_none_or(|until| now < until)
    }

    /// Returns the key that can sign.
    pub fn key(&self) -> Option<SigningKey> {
        let seed = URL_SAFE_NO_PAD.decode(&self.seed).ok()?;
        SigningKey::from_seed(&seed.try_into().ok()?)
    }
}

impl KeyRing {
    /// Returns a ring with one key, which signs at once.
    pub fn new(seed: &[u8; SEED_BYTES], now: Timestamp) -> KeyRing {
        KeyRing { version: VERSION, keys: vec![StoredKey::new(seed, now, now)] }
    }

    /// Reads what [`KeyRing::write`] wrote; no error says anything of the seeds.
    pub fn read(bytes: &[u8]) -> Result<KeyRing, KeyError> {
        let unreadable = |why: &str| KeyError::Unreadable(why.to_owned());
        if bytes.len() > MAX_BYTES {
            return Err(unreadable("it is longer than any file of keys"));
        }
        #[derive(Deserialize)]
        struct Head {
            version: u32,
        }
        // The message of serde might quote a seed, so only the place is told.
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

    /// Writes the keys, seeds and all.
    pub fn write(&self) -> Vec<u8> {
        serde_json::to_vec_pretty(self).unwrap_or_default()
    }

    /// Adds a key that takes over; an error while the directory is full. Keys that are no longer published are dropped.
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

    /// Returns the keys that the directory lists, the oldest first.
    pub fn published(&self, now: Timestamp) -> Vec<(&StoredKey, SigningKey)> {
        let published = self.keys.iter().filter(|key| key.is_published(now));
        published.filter_map(|stored| Some((stored, stored.key()?))).collect()
    }

    /// Returns the key that signs requests: the newest whose time has come.
    pub fn signing(&self, now: Timestamp) -> Option<SigningKey> {
        let ready = |key: &&StoredKey| key.signs_from <= now && key.is_published(now);
        // A clock that was set back must not leave the crawler without a key.
        self.keys.iter().rev().find(ready).or(self.keys.first())?.key()
    }
}

/// Shows no seed.
impl std::fmt::Debug for KeyRing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ids = self.keys.iter().map(|stored| stored.key().map(|key| key.id()).unwrap_or_default());
        f.debug_list().entries(ids).finish()
    }
}
