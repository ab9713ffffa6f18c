//! Parts of a query, delimited by spaces or quotation marks.

/// Operators whose value may be quoted.
const OPERATORS: [&str; 9] = ["title", "author", "site", "tag", "in", "lang", "before", "after", "sort"];
/// The word that excludes the part after it, when it is between two parts.
pub(super) const NOT: &str = "NOT";
/// Operators of other search engines. In lower case they are ordinary words.
const BOOLEANS: [&str; 3] = ["AND", "OR", NOT];

/// Part of a query between spaces, or between quotation marks.
#[derive(Clone, Copy)]
pub(super) struct QueryPart<'a> {
    /// Operator directly before the quotation mark.
    pub(super) operator: Option<&'a str>,
    pub(super) text: &'a str,
    /// Position of the text in the query, in bytes.
    pub(super) at: usize,
    pub(super) quoted: bool,
    pub(super) negated: bool,
    /// True if a `+` precedes it.
    pub(super) is_strict: bool,
}

impl<'a> QueryPart<'a> {
    pub(super) fn is_boolean(&self) -> bool {
        !self.quoted && !self.negated && !self.is_strict && BOOLEANS.contains(&self.text)
    }

    /// Returns its first `room` words, and true if these are all.
    pub(super) fn head(&self, room: usize) -> (&'a str, bool) {
        if !self.quoted {
            return (self.text, true);
        }
        let begins = |(at, c): &(usize, char)| !c.is_whitespace() && !self.text[..*at].ends_with(|c| !is_space(c));
        match self.text.char_indices().filter(begins).nth(room) {
            Some((at, _)) => (&self.text[..at], false),
            None => (self.text, true),
        }
    }
}

pub(super) fn pieces(text: &str) -> impl Iterator<Item = QueryPart<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(is_space);
        let (negated, is_strict) = (rest.starts_with('-'), rest.starts_with('+'));
        if negated || is_strict {
            rest = &rest[1..];
        }
        let quoted_operator = rest.split_once(is_quote).and_then(|(before, _)| before.strip_suffix(':'));
        let operator = quoted_operator.filter(|name| OPERATORS.iter().any(|known| known.eq_ignore_ascii_case(name)));
        if let Some(name) = operator {
            rest = &rest[name.len() + 1..];
        }
        let first = rest.chars().next()?;
        if is_quote(first) {
            let inside = &rest[first.len_utf8()..];
            let at = text.len() - inside.len();
            // An unclosed quotation mark extends to the end.
            let end = inside.find(is_quote).unwrap_or(inside.len());
            rest = inside[end..].trim_start_matches(is_quote);
            return Some(QueryPart { operator, text: &inside[..end], at, quoted: true, negated, is_strict });
        }
        let at = text.len() - rest.len();
        let end = rest.find(|c| is_space(c) || is_quote(c)).unwrap_or(rest.len());
        let piece = &rest[..end];
        rest = &rest[end..];
        Some(QueryPart { operator: None, text: piece, at, quoted: false, negated, is_strict })
    })
}

pub(super) fn is_space(c: char) -> bool {
    c.is_whitespace() || c.is_control()
}

fn is_quote(c: char) -> bool {
    matches!(c, '"' | '“' | '”' | '„' | '«' | '»' | '「' | '」')
}
