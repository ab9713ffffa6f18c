//! Converts feed titles to plain text, and cleans text for storage.

use curlew_model::Timestamp;
use curlew_text::date::{self, Hints};
use curlew_text::hygiene::{clean, head, line};
use curlew_text::references;

/// Returns a title as plain text, without markup, cleaned and truncated; `None` if nothing is left.
pub(crate) fn plain(text: &str, literal: bool, max_chars: usize) -> Option<String> {
    let title = if literal { line(text, max_chars) } else { line(&references::decode(&strip_tags(text)), max_chars) };
    (!title.is_empty()).then_some(title)
}

/// Returns a longer text with its markup, cleaned and truncated; `None` if nothing is left.
pub(crate) fn body(text: &str, max_chars: usize) -> Option<String> {
    let cleaned = clean(head(text.trim(), max_chars.saturating_mul(2)));
    let body = head(&cleaned, max_chars).trim();
    (!body.is_empty()).then(|| body.to_owned())
}

/// Parses a date. Some systems write it as HTML, as in `<time datetime="2026-05-03T17:05:09Z">Sunday</time>`.
pub(crate) fn date(text: &str, language: Option<&str>) -> Option<Timestamp> {
    date::parse(attribute_of_element(text, "datetime").unwrap_or(text), &Hints::FEED.of_language(language))
        .map(|moment| moment.at)
}

/// Returns an attribute, with unresolved references, of the HTML element that a value is in although it should not be.
pub(crate) fn attribute_of_element<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let (_, after) = text.trim_start().strip_prefix('<')?.split_once(name)?;
    after.trim_start().strip_prefix('=')?.split(['"', '\'']).nth(1)
}

/// Removes HTML tags. Text that only resembles a tag stays: titles mention `Vec<T>` and 1 < 2.
fn strip_tags(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        match tag_length(rest) {
            Some((length, breaks)) => {
                if breaks {
                    out.push(' ');
                }
                rest = &rest[length..];
            }
            None => {
                out.push('<');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    out
}

/// Returns the length of the HTML tag at the start of `text`, and true if the tag separates words.
fn tag_length(text: &str) -> Option<(usize, bool)> {
    let after = text[1..].strip_prefix('/').unwrap_or(&text[1..]);
    let end = after.bytes().take(MAX_TAG_NAME + 1).position(|b| !b.is_ascii_alphanumeric()).unwrap_or(after.len());
    let name = after.get(..end).filter(|n| n.len() <= MAX_TAG_NAME)?.to_ascii_lowercase();
    let close = text[1..].find(['>', '<'])? + 1;
    let is_in = |list: &str| list.split(' ').any(|known| known == name);
    let breaks = is_in(BLOCK);
    ((breaks || is_in(INLINE)) && text[close..].starts_with('>')).then_some((close + 1, breaks))
}

const MAX_TAG_NAME: usize = 10;
const INLINE: &str = "\
    a abbr acronym b bdi bdo big cite code del dfn em embed font i iframe img ins kbd mark q s samp script \
    small span strike strong sub sup tt u var wbr";
const BLOCK: &str = "\
    article aside blockquote br center dd div dl dt figcaption figure h1 h2 h3 h4 h5 h6 hr li ol p pre \
    section ul";

#[cfg(test)]
mod tests {
    use super::*;

    fn title(text: &str) -> Option<String> {
        plain(text, false, 1_000)
    }

    #[test]
    fn titles_lose_markup_and_keep_what_only_looks_like_it() {
        assert_eq!(title("<b>Curlews</b>  &amp;\n<i>godwits</i>").as_deref(), Some("Curlews & godwits"));
        assert_eq!(title("<p>One</p><p>Two</p>").as_deref(), Some("One Two"));
        assert_eq!(title("Vec<T> when 1 < 2").as_deref(), Some("Vec<T> when 1 < 2"));
        assert_eq!(title("<script>alert(1)</script>").as_deref(), Some("alert(1)"));
        assert_eq!(plain("<b>literal</b>", true, 1_000).as_deref(), Some("<b>literal</b>"));
        assert_eq!(title("<p> </p>"), None);
    }

    #[test]
    fn what_deceives_the_eye_is_taken_out() {
        assert_eq!(title("a\0b\u{1}c\u{202E}d\u{200B}e\u{FEFF}").as_deref(), Some("abcde"));
        let pile = format!("z{}", "\u{301}".repeat(10_000));
        assert_eq!(title(&pile).map(|t| t.chars().count()), Some(curlew_text::hygiene::MAX_MARKS));
        assert_eq!(title("e\u{301}").as_deref(), Some("\u{e9}"));
    }

    #[test]
    fn c1_controls_are_read_as_their_references_are() {
        for code in 0x80..=0x9F_u8 {
            let raw = title(&format!("a{}b", char::from(code)));
            assert_eq!(raw, title(&format!("a&#{code};b")), "{code:X}");
            assert!(raw.is_some_and(|raw| !raw.contains(char::is_control)), "{code:X}");
        }
        assert_eq!(title("it\u{92}s \u{93}so\u{94}\u{85}").as_deref(), Some("it\u{2019}s \u{201c}so\u{201d}\u{2026}"));
        assert_eq!(body("it\u{92}s", 9).as_deref(), Some("it\u{2019}s"));
    }

    #[test]
    fn long_titles_are_cut_at_a_character() {
        let long = "\u{e9}".repeat(5_000);
        assert_eq!(title(&long).map(|t| t.chars().count()), Some(1_000));
    }
}
