//! An Ed25519 key, and its signatures.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use curlew_model::{Millis, Timestamp};
use ring::signature::{Ed25519KeyPair, KeyPair};
use serde::Serialize;
use sha2::{Digest, Sha256};

/// Length of the seed of an Ed25519 key in bytes (RFC 8032 §5.1.5).
pub const SEED_BYTES: usize = 32;

/// An Ed25519 signing key.
pub struct SigningKey {
    pair: Ed25519KeyPair,
    /// Makes nonces unpredictable.
    salt: [u8; 32],
}

/// A public key as a JSON Web Key (RFC 7517 §4, RFC 8037 §2).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Jwk {
    kty: &'static str,
    crv: &'static str,
    kid: String,
    x: String,
}

impl SigningKey {
    /// Returns the key for a seed. Every seed has one.
    pub fn from_seed(seed: &[u8; SEED_BYTES]) -> Option<SigningKey> {
        let pair = Ed25519KeyPair::from_seed_unchecked(seed).ok()?;
        Some(SigningKey { pair, salt: Sha256::new().chain_update(b"nonce").chain_update(seed).finalize().into() })
    }

    /// Returns the public key.
    pub fn jwk(&self) -> Jwk {
        Jwk { kty: "OKP", crv: "Ed25519", kid: self.id(), x: self.x() }
    }

    fn x(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.pair.public_key())
    }

    /// Returns the thumbprint of the public key, the key id in signatures (RFC 7638, RFC 8037 appendix A.3).
    pub fn id(&self) -> String {
        let key = format!(r#"{{"crv":"Ed25519","kty":"OKP","x":"{}"}}"#, self.x());
        URL_SAFE_NO_PAD.encode(Sha256::digest(key))
    }

    /// Signs components, given as identifiers and values (RFC 9421 §2.5). Returns signature parameters and signature.
    pub(crate) fn sign(&self, covered: &[(&str, &str)], tag: &str, window: Window) -> (String, String) {
        let names: Vec<&str> = covered.iter().map(|(name, _)| *name).collect();
        let Window { created, length, unique } = window;
        let nonce = Sha256::new().chain_update(self.salt).chain_update(unique.to_be_bytes());
        let nonce = nonce.chain_update(seconds(created).to_be_bytes()).finalize();
        let params = format!(
            r#"({});created={};expires={};keyid="{}";alg="ed25519";nonce="{}";tag="{tag}""#,
            names.join(" "),
            seconds(created),
            seconds(created + length),
            self.id(),
            STANDARD.encode(nonce),
        );
        let mut base: String = covered.iter().flat_map(|(name, value)| [*name, ": ", *value, "\n"]).collect();
        base.push_str("\"@signature-params\": ");
        base.push_str(&params);
        let signature = format!(":{}:", STANDARD.encode(self.pair.sign(base.as_bytes())));
        (params, signature)
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    pub(crate) created: Timestamp,
    pub(crate) length: Millis,
    /// Must be drawn anew for each signature.
    pub(crate) unique: u64,
}

/// Converts an instant to whole seconds since 1970, the unit in signatures (RFC 9421 §2.3).
pub(crate) fn seconds(at: Timestamp) -> i64 {
    at.as_millis().div_euclid(1_000)
}

impl std::fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SigningKey({})", self.id())
    }
}
