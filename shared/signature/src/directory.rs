//! The key directory, which sites read to verify signatures, and the signatures of the directory itself.

use crate::keys::KeyRing;
use crate::signer::{Jwk, Window, seconds};
use curlew_model::{Millis, Timestamp};
use serde::Serialize;
use std::collections::BTreeMap;

/// Path of the directory at the origin that requests name.
pub const PATH: &str = "/.well-known/http-message-signatures-directory";
/// Media type of the directory.
pub const MEDIA_TYPE: &str = "application/http-message-signatures-directory+json";
/// Lifetime of the directory's signatures.
pub const LIFETIME: Millis = Millis::from_days(7);
/// Age of its signatures from which a directory is signed again.
pub const RENEWED_AFTER: Millis = Millis::from_days(1);
/// Maximum time for which a site may cache the directory; shorter than the wait before a new key signs.
pub const MAX_AGE: Millis = Millis::from_hours(12);
const TAG: &str = "http-message-signatures-directory";

/// A directory with its signatures, as served.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, serde::Deserialize)]
pub struct SignedDirectory {
    /// Host that the signatures are valid for, with the port unless it is the scheme's default.
    pub authority: String,
    /// The JSON Web Key Set (RFC 7517 §5).
    pub body: String,
    /// `Signature-Input`, with one member per key.
    pub input: String,
    /// `Signature`, with one member per key.
    pub signature: String,
    /// Time of signing.
    pub signed_at: Timestamp,
}

impl SignedDirectory {
    /// Creates the directory for `authority`, signed by each key, which proves possession of every listed key.
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

    /// True if the directory must be created again because its signatures are old, or keys or authority have changed.
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
