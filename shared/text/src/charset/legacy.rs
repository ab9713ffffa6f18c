//! Encodings missing from the Encoding Standard: DOS and old Mac code pages, Tajik and Vietnamese encodings.

use encoding_rs::Encoding;
use std::sync::LazyLock;

pub(super) struct CodePage {
    /// Labels in lower case, with `-` instead of `_`.
    labels: Vec<&'static str>,
    /// Characters for all 256 bytes; U+FFFD for undefined bytes.
    chars: Vec<char>,
}

static CODE_PAGES: LazyLock<Vec<CodePage>> = LazyLock::new(|| {
    let lines = include_str!("../../data/code-pages.txt").lines().filter(|line| !line.starts_with('#'));
    lines.map(code_page).collect()
});

fn code_page(line: &'static str) -> CodePage {
    let mut columns = line.split('\t');
    let labels = columns.next().unwrap_or_default().split(' ').collect();
    let high = columns.next().map(unescaped).unwrap_or_default();
    let low = columns.next().map_or_else(|| (0..0x20).map(char::from).collect(), unescaped);
    CodePage { labels, chars: [low, (0x20..0x80).map(char::from).collect(), high].concat() }
}

/// Returns the characters of a text, in which `\u{…}` stands for one character.
fn unescaped(text: &str) -> Vec<char> {
    let mut parts = text.split("\\u{");
    let mut chars: Vec<char> = parts.next().unwrap_or_default().chars().collect();
    for (code, rest) in parts.filter_map(|part| part.split_once('}')) {
        chars.extend(u32::from_str_radix(code, 16).ok().and_then(char::from_u32));
        chars.extend(rest.chars());
    }
    chars
}

impl CodePage {
    pub(super) fn for_label(label: &str) -> Option<&'static CodePage> {
        let label = normal(label);
        CODE_PAGES.iter().find(|page| page.labels.contains(&label.as_str()))
    }

    pub(super) fn decode(&self, body: &[u8]) -> String {
        let decoded = body.iter().map(|byte| self.chars.get(usize::from(*byte)).copied());
        decoded.map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
    }
}

/// Returns a standard encoding for a label outside the standard, such as `ms-cyrl` or `windows_1251`.
pub(super) fn by_other_name(label: &str) -> Option<&'static Encoding> {
    let label = normal(label);
    let name = match label.as_str() {
        "maccyrillic" | "mac-cyrillic" => "x-mac-cyrillic",
        "macroman" | "mac-roman" => "macintosh",
        "ms-ee" => "windows-1250",
        "ms-cyrl" => "windows-1251",
        "ms-ansi" => "windows-1252",
        "ms-greek" => "windows-1253",
        "ms-turk" => "windows-1254",
        "ms-hebr" => "windows-1255",
        "ms-arab" => "windows-1256",
        "winbaltrim" => "windows-1257",
        other => other,
    };
    Encoding::for_label_no_replacement(name.as_bytes())
}

fn normal(label: &str) -> String {
    label.chars().take(MAX_LABEL).map(|c| if c == '_' { '-' } else { c.to_ascii_lowercase() }).collect()
}

/// Maximum number of characters read from a label; the longest known label has 22.
const MAX_LABEL: usize = 24;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_page_has_a_character_for_each_byte_and_names_of_its_own() {
        let mut labels = Vec::new();
        assert_eq!(CODE_PAGES.len(), 22);
        for page in &*CODE_PAGES {
            assert_eq!(page.chars.len(), 0x100, "{:?}", page.labels);
            assert_eq!(page.decode(b"<?xml ?>\t\r\n"), "<?xml ?>\t\r\n", "{:?}", page.labels);
            for label in &page.labels {
                assert!(Encoding::for_label(label.as_bytes()).is_none(), "the standard knows {label}");
                assert!(label.len() <= MAX_LABEL && normal(label) == *label && !labels.contains(label), "{label}");
                labels.push(*label);
            }
        }
    }

    #[test]
    fn letters_are_those_of_the_code_page() {
        let read =
            |label: &str, body: &[u8]| CodePage::for_label(label).map(|page| page.decode(body)).unwrap_or_default();
        assert_eq!(read("CP437", b"na\x8Bve caf\x82"), "na\u{ef}ve caf\u{e9}");
        assert_eq!(read("IBM852", b"\x9D\xA2d\xAB"), "\u{141}\u{f3}d\u{17a}");
        assert_eq!(read("cp_is", b"\x8D\x8B"), "\u{de}\u{d0}");
        assert_eq!(read("macCentralEurope", b"\xFC\x97\x64\x90"), "\u{141}\u{f3}d\u{17a}");
        assert_eq!(read("viscii", b"\x02\x14 Vi\xAEt"), "\u{1eb2}\u{1ef6} Vi\u{1ec7}t");
        assert_eq!(by_other_name("windows_1251").map(Encoding::name), Some("windows-1251"));
        assert_eq!(by_other_name("mac-cyrillic").map(Encoding::name), Some("x-mac-cyrillic"));
        assert_eq!((by_other_name("utf-7"), by_other_name("nonsense")), (None, None));
    }
}
