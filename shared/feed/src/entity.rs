//! Entities that a document declares in its DOCTYPE.

use curlew_text::references::{self, MAX_NAME};
use std::cell::Cell;
use std::collections::{HashMap, HashSet};

/// Maximum number of entities kept per document; HTML 4 has 252.
const MAX_DECLARED: usize = 300;
/// Maximum length in bytes of a declared entity's text, including nested entities.
const MAX_DECLARED_BYTES: usize = 1_024;
const MAX_NESTING: usize = 8;
/// Maximum total growth in bytes of a document's texts by expansion of declared entities.
const MAX_EXPANSION: usize = 256 * 1024;

/// Appends `raw` to `out` with its references resolved. Returns true if a reference is not predefined in XML.
pub(crate) fn decode_declared(raw: &str, out: &mut String, declared: &Entities<'_>) -> bool {
    references::decode_with(raw, out, |text| declared.reference(text))
}

/// Entities with short texts, declared in the internal subset (XML §4.2). Nested entities are expanded once, within
/// [`MAX_DECLARED_BYTES`] and [`MAX_NESTING`]. An entity that exceeds these limits, contains itself or is external is
/// treated as undeclared.
///
/// Replacements are inserted as text, so an entity cannot change the structure of a feed.
#[derive(Debug, Default)]
pub(crate) struct Entities<'a> {
    texts: HashMap<&'a str, String>,
    /// Number of bytes inserted by expansion so far.
    expanded: Cell<usize>,
}

impl<'a> Entities<'a> {
    pub(crate) fn from_subset(subset: &'a str) -> Entities<'a> {
        let mut values = Vec::new();
        let mut names = HashSet::new();
        let mut rest = subset;
        while let Some(at) = rest.find("<!").filter(|_| values.len() < MAX_DECLARED) {
            rest = &rest[at + 2..];
            if let Some(comment) = rest.strip_prefix("--") {
                rest = comment.find("-->").map_or("", |end| &comment[end..]);
            } else if let Some((name, value)) = rest.strip_prefix("ENTITY").and_then(declaration)
                // The first declaration of a name is binding.
                && names.insert(name)
            {
                values.push((name, value));
            }
        }
        let mut declared = Entities::default();
        for _ in 0..MAX_NESTING {
            let before = values.len();
            values.retain(|(name, value)| {
                let mut inner = value.match_indices('&').filter_map(|(at, _)| references::name(&value[at..]));
                let is_ready = inner.all(|name| !names.contains(name));
                if is_ready {
                    let mut text = String::new();
                    references::decode_with(value, &mut text, |text| declared.known(text));
                    if text.len() <= MAX_DECLARED_BYTES {
                        declared.texts.insert(*name, text);
                        names.remove(*name);
                    }
                }
                !is_ready
            });
            if values.len() == before {
                break;
            }
        }
        declared
    }

    /// Returns the length of the declared entity reference at the start of `text`, and the entity's text.
    fn known(&self, text: &str) -> Option<(usize, &str)> {
        if self.texts.is_empty() || references::predefined(text).is_some() {
            return None;
        }
        let name = references::name(text)?;
        Some((name.len() + 2, self.texts.get(name)?))
    }

    pub(crate) fn resolved(&self, raw: &str) -> String {
        let mut out = String::new();
        decode_declared(raw, &mut out, self);
        out
    }

    /// Returns the same as [`Entities::known`], or `None` if [`MAX_EXPANSION`] would be exceeded.
    fn reference(&self, text: &str) -> Option<(usize, &str)> {
        let (length, known) = self.known(text)?;
        let expanded = self.expanded.get() + known.len();
        if expanded > MAX_EXPANSION {
            return None;
        }
        self.expanded.set(expanded);
        Some((length, known))
    }
}

/// Returns name and value of a general entity after `<!ENTITY`, with character references resolved (XML §4.4).
fn declaration(rest: &str) -> Option<(&str, String)> {
    let window = &rest[..rest.floor_char_boundary(MAX_NAME + MAX_DECLARED_BYTES + 32)];
    let named = window.trim_start();
    // An unterminated declaration is scanned again as part of the next one, so its length is limited.
    let name = named.get(..named.floor_char_boundary(MAX_NAME + 1)).unwrap_or(named);
    let (name, after) = named.split_at(name.find(char::is_whitespace)?);
    let value = after.trim_start();
    let quote = value.chars().next().filter(|c| named.len() < window.len() && matches!(c, '"' | '\''))?;
    let value = &value[1..];
    let value = value.get(..value.find(quote)?).filter(|v| v.len() <= MAX_DECLARED_BYTES && !v.contains('%'))?;
    (name != "%").then(|| (name, with_numbers_resolved(value)))
}

fn with_numbers_resolved(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    let mut rest = value;
    while let Some(at) = rest.find("&#") {
        out.push_str(&rest[..at]);
        let numbered = references::reference(&rest[at..]);
        out.extend(numbered.iter().flat_map(|reference| reference.chars).flatten());
        let length = numbered.map_or(1, |reference| reference.length);
        if numbered.is_none() {
            out.push('&');
        }
        rest = &rest[at + length..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(subset: &str, raw: &str) -> String {
        let mut out = String::new();
        decode_declared(raw, &mut out, &Entities::from_subset(subset));
        out
    }

    #[test]
    fn declared_entities_are_known_if_they_have_a_text_of_their_own() {
        let subset = "<!ENTITY id 'Curlew &#38; co'><!ENTITY hens \"hens\"> <!ENTITY hens 'no'><!ENTITY lt 'no'>\n\
            <!-- <!ENTITY gone 'no'> --><!ENTITY % part2 'no'><!ENTITY file SYSTEM 'no'>\
            <!ENTITY less '&#38;#60;'><!ENTITY\tcaf\u{e9}\n'&#233;' ><!ENTITY percent '100%'><!ENTITY open 'no";
        let known = "&hens; &lt; &caf\u{e9}; &eacute; &id; &less;";
        assert_eq!(said(subset, known), "hens < \u{e9} \u{e9} Curlew & co <");
        let unknown = "&gone; &part2; &file; &percent; &open; &%;";
        assert_eq!(said(subset, unknown), unknown);
    }

    #[test]
    fn declared_entities_may_contain_others_up_to_a_limit() {
        // Order of declaration does not matter.
        let nested =
            "<!ENTITY both '&hens; &amp; &cocks;, &eacute;&nope;'><!ENTITY hens 'hens'><!ENTITY cocks '<i>cocks</i>'>";
        assert_eq!(said(nested, "&both;"), "hens & <i>cocks</i>, \u{e9}&nope;");
        let circle = "<!ENTITY a '&b;'><!ENTITY b '&a;'><!ENTITY c 'c&c;'><!ENTITY d '&a;'>";
        assert_eq!(said(circle, "&a;&b;&c;&d;"), "&a;&b;&c;&d;");
        // Each entity is ten times as long as the previous one. A reference to one that is too long is unknown as well.
        let mut laughs = "<!ENTITY l0 'curlew'>".to_owned();
        for n in 1..12 {
            laughs += &format!("<!ENTITY l{n} '{}'>", format!("&l{};", n - 1).repeat(10));
        }
        assert_eq!(said(&laughs, "&l1;"), "curlew".repeat(10));
        assert_eq!(said(&laughs, "&l3;&l4;&l11;"), "&l3;&l4;&l11;");
        // A chain in the worst order is resolved up to a limit.
        let chain: String = (0..20).map(|n| format!("<!ENTITY e{n} '&e{};'>", n + 1)).collect();
        let chain = format!("{chain}<!ENTITY e20 'end'>");
        assert_eq!(said(&chain, "&e0; &e14;"), "&e0; end");
    }

    #[test]
    fn declared_entities_make_a_text_only_so_much_longer() {
        let subset = format!("<!ENTITY a '{}'>", "x".repeat(MAX_DECLARED_BYTES));
        let out = said(&subset, &"&a;".repeat(100_000));
        assert!(out.len() <= MAX_EXPANSION + 300_000, "{}", out.len());
        assert!(Entities::from_subset(&"<!ENTITY a 'b'>".repeat(9)).texts.len() == 1);
        let many: String = (0..10_000).map(|n| format!("<!ENTITY e{n} 'x'>")).collect();
        assert_eq!(Entities::from_subset(&many).texts.len(), MAX_DECLARED);
    }
}
