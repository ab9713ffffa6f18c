//! Language tags (BCP 47).

/// Returns the primary subtag of a language tag in lower case: two or three letters (RFC 5646 §2.2.1, ISO 639).
/// Anything else is no language, so that pages cannot invent any.
pub fn primary_language(tag: &str) -> Option<String> {
    let primary = tag.split(['-', '_']).next().unwrap_or_default().trim();
    let is_subtag = matches!(primary.len(), 2 | 3) && primary.bytes().all(|b| b.is_ascii_alphabetic());
    is_subtag.then(|| primary.to_ascii_lowercase())
}
