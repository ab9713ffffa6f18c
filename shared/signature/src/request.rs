//! Signatures of requests.

use crate::signer::{SigningKey, Window};
use curlew_model::{Millis, SignatureHeaders, Timestamp};

/// The `tag` parameter of a request's signature (draft-ietf-webbotauth-httpsig-protocol).
const TAG: &str = "web-bot-auth";
/// Validity of the signature of a request: long enough for clocks that differ, too short to be of use to others.
pub const LIFETIME: Millis = Millis::from_mins(5);

/// Signs a request to `authority`, which is a host name in lower case, with its port if that is not the scheme's own
/// (RFC 9421 §2.2.3). `agent` is the origin whose directory has the key. `unique` is drawn anew for each request.
pub fn sign(key: &SigningKey, authority: &str, agent: &str, now: Timestamp, unique: u64) -> SignatureHeaders {
    let agent = text(agent);
    let covered = [(r#""@authority""#, authority), (r#""signature-agent";key="sig1""#, agent.as_str())];
    let (params, signature) = key.sign(&covered, TAG, Window { created: now, length: LIFETIME, unique });
    SignatureHeaders {
        agent: format!("sig1={agent}"),
        input: format!("sig1={params}"),
        signature: format!("sig1={signature}"),
    }
}

/// A String of Structured Fields (RFC 9651 §3.3.3). What cannot stand in one is left out; a URL has no such character.
fn text(text: &str) -> String {
    let mut quoted = String::from('"');
    for c in text.chars().filter(|c| (' '..='~').contains(c)) {
        if matches!(c, '"' | '\\') {
            quoted.push('\\');
        }
        quoted.push(c);
    }
    quoted.push('"');
    quoted
}
