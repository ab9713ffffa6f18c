//! Bytes to text.
//!
//! Order of belief (RFC 7303 §3): byte order mark, HTTP charset, XML declaration, a guess. Two things overrule a label:
//! text that is no valid UTF-8 is not UTF-8, and text that is valid UTF-8 and says so itself is not Latin-1.

use crate::Repair;
use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};
use std::borrow::Cow;

/// How much is looked at for the XML declaration.
const DECLARATION_BYTES: usize = 1_024;
/// How much is looked at for a guess; the detector is slow.
const GUESS_BYTES: usize = 64 * 1024;

/// Text, and whether its label had to be disbelieved.
pub(crate) struct Decoded<'a> {
    pub(crate) text: Cow<'a, str>,
    pub(crate) repair: Option<Repair>,
}

/// Decodes a document. Never fails: what cannot be read becomes U+FFFD.
pub(crate) fn decode<'a>(body: &'a [u8], content_type: Option<&str>) -> Decoded<'a> {
    if let Some((encoding, mark)) = Encoding::for_bom(body) {
        // A UTF-32 mark begins with the UTF-16LE one; no such text has a NUL as its first character.
        if !(encoding == UTF_16LE && body[mark..].starts_with(&[0, 0])) {
            return lossy(&body[mark..], encoding, None);
        }
    }
    if let Some(text) = utf_32(body) {
        return Decoded { text: Cow::Owned(text), repair: Some(Repair::Encoding) };
    }
    match wide(body) {
        Some(encoding) => lossy(body, encoding, None),
        None => by_label(body, content_type.and_then(charset), declared(body)),
    }
}

/// Decodes by what the server or the document says, unless the bytes say otherwise.
fn by_label<'a>(body: &'a [u8], http: Option<&str>, declared: Option<&str>) -> Decoded<'a> {
    let known = |label: Option<&str>| label.and_then(|l| Encoding::for_label(l.as_bytes())).filter(is_plain);
    let unknown = |label: Option<&str>| label.is_some() && known(label).is_none();
    let repair = (unknown(http) || unknown(declared)).then_some(Repair::Encoding);
    let (http, declared) = (known(http), known(declared));
    if let Ok(text) = std::str::from_utf8(body) {
        let mislabelled = http.is_some_and(|e| e != UTF_8) && declared.is_none_or(|e| e == UTF_8) && !text.is_ascii();
        let wanted = http.or(declared).unwrap_or(UTF_8);
        if wanted == UTF_8 || mislabelled && (wanted.is_single_byte() && declared.is_some()) {
            return Decoded {
                text: Cow::Borrowed(text),
                repair: if mislabelled { Some(Repair::Encoding) } else { repair },
            };
        }
        return lossy(body, wanted, repair);
    }
    match http.into_iter().chain(declared).find(|e| *e != UTF_8) {
        Some(encoding) => lossy(body, encoding, repair),
        None if http.or(declared).is_some() => almost_utf_8(body),
        None => lossy(body, guess(body), repair),
    }
}

/// Encodings in which the bytes of `<?xml` mean what they do in ASCII; a UTF-16 label on such bytes is wrong, and the
/// replacement encoding is what the standard makes of dangerous labels.
fn is_plain(encoding: &&'static Encoding) -> bool {
    encoding.is_ascii_compatible() || encoding.name() == "ISO-2022-JP"
}

/// Said to be UTF-8 and is not: a stray byte in good UTF-8, or another encoding altogether.
fn almost_utf_8(body: &[u8]) -> Decoded<'_> {
    let (mut good, mut bad) = (0_usize, 0_usize);
    for chunk in body.utf8_chunks() {
        good += chunk.valid().bytes().filter(|b| *b >= 0xC0).count();
        bad += usize::from(!chunk.invalid().is_empty());
    }
    lossy(body, if bad > good { guess(body) } else { UTF_8 }, Some(Repair::Encoding))
}

fn lossy<'a>(body: &'a [u8], encoding: &'static Encoding, repair: Option<Repair>) -> Decoded<'a> {
    let (text, faulty) = encoding.decode_without_bom_handling(body);
    Decoded { text, repair: if faulty { Some(Repair::Encoding) } else { repair } }
}

/// What the bytes look like; UTF-8 only if they are.
fn guess(body: &[u8]) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    let prefix = &body[..body.len().min(GUESS_BYTES)];
    detector.feed(prefix, prefix.len() == body.len());
    let guessed = detector.guess(None, Utf8Detection::Allow);
    if guessed == UTF_8 && std::str::from_utf8(body).is_err() { WINDOWS_1252 } else { guessed }
}

/// UTF-16 without a mark, told by the zero beside the first `<` or `{`.
fn wide(body: &[u8]) -> Option<&'static Encoding> {
    match body {
        [0, b'<' | b'{', 0, ..] => Some(UTF_16BE),
        [b'<' | b'{', 0, second, 0, ..] if *second != 0 => Some(UTF_16LE),
        _ => None,
    }
}

/// UTF-32, which encoding_rs does not know, by its mark or by its first character.
fn utf_32(body: &[u8]) -> Option<String> {
    let from: fn([u8; 4]) -> u32 = match body {
        [0, 0, 0xFE, 0xFF, ..] | [0, 0, 0, b'<' | b'{', ..] => u32::from_be_bytes,
        [0xFF, 0xFE, 0, 0, ..] | [b'<' | b'{', 0, 0, 0, ..] => u32::from_le_bytes,
        _ => return None,
    };
    let units = body.as_chunks::<4>().0;
    Some(units.iter().map(|u| char::from_u32(from(*u)).unwrap_or(char::REPLACEMENT_CHARACTER)).collect())
}

/// The charset parameter of a media type (RFC 9110 §8.3.1).
fn charset(content_type: &str) -> Option<&str> {
    content_type.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        let value = value.trim().trim_matches(['"', '\'']);
        (name.trim().eq_ignore_ascii_case("charset") && !value.is_empty()).then_some(value)
    })
}

/// The encoding in the XML declaration, or in a page's `meta` element, near the beginning.
fn declared(body: &[u8]) -> Option<&str> {
    let head = &body[..body.len().min(DECLARATION_BYTES)];
    let head = match std::str::from_utf8(head) {
        Ok(head) => head,
        Err(e) => std::str::from_utf8(&head[..e.valid_up_to()]).unwrap_or_default(),
    };
    let after = |text: &'_ str, word: &str| text.find(word).map(|at| at + word.len());
    let value_at = if let Some(start) = head.find("<?xml ") {
        let declaration = &head[start..];
        let declaration = &declaration[..declaration.find('>').unwrap_or(declaration.len())];
        start + after(declaration, "encoding")?
    } else {
        let lower = head.to_ascii_lowercase();
        let meta = lower.find("<meta")?;
        meta + after(&lower[meta..], "charset")?
    };
    let rest = head[value_at..].trim_start().strip_prefix('=')?.trim_start().trim_start_matches(['"', '\'']);
    let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || "-_.:".contains(c))).unwrap_or(rest.len());
    (end > 0).then(|| &rest[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(body: &[u8], content_type: Option<&str>) -> String {
        decode(body, content_type).text.into_owned()
    }

    #[test]
    fn a_mark_is_believed_before_the_header_and_the_header_before_the_document() {
        assert_eq!(text(b"\xEF\xBB\xBFcaf\xC3\xA9", Some("text/xml; charset=koi8-r")), "caf\u{e9}");
        let body = b"<?xml version='1.0' encoding='koi8-r'?><a>\xE9</a>";
        assert!(text(body, Some("text/xml;charset=windows-1252")).contains('\u{e9}'));
        assert!(text(body, None).contains('\u{418}'));
    }

    #[test]
    fn utf_16_and_utf_32_are_known_with_and_without_a_mark() {
        for mark in [true, false] {
            let source = format!("{}<a>\u{e9}\u{1F426}</a>", if mark { "\u{FEFF}" } else { "" });
            let le: Vec<u8> = source.encode_utf16().flat_map(u16::to_le_bytes).collect();
            let be: Vec<u8> = source.encode_utf16().flat_map(u16::to_be_bytes).collect();
            let le32: Vec<u8> = source.chars().flat_map(|c| u32::from(c).to_le_bytes()).collect();
            let be32: Vec<u8> = source.chars().flat_map(|c| u32::from(c).to_be_bytes()).collect();
            for body in [le, be, le32, be32] {
                assert_eq!(text(&body, None).trim_start_matches('\u{FEFF}'), "<a>\u{e9}\u{1F426}</a>");
            }
        }
    }

    #[test]
    fn a_lying_label_is_found_out() {
        // Says UTF-8, is Windows-1252.
        assert_eq!(text(b"<a>na\xEFve caf\xE9</a>", Some("text/xml; charset=utf-8")), "<a>na\u{ef}ve caf\u{e9}</a>");
        // Says Latin-1 in the header, but is UTF-8 and says so itself.
        let body = "<?xml version='1.0' encoding='utf-8'?><a>\u{e9}</a>";
        assert_eq!(text(body.as_bytes(), Some("text/xml; charset=iso-8859-1")), body);
        // One broken byte does not make good UTF-8 another encoding.
        assert_eq!(text(b"\xC3\xA9\xC3\xA8 \xFF", Some("a/b; charset=utf-8")), "\u{e9}\u{e8} \u{FFFD}");
    }

    #[test]
    fn utf_7_and_unknown_names_are_not_believed() {
        assert_eq!(text(b"+ADw-script+AD4-", Some("text/xml; charset=utf-7")), "+ADw-script+AD4-");
        assert_eq!(text("\u{e9}".as_bytes(), Some("text/xml; charset=nonsense")), "\u{e9}");
        assert_eq!(text(b"<?xml version='1.0' encoding='utf-16'?><a/>", None).len(), 43);
    }
}
