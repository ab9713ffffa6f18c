//! Converts the header Robots-Tag (draft-illyes-repext-03) to the form of X-Robots-Tag.

use super::{MAX_VALUE_BYTES, WITH_VALUE, parts};
use sfv::{BareItem, List, ListEntry, Parser};

/// Returns `Robots-Tag` headers as lines of `X-Robots-Tag`, one for each product token: `*;nosnippet,
/// ExampleBot;noindex` becomes `*: nosnippet` and `ExampleBot: noindex`.
///
/// All headers form one List (RFC 9651 §3.1). Headers that are not a valid List, and members that are rules themselves,
/// are read as X-Robots-Tag, so that restrictions in the old form apply.
pub fn robots_tag_lines(headers: &[String]) -> Vec<String> {
    let joined = headers.join(",");
    match Parser::new(whole_members(&joined)).parse::<List>() {
        Ok(members) => members.iter().filter_map(line).collect(),
        Err(_) => headers.to_vec(),
    }
}

/// Returns the members of a field that are complete within [`MAX_VALUE_BYTES`].
fn whole_members(field: &str) -> &str {
    if field.len() <= MAX_VALUE_BYTES {
        return field;
    }
    let head = field.get(..field.floor_char_boundary(MAX_VALUE_BYTES)).unwrap_or_default();
    head.rsplit_once(',').map_or("", |(whole, _)| whole)
}

fn line(member: &ListEntry) -> Option<String> {
    let ListEntry::Item(item) = member else { return None };
    let token = match &item.bare_item {
        BareItem::Token(token) => token.as_str(),
        BareItem::String(text) => text.as_str(),
        _ => return None,
    };
    let rules: Vec<String> = item.params.iter().filter_map(|(name, value)| rule(name.as_str(), value)).collect();
    Some(if rules.is_empty() { token.to_owned() } else { format!("{token}: {}", rules.join(", ")) })
}

/// Returns a parameter in the syntax of X-Robots-Tag; `None` if it is false or malformed.
fn rule(name: &str, value: &BareItem) -> Option<String> {
    let is_valued = WITH_VALUE.contains(&name);
    match value {
        BareItem::Boolean(set) => set.then(|| name.to_owned()),
        BareItem::Integer(number) if is_valued => Some(format!("{name}: {number}")),
        BareItem::Token(token) if is_valued => Some(format!("{name}: {}", token.as_str())),
        // Only the first part counts, so that a string cannot start another rule.
        BareItem::String(text) if is_valued => parts(&format!("{name}: {}", text.as_str())).next().map(str::to_owned),
        _ => None,
    }
}
