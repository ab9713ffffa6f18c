//! The directory of keys, which a site reads to verify signatures, and its own signatures.

use crate::keys::KeyRing;
use crate::signer::{Jwk, Window, seconds};
use curlew_model::{Millis, Timestamp};
use serde::Serialize;
use std::collections::BTreeMap;

/// Path of the directory, below the origin that requests name.
pub const PATH: &str = "/.well-known/http-message-signatures-directory";
/// Media type of the directory.
pub const MEDIA_TYPE: &str = "application/http-message-signatures-directory+json";
/// Validity of the signatures of a directory.
pub const LIFETIME: Millis = Millis::from_days(7);
/// A directory is signed anew when its signatures are this old.
pub const RENEWED_AFTER: Millis = Millis::from_days(1);
/// Time a site may keep a copy of the directory; shorter than a new key waits before it signs.
pub const MAX_AGE: Millis = Millis::from_hours(12);
const TAG: &str = "http-message-signatures-directory";

/// A directory as it is served.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, serde::Deserialize)]
pub struct SignedDirectory {
    /// The host, with its port if that is not the scheme's own, that the signatures hold for.
    pub authority: String,
    /// The JSON Web Key Set (RFC 7517 §5).
    pub body: String,
    /// `Signature-Input`, with a member for each key.
    pub input: String,
    /// `Signature`, likewise.
    pub signature: String,
    /// Time of signing.
    pub signed_at: Timestamp,
}

impl SignedDirectory {
    /// Makes the directory as `authority` serves it; each key signs it, which proves that whoever lists a key has it.
    pub fn new(keys: &KeyRing, authority: &str, now: Timestamp, unique: u64) -> SignedDirectory {
        let published = keys.published(now);
        let entries = published.iter().map(|(stored, key)| PublishedKey {
            key: key.jwk(),
            nbf: seconds(stored.signs_from),
            exp: stored.published_until.map(seconds),
        });
        let set = BTreeMap::from([("keys", entries.collect::<Vec<_>>())]);
        let body = serde_json::to_string(&set).unwrap_or_default();
        let (mut input, mut signature) = (Vec::new(), Vec::new());
        for (n, (_, key)) in published.iter().enumerate() {
            let window = Window { created: now, length: LIFETIME, unique: unique.wrapping_add(n as u64) };
            let (params, signed) = key.sign(&[(r#""@authority";req"#, authority)], TAG, window);
            input.push(format!("sig{}={params}", n + 1));
            signature.push(format!("sig{}={signed}", n + 1));
        }
        SignedDirectory {
            authority: authority.to_owned(),
            body,
            input: input.join(", "),
            signature: signature.join(", "),
            signed_at: now,
        }
    }

    /// True if the directory of these keys must be made anew.
    pub fn is_stale(&self, keys: &KeyRing, authority: &str, now: Timestamp) -> bool {
        let same = |other: &SignedDirectory| other.body == self.body && other.authority == self.authority;
        now.since(self.signed_at) >= RENEWED_AFTER || !same(&SignedDirectory::new(keys, authority, now, 0))
    }
}

#[derive(Serialize)]
struct PublishedKey {
    #[serde(flatten)]
    key: Jwk,
    nbf: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    exp: Option<i64>,
}
