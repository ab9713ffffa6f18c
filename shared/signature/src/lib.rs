//! Web Bot Auth: requests signed with HTTP Message Signatures, so that sites can tell this crawler from others that use
//! its name (draft-ietf-webbotauth-httpsig-protocol-01; RFC 9421). A request names a [`directory`] of public keys; an
//! operator creates and rotates [`keys`]. This crate reads no clock and draws no random bytes.

pub mod accept;
pub mod directory;
pub mod keys;
pub mod request;
mod signer;

pub use signer::{SEED_BYTES, SigningKey};
