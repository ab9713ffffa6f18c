//! A site's request for signatures (`Accept-Signature`, RFC 9421 §5).

use sfv::{BareItem, Dictionary, ListEntry, Parser};

const MAX_BYTES: usize = 4 * 1024;
/// Components that this crawler's signatures can cover.
const COVERED: [&str; 3] = ["@authority", "signature-agent", "@signature-params"];

/// True if `Accept-Signature` requests a signature that [`crate::request::sign`] can make; unnamed parameters match.
pub fn is_ours(accept_signature: &str) -> bool {
    if accept_signature.len() > MAX_BYTES {
        return false;
    }
    let Ok(asked) = Parser::new(accept_signature).parse::<Dictionary>() else { return false };
    asked.values().any(|entry| {
        let ListEntry::InnerList(list) = entry else { return false };
        let is = |name: &str, ours: &str| {
            list.params.get(name).is_none_or(|value| text(value).is_some_and(|value| value == ours))
        };
        let covers = list.items.iter().all(|item| text(&item.bare_item).is_some_and(|name| COVERED.contains(&name)));
        covers && is("tag", "web-bot-auth") && is("alg", "ed25519")
    })
}

fn text(item: &BareItem) -> Option<&str> {
    item.as_string().map(sfv::StringRef::as_str)
}
