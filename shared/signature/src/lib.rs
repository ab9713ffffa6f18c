//! Web Bot Auth: requests signed with HTTP Message Signatures, so that a site can tell this crawler from one that only
//! uses its name (draft-ietf-webbotauth-httpsig-protocol-01; RFC 9421). A request names a [`directory`] of public keys;
//! an operator makes and rotates [`keys`]. Nothing here knows the time or draws random bytes.

pub mod accept;
pub mod directory;
pub mod keys;
pub mod request;
mod signer;

pub use signer::{SEED_BYTES, SigningKey};
