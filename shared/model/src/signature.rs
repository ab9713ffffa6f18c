//! The headers of a signed request.

/// The three headers that make a request a signed one (RFC 9421, draft-ietf-webbotauth-httpsig-protocol).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignatureHeaders {
    /// `Signature-Agent`: where the keys are.
    pub agent: String,
    /// `Signature-Input`: what is signed, by which key, and until when (RFC 9421 §4.1).
    pub input: String,
    /// `Signature` (RFC 9421 §4.2).
    pub signature: String,
}
