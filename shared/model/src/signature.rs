//! The headers of a signed request.

/// The three headers of a signed request (RFC 9421, draft-ietf-webbotauth-httpsig-protocol).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignatureHeaders {
    /// `Signature-Agent`: location of the keys.
    pub agent: String,
    /// `Signature-Input`: signed components, key id and expiry (RFC 9421 §4.1).
    pub input: String,
    /// `Signature` (RFC 9421 §4.2).
    pub signature: String,
}
