//! Entities that a document declares in its document type declaration.

use curlew_text::references::{self, MAX_NAME};
use std::cell::Cell;
use std::collections::HashMap;

/// Maximum number of entities kept of one document type declaration; HTML 4 has 252.
const MAX_DECLARED: usize = 300;
/// Maximum length of the replacement text of a declared entity, in bytes.
const MAX_DECLARED_BYTES: usize = 256;
/// Maximum growth of a document's texts through declared entities, in bytes.
const MAX_EXPANSION: usize = 256 * 1024;

/// Appends `raw` to `out` with its references resolved: those that the document declares, and all that HTML defines.
///
/// Returns true if there was a reference that plain XML does not define.
pub(crate) fn decode_declared(raw: &str, out: &mut String, declared: &Entities<'_>) -> bool {
    references::decode_with(raw, out, |text| declared.reference(text))
}

/// Entities declared in the internal subset of a document type declaration (XML §4.2), if they are short and stand for
/// literal text. An entity that refers to another one or contains markup is ignored, so that nothing is ever expanded
/// twice.
#[derive(Debug, Default)]
pub(crate) struct Entities<'a> {
    texts: HashMap<&'a str, String>,
    /// Number of bytes added by expansion.
    expanded: Cell<usize>,
}

impl<'a> Entities<'a> {
    /// Reads the entities of an internal subset.
    pub(crate) fn of(subset: &'a str) -> Entities<'a> {
        let mut declared = Entities::default();
        let mut rest = subset;
        while let Some(at) = rest.find("<!").filter(|_| declared.texts.len() < MAX_DECLARED) {
            rest = &rest[at + 2..];
            if let Some(comment) = rest.strip_prefix("--") {
                rest = comment.find("-->").map_or("", |end| &comment[end..]);
            } else if let Some((name, text)) = rest.strip_prefix("ENTITY").and_then(declaration) {
                // Of two declarations the first one counts.
                declared.texts.entry(name).or_insert(text);
            }
        }
        declared
    }

    /// Returns the declared entity at the beginning of `text`, unless its name is one of XML's five or too much was
    /// expanded.
    fn reference(&self, text: &str) -> Option<(usize, &str)> {
        if self.texts.is_empty() || references::predefined(text).is_some() {
            return None;
        }
        let name = references::name(text)?;
        let known = self.texts.get(name)?;
        let expanded = self.expanded.get() + known.len();
        if expanded > MAX_EXPANSION {
            return None;
        }
        self.expanded.set(expanded);
        Some((name.len() + 2, known))
    }
}

/// Returns the name and the text of a general entity's declaration, whose first word has been read.
fn declaration(rest: &str) -> Option<(&str, String)> {
    let window = &rest[..rest.floor_char_boundary(MAX_NAME + MAX_DECLARED_BYTES + 32)];
    let named = window.trim_start();
    let (name, after) = named.split_at(named.find(char::is_whitespace)?);
    let value = after.trim_start();
    let quote = value.chars().next().filter(|c| named.len() < window.len() && matches!(c, '"' | '\''))?;
    let value = &value[1..];
    let value = value.get(..value.find(quote)?).filter(|v| v.len() <= MAX_DECLARED_BYTES && !v.contains('%'))?;
    let is_plain = value.match_indices('&').all(|(at, _)| value[at..].starts_with("&#"));
    let text = references::decode(value);
    (is_plain && name != "%" && !text.contains(['&', '<'])).then(|| (name, text.into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declared_entities_are_known_if_they_are_literal_text() {
        let subset = "<!ENTITY id 'Curlew &#38; co'><!ENTITY hens \"hens\"> <!ENTITY hens 'no'><!ENTITY lt 'no'>\n\
            <!-- <!ENTITY gone 'no'> --><!ENTITY % part2 'no'><!ENTITY file SYSTEM 'no'><!ENTITY nested 'a&hens;b'>\
            <!ENTITY tag '<b>'><!ENTITY\tcaf\u{e9}\n'&#233;' ><!ENTITY open 'no";
        let declared = Entities::of(subset);
        let said = |raw: &str| {
            let mut out = String::new();
            decode_declared(raw, &mut out, &declared);
            out
        };
        assert_eq!(said("&hens; &lt; &caf\u{e9}; &eacute;"), "hens < \u{e9} \u{e9}");
        let unknown = "&id; &gone; &part2; &file; &nested; &tag; &open; &%;";
        assert_eq!(said(unknown), unknown);
    }

    #[test]
    fn declared_entities_make_a_text_only_so_much_longer() {
        let subset = format!("<!ENTITY a '{}'>", "x".repeat(MAX_DECLARED_BYTES));
        let declared = Entities::of(&subset);
        let mut out = String::new();
        decode_declared(&"&a;".repeat(100_000), &mut out, &declared);
        assert!(out.len() <= MAX_EXPANSION + 300_000, "{}", out.len());
        assert!(Entities::of(&"<!ENTITY a 'b'>".repeat(9)).texts.len() == 1);
        let many: String = (0..10_000).map(|n| format!("<!ENTITY e{n} 'x'>")).collect();
        assert_eq!(Entities::of(&many).texts.len(), MAX_DECLARED);
    }
}
