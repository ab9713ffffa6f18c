//! Signatures of requests.

use crate::signer::{SigningKey, Window};
use curlew_model::{Millis, SignatureHeaders, Timestamp};

/// The `tag` parameter of a request's signature (draft-ietf-webbotauth-httpsig-protocol).
const TAG: &str = "web-bot-auth";
/// Lifetime of a request's signature: long enough for differing clocks, too short to be useful to others.
pub const LIFETIME: Millis = Millis::from_mins(5);

/// Signs a request. `authority` is the lower-case host name, with the port unless it is the scheme's default (RFC 9421
/// §2.2.3). `agent` is the origin whose directory lists the key. `unique` must be drawn anew for each request.
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

/// Returns a Structured Fields String (RFC 9651 §3.3.3). Characters not allowed in one are dropped; URLs have none.
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
