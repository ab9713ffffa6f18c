//! Bytes to text: which encoding a page is in, and its characters.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED};
use std::borrow::Cow;
use std::sync::LazyLock;

/// How far into the page a `<meta charset>` is looked for, in bytes (HTML, "determining the character encoding",
/// asks for 1024; real heads are longer).
const META_PREFIX: usize = 16 * 1024;
/// How much of the page the guess is made from, in bytes; guessing is slow.
const GUESS_PREFIX: usize = 32 * 1024;

/// Decodes a page; what cannot be decoded becomes U+FFFD.
///
/// The encoding is the first of these that is known: byte order mark, `charset` of the Content-Type header
/// (RFC 9110 §8.3), `<meta charset>` or `<meta http-equiv>`, a guess from the bytes. An unknown label is passed
/// over; UTF-7 is never used, for no browser does (Encoding Standard §4).
pub fn decode<'a>(body: &'a [u8], content_type: Option<&str>) -> Cow<'a, str> {
    mend(read(body, content_type))
}

fn read<'a>(body: &'a [u8], content_type: Option<&str>) -> Cow<'a, str> {
    if let Some((encoding, bom)) = Encoding::for_bom(body) {
        return encoding.decode_without_bom_handling(body.get(bom..).unwrap_or_default()).0;
    }
    let declared = content_type.and_then(charset_of_header).or_else(|| charset_of_meta(body));
    let encoding = declared.unwrap_or_else(|| guess(body));
    encoding.decode_without_bom_handling(body).0
}

/// Undoes what a system does that reads UTF-8 as windows-1252 and writes it as UTF-8 again ("donâ€™t"). Only where
/// the page has runs of three or more characters that are valid UTF-8 so; then its shorter runs are undone, too.
fn mend(text: Cow<'_, str>) -> Cow<'_, str> {
    /// Characters by which the defect is known without looking further: what lead bytes of marks and letters become.
    const LEADS: [&str; 2] = ["\u{E2}\u{80}", "\u{E2}\u{20AC}"];
    if !LEADS.iter().any(|lead| text.contains(lead)) {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = &*text;
    let mut certain = false;
    while let Some(at) = rest.find(|c: char| ('\u{C2}'..='\u{F4}').contains(&c)) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let (mended, length) = undone(from);
        if let Some(c) = mended {
            certain |= c.len_utf8() > 2;
            out.push(c);
        } else {
            out.push_str(from.get(..length).unwrap_or_default());
        }
        rest = from.get(length..).unwrap_or_default();
    }
    out.push_str(rest);
    if certain { Cow::Owned(out) } else { text }
}

/// The character whose bytes the first characters of a text stand for, if they do, and how many bytes of the text that
/// are; else the length of its first character.
fn undone(text: &str) -> (Option<char>, usize) {
    let mut bytes = [0_u8; 4];
    let (mut filled, mut length, mut wanted) = (0, 0, 1);
    for c in text.chars().take(bytes.len()) {
        let Some(byte) = byte_of(c) else { break };
        if filled == 0 {
            wanted = match byte {
                0xC2..=0xDF => 2,
                0xE0..=0xEF => 3,
                _ => 4,
            };
        }
        if let Some(slot) = bytes.get_mut(filled) {
            *slot = byte;
        }
        filled += 1;
        length += c.len_utf8();
        if filled == wanted {
            break;
        }
    }
    let whole = bytes.get(..filled).filter(|_| filled == wanted && wanted > 1);
    let decoded = whole.and_then(|bytes| std::str::from_utf8(bytes).ok()).and_then(|text| text.chars().next());
    match decoded {
        Some(c) => (Some(c), length),
        None => (None, text.chars().next().map_or(1, char::len_utf8)),
    }
}

/// The byte that windows-1252, or ISO 8859-1 where that has none, reads as this character.
fn byte_of(c: char) -> Option<u8> {
    if let Ok(byte) = u8::try_from(u32::from(c)) {
        return Some(byte);
    }
    (0x80..=0x9F).zip(HIGH.iter()).find(|(_, known)| **known == Some(c)).map(|(byte, _)| byte)
}

/// The characters of the bytes from 0x80 to 0x9F in windows-1252.
static HIGH: LazyLock<Vec<Option<char>>> = LazyLock::new(|| {
    (0x80..=0x9F).map(|byte| WINDOWS_1252.decode_without_bom_handling(&[byte]).0.chars().next()).collect()
});

/// The encoding named by a media type such as `text/html; charset="utf-8"`.
fn charset_of_header(value: &str) -> Option<&'static Encoding> {
    value
        .split(';')
        .skip(1)
        .find_map(|parameter| {
            let (name, label) = parameter.split_once('=')?;
            name.trim().eq_ignore_ascii_case("charset").then(|| label.trim().trim_matches(['"', '\'']))
        })
        .and_then(known)
}

/// The encoding for a label, but for those that only a header may choose or that are no encoding of a page.
fn known(label: &str) -> Option<&'static Encoding> {
    Encoding::for_label_no_replacement(label.as_bytes())
}

/// The encoding named by a meta tag near the top (HTML, "prescan a byte stream").
fn charset_of_meta(body: &[u8]) -> Option<&'static Encoding> {
    let prefix = body.get(..body.len().min(META_PREFIX)).unwrap_or_default();
    let mut rest = prefix;
    while let Some(at) = position(rest, b"<meta") {
        rest = rest.get(at + 5..).unwrap_or_default();
        let (tag, after) = rest.split_at(rest.iter().position(|&b| b == b'>').unwrap_or(rest.len()));
        rest = after;
        let Some(at) = position(tag, b"charset") else { continue };
        let value = tag.get(at + 7..).unwrap_or_default().trim_ascii_start();
        let Some(value) = value.strip_prefix(b"=") else { continue };
        let label: String = value
            .iter()
            .skip_while(|b| b.is_ascii_whitespace() || matches!(b, b'"' | b'\''))
            .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b':' | b'.'))
            .map(|&b| char::from(b))
            .collect();
        if let Some(encoding) = known(&label) {
            // A meta tag that could be read as ASCII is not in UTF-16, whatever it says (HTML, same algorithm).
            let lies = encoding == UTF_16BE || encoding == UTF_16LE;
            return Some(if lies {
                UTF_8
            } else if encoding == X_USER_DEFINED {
                WINDOWS_1252
            } else {
                encoding
            });
        }
    }
    None
}

/// Where `needle` (lower case) begins in `haystack`, ignoring ASCII case.
fn position(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window.eq_ignore_ascii_case(needle))
}

fn guess(body: &[u8]) -> &'static Encoding {
    // What is UTF-8 throughout is nothing else; a page that was cut may end within a character.
    if std::str::from_utf8(body).map_or_else(|fault| fault.error_len().is_none(), |_| true) {
        return UTF_8;
    }
    // The first byte that is not ASCII decides where looking begins: a long ASCII head says nothing.
    let start = body.iter().position(|b| !b.is_ascii()).unwrap_or(0).saturating_sub(64);
    let prefix = body.get(start..body.len().min(start + GUESS_PREFIX)).unwrap_or_default();
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(prefix, start + prefix.len() == body.len());
    detector.guess(None, Utf8Detection::Allow)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_order_mark_wins_over_everything() {
        assert_eq!(decode(b"\xEF\xBB\xBFperch\xC3\xA9", Some("text/html; charset=windows-1252")), "perché");
        assert_eq!(decode(b"\xFF\xFEh\0i\0", Some("text/html; charset=utf-8")), "hi");
    }

    #[test]
    fn the_header_wins_over_the_meta_tag() {
        let body = b"<meta charset=koi8-r>\xE0\xE8";
        assert_eq!(decode(body, Some("text/html; Charset=\"windows-1251\"")), "<meta charset=koi8-r>аи");
        assert_eq!(
            decode(b"<META HTTP-EQUIV=x content='text/html; charset=windows-1251'>\xE0", None).chars().last(),
            Some('а')
        );
    }

    #[test]
    fn utf_7_is_never_used() {
        let text = "<meta charset=utf-7>+ADw-script+AD4-";
        assert_eq!(decode(text.as_bytes(), Some("text/html; charset=utf-7")), text);
    }

    #[test]
    fn an_unknown_label_is_passed_over_and_a_wrong_one_is_lossy() {
        assert_eq!(decode("caffè".as_bytes(), Some("text/html; charset=utf8mb4")), "caffè");
        assert_eq!(decode(b"un caff\xE8", Some("text/html; charset=utf-8")), "un caff\u{FFFD}");
    }

    #[test]
    fn what_is_not_declared_is_guessed() {
        assert_eq!(decode("già così è più caldo".as_bytes(), None), "già così è più caldo");
        assert_eq!(
            decode(b"un caff\xE8 caldo, perch\xE9 cos\xEC non si fredda pi\xF9", None),
            "un caffè caldo, perché così non si fredda più"
        );
    }

    #[test]
    fn what_was_decoded_wrongly_before_it_was_sent_is_mended() {
        let twice = |text: &str| WINDOWS_1252.decode_without_bom_handling(text.as_bytes()).0.into_owned();
        for text in ["I don’t know – “perché”", "café… 5 €"] {
            assert_eq!(decode(twice(text).as_bytes(), None), text);
        }
        let latin: String = "Ared’s".bytes().map(char::from).collect();
        assert_eq!(decode(latin.as_bytes(), None), "Ared’s");
        for text in ["São â noite, Âge à la carte", "el niño “é” assim", "Crème brûlée à l’âge"] {
            assert_eq!(decode(text.as_bytes(), None), text);
        }
    }

    #[test]
    fn a_meta_tag_cannot_claim_utf_16() {
        assert_eq!(decode(b"<meta charset=utf-16>ab", None), "<meta charset=utf-16>ab");
    }
}
