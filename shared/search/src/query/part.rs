//! The parts of a query, as they stand between spaces or quotation marks.

/// Operators, whose value may stand in quotation marks.
const OPERATORS: [&str; 6] = ["author", "site", "lang", "before", "after", "sort"];

/// What stands between spaces, or between quotation marks.
#[derive(Clone, Copy)]
pub(super) struct QueryPart<'a> {
    /// The operator that stands before the quotation mark.
    pub(super) operator: Option<&'a str>,
    pub(super) text: &'a str,
    /// Where the text begins.
    pub(super) at: usize,
    pub(super) quoted: bool,
    pub(super) negated: bool,
    /// A `+` stands before it.
    pub(super) is_strict: bool,
}

impl<'a> QueryPart<'a> {
    /// As many words of it as there is room for, and whether these are all.
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

/// The parts of a query, in their order.
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
            // A quotation mark that is never closed reaches to the end.
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
