//! A guard cheaper than the gate: for most pages it proves, without locating tags exactly, that no tag is too much for
//! the tree builder.

use crate::read::gate::{Limits, Unreadable};

/// Tags found by the scan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Marks {
    /// Number of places where a `meta` tag may begin.
    pub(crate) metas: usize,
    /// True if there may be a `link` with the relation `canonical`.
    pub(crate) canonical: bool,
}

/// Examines every place where a tag may begin. Returns `None` if a tag may have more attributes than allowed, or the
/// page more tags; the page is then still undecided.
///
/// Every `<` before a letter is read as if a tag began there (HTML, "tokenization"), also in comments and scripts, so a
/// page cannot hide a tag. Work is bounded: returns `None` if possible tags overlap too much.
pub(crate) fn scan(html: &str, limits: &Limits) -> Option<Marks> {
    let bytes = html.as_bytes();
    let mut work = bytes.len().saturating_mul(WORK);
    let mut tags = 0;
    let mut marks = Marks::default();
    for (at, _) in html.match_indices('<') {
        let rest = bytes.get(at + 1..).unwrap_or_default();
        if !rest.first().is_some_and(u8::is_ascii_alphabetic) {
            continue;
        }
        tags += 1;
        let length = length(rest, limits.attributes)?;
        work = work.checked_sub(length)?;
        if tags > limits.tags {
            return None;
        }
        let named = |name: &[u8]| rest.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name));
        marks.metas += usize::from(named(b"meta"));
        if !marks.canonical && named(b"link") {
            let mut words = rest.get(..length).unwrap_or_default().windows(CANONICAL.len());
            marks.canonical = words.any(|word| word.eq_ignore_ascii_case(CANONICAL));
        }
    }
    Some(marks)
}

const CANONICAL: &[u8] = b"canonical";
/// Maximum number of bytes read, as a multiple of the page's length.
const WORK: usize = 4;

/// Examines every place where an end tag may begin. The tokenizer compares its attributes with each other, although
/// they mean nothing, and the gate's tag reader does not report them.
///
/// # Errors
/// If an end tag may have more attributes than allowed.
pub(crate) fn check_end_tags(html: &str, limits: &Limits) -> Result<(), Unreadable> {
    let mut work = html.len().saturating_mul(WORK);
    for (at, _) in html.match_indices("</") {
        let tag = html.as_bytes().get(at + 2..).unwrap_or_default();
        if !tag.first().is_some_and(u8::is_ascii_alphabetic) {
            continue;
        }
        let read = length(tag, limits.attributes).and_then(|length| work.checked_sub(length));
        work = read.ok_or(Unreadable::TooManyAttributes)?;
    }
    Ok(())
}

/// Returns the length of a tag whose name begins here; `None` if it has more than `most` attributes.
fn length(tag: &[u8], most: usize) -> Option<usize> {
    let mut attributes = 0;
    let mut at = skip(tag, 0, |b| !is_space(b) && !matches!(b, b'/' | b'>'));
    loop {
        at = skip(tag, at, |b| is_space(b) || b == b'/');
        match tag.get(at) {
            None | Some(b'>') => return Some(at),
            Some(_) => attributes += 1,
        }
        if attributes > most {
            return None;
        }
        // The first character belongs to the name whatever it is.
        at = skip(tag, at + 1, |b| !is_space(b) && !matches!(b, b'/' | b'>' | b'='));
        let after = skip(tag, at, is_space);
        if tag.get(after) == Some(&b'=') {
            at = value(tag, skip(tag, after + 1, is_space));
        }
    }
}

/// Returns the end of an attribute's value that begins at `at`.
fn value(tag: &[u8], at: usize) -> usize {
    match tag.get(at) {
        Some(quote @ (b'"' | b'\'')) => skip(tag, at + 1, |b| b != *quote).saturating_add(1).min(tag.len()),
        _ => skip(tag, at, |b| !is_space(b) && b != b'>'),
    }
}

/// Returns the first position from `at` on whose byte does not satisfy `like`.
fn skip(tag: &[u8], at: usize, like: impl Fn(u8) -> bool) -> usize {
    let rest = tag.get(at..).unwrap_or_default();
    at + rest.iter().position(|b| !like(*b)).unwrap_or(rest.len())
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b'\x0C')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_read_to_its_end() {
        let of = |tag: &str| length(tag.as_bytes(), 9);
        for (tag, end) in [
            ("p>", 1),
            ("a href=x>y", 8),
            ("a href='>' b>", 12),
            ("a b=\">\"c/>", 9),
            ("a =b = c>", 8),
            ("a b=/>", 5),
            ("br/>", 3),
            ("a b='", 5),
            ("a", 1),
        ] {
            assert_eq!(of(tag), Some(end), "{tag}");
        }
        assert_eq!(of("a 1 2 3 4 5 6 7 8 9>"), Some(19));
        assert_eq!(of("a 1 2 3 4 5 6 7 8 9 0>"), None);
        assert_eq!(of("a 1='>'2='>'3='>'4='>'5='>'6='>'7='>'8='>'9='>'0='>'>"), None);
    }

    #[test]
    fn an_end_tag_has_few_attributes() {
        let limits = Limits { attributes: 9, ..Limits::default() };
        let many = |tag: &str| format!("<p>{tag}{}>", (0..10).map(|n| format!(" a{n}")).collect::<String>());
        assert_eq!(check_end_tags(&many("</p"), &limits), Err(Unreadable::TooManyAttributes));
        assert_eq!(check_end_tags(&"</p a='".repeat(30), &limits), Err(Unreadable::TooManyAttributes));
        for page in [many("</p></"), many("</p><i"), "</p a b c></div>".repeat(30), "a</ b </3".to_owned()] {
            assert_eq!(check_end_tags(&page, &limits), Ok(()), "{page}");
        }
    }

    #[test]
    fn a_tag_cannot_hide_behind_another_one() {
        let limits = Limits { attributes: 9, tags: 5, ..Limits::default() };
        let many: String = (0..10).map(|n| format!(" a{n}")).collect();
        let page = "<p class=a>1 < 2</p><!-- <meta c d --><script>a<b && c<d</script><link rel=Canonical>";
        assert_eq!(scan(page, &Limits { tags: 9, ..limits }), Some(Marks { metas: 1, canonical: true }));
        for page in
            [format!("<p{many}>"), format!("<script>'<a b=\"'</script><p{many}>"), format!("<!--<a b='--><p{many}>")]
        {
            assert_eq!(scan(&page, &limits), None, "{page}");
        }
        assert_eq!(scan("<a><a><a><a><a><a>", &limits), None);
        assert_eq!(scan(&"<a b='".repeat(30), &Limits { tags: 1_000, ..limits }), None);
    }
}
