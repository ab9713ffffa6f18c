//! Takes text apart into the words that are indexed and looked for.
//!
//! Every word has a position, and one or two forms. The first form is its stem in the language of the page, without
//! accents. The second, where it differs, is the stem of the word written without accents, so that `perche` finds
//! `perché` even where the stemmer minds the accent. Scripts that do not part words by spaces are taken apart into
//! pairs of neighbouring characters.

use std::collections::HashMap;
use std::ops::Range;
use tantivy::tokenizer::{Language, RawTokenizer, Stemmer, TextAnalyzer};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Longer words are cut; what is alike in so many characters is found alike.
const MAX_WORD_CHARS: usize = 64;
/// Words whose forms are remembered, a language; then the memory is emptied.
const MAX_REMEMBERED: usize = 20_000;

/// One word of a text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Word {
    /// What it is indexed as.
    pub(crate) form: String,
    /// What it is indexed as besides, at the same position.
    pub(crate) other: Option<String>,
    /// Its number in the text; neighbours in a phrase have neighbouring numbers.
    pub(crate) position: usize,
    /// Its bytes in the text.
    pub(crate) span: Range<usize>,
}

/// What the words are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// To be found: single ideographs are indexed besides the pairs.
    Index,
    /// To look for: only pairs, unless an ideograph stands alone.
    Query,
}

/// One analyzer a language, made when first asked for.
#[derive(Default)]
pub(crate) struct Analyzers(HashMap<String, Analyzer>);

impl Analyzers {
    /// The analyzer of a primary language subtag; the empty word is no language.
    pub(crate) fn of(&mut self, language: &str) -> &mut Analyzer {
        let rules = rules(language);
        self.0.entry(rules.to_owned()).or_insert_with(|| Analyzer::new(rules))
    }
}

/// The language by whose rules a language is taken apart: itself, or none if nothing particular is known of it.
pub(crate) fn rules(language: &str) -> &str {
    match language {
        "nb" | "nn" => "no",
        "ca" | "az" => language,
        _ if stemmer_language(language).is_some() => language,
        _ => "",
    }
}

/// Takes texts of one language apart.
pub(crate) struct Analyzer {
    stemmer: Option<TextAnalyzer>,
    apostrophe: Apostrophe,
    dotless_i: bool,
    remembered: HashMap<String, (String, Option<String>)>,
}

/// What an apostrophe inside a word means.
#[derive(Clone, Copy, Debug)]
enum Apostrophe {
    /// The part before it is dropped if it is one of these: `l'albero`, `qu'elle`.
    Elides(&'static [&'static str]),
    /// A genitive `'s` is dropped, the rest is one word: `Anna's`, `don't`.
    Joins,
    /// An ending follows that is dropped: `İstanbul'da`.
    Ends,
    /// It parts two words.
    Parts,
}

/// Elided words of Italian.
const ITALIAN: &[&str] = &[
    "l", "un", "all", "dall", "dell", "nell", "sull", "coll", "pell", "gl", "agl", "dagl", "degl", "negl", "sugl", "c",
    "d", "m", "t", "s", "v", "n", "ch", "quell", "quest", "bell", "sant", "senz", "tutt", "mezz", "anch", "com", "dov",
    "nient", "qualcun", "nessun", "ciascun", "alcun", "buon", "pover",
];
/// Elided words of French.
const FRENCH: &[&str] =
    &["l", "m", "t", "qu", "n", "s", "j", "d", "c", "jusqu", "quoiqu", "lorsqu", "puisqu", "quelqu", "presqu"];
/// Elided words of Catalan.
const CATALAN: &[&str] = &["d", "l", "m", "n", "s", "t"];

impl Analyzer {
    fn new(language: &str) -> Analyzer {
        let apostrophe = match language {
            "it" => Apostrophe::Elides(ITALIAN),
            "fr" => Apostrophe::Elides(FRENCH),
            "ca" => Apostrophe::Elides(CATALAN),
            "en" => Apostrophe::Joins,
            "tr" | "az" => Apostrophe::Ends,
            _ => Apostrophe::Parts,
        };
        let stemmer = stemmer_language(language)
            .map(|language| TextAnalyzer::builder(RawTokenizer::default()).filter(Stemmer::new(language)).build());
        Analyzer { stemmer, apostrophe, dotless_i: matches!(language, "tr" | "az"), remembered: HashMap::new() }
    }

    /// The words of a text, in their order.
    pub(crate) fn words(&mut self, text: &str, mode: Mode) -> Vec<Word> {
        let mut words = Vec::with_capacity(text.len() / 6);
        let mut position = 0;
        for piece in Pieces::of(text) {
            match piece {
                Piece::Word { span, apostrophes: false } => {
                    self.push(&text[span.clone()], span, &mut position, &mut words)
                }
                Piece::Word { span, apostrophes: true } => self.push_parts(text, span, &mut position, &mut words),
                Piece::Run(span) => push_pairs(text, span, mode, &mut position, &mut words),
            }
        }
        words
    }

    fn push(&mut self, word: &str, span: Range<usize>, position: &mut usize, words: &mut Vec<Word>) {
        let (form, other) = self.forms(word);
        if !form.is_empty() {
            words.push(Word { form, other, position: *position, span });
            *position += 1;
        }
    }

    fn push_parts(&mut self, text: &str, span: Range<usize>, position: &mut usize, words: &mut Vec<Word>) {
        let mut parts = parts(text, &span);
        match self.apostrophe {
            Apostrophe::Elides(elided) => {
                let is_elided = |part: &Range<usize>| elided.contains(&text[part.clone()].to_lowercase().as_str());
                let dropped = parts.iter().take(parts.len() - 1).take_while(|part| is_elided(part)).count();
                parts.drain(..dropped);
            }
            Apostrophe::Joins => {
                if parts.len() > 1 && parts.last().is_some_and(|last| text[last.clone()].eq_ignore_ascii_case("s")) {
                    parts.pop();
                }
                let joined: String = parts.iter().map(|part| &text[part.clone()]).collect();
                return self.push(&joined, span, position, words);
            }
            Apostrophe::Ends => parts.truncate(1),
            Apostrophe::Parts => {}
        }
        for part in parts {
            self.push(&text[part.clone()], part, position, words);
        }
    }

    /// The forms of one word as it is written.
    fn forms(&mut self, word: &str) -> (String, Option<String>) {
        if let Some(known) = self.remembered.get(word) {
            return known.clone();
        }
        let lower = lower(word, self.dotless_i);
        let bare = without_accents(&lower);
        let (form, other) = match &mut self.stemmer {
            None => (bare, None),
            Some(stemmer) if bare == lower => (stem(stemmer, &lower), None),
            Some(stemmer) => (without_accents(&stem(stemmer, &lower)), Some(stem(stemmer, &bare))),
        };
        let other = other.filter(|other| *other != form && !other.is_empty());
        let forms = (form, other);
        if self.remembered.len() >= MAX_REMEMBERED {
            self.remembered.clear();
        }
        self.remembered.insert(word.to_owned(), forms.clone());
        forms
    }
}

/// The stemmer of a primary language subtag (ISO 639).
fn stemmer_language(language: &str) -> Option<Language> {
    Some(match language {
        "ar" => Language::Arabic,
        "da" => Language::Danish,
        "nl" => Language::Dutch,
        "en" => Language::English,
        "fi" => Language::Finnish,
        "fr" => Language::French,
        "de" => Language::German,
        "el" => Language::Greek,
        "hu" => Language::Hungarian,
        "it" => Language::Italian,
        "no" => Language::Norwegian,
        "pt" => Language::Portuguese,
        "ro" => Language::Romanian,
        "ru" => Language::Russian,
        "es" => Language::Spanish,
        "sv" => Language::Swedish,
        "ta" => Language::Tamil,
        "tr" => Language::Turkish,
        _ => return None,
    })
}

fn stem(stemmer: &mut TextAnalyzer, word: &str) -> String {
    let mut stream = stemmer.token_stream(word);
    let stem = if stream.advance() { std::mem::take(&mut stream.token_mut().text) } else { String::new() };
    if stem.is_empty() { word.to_owned() } else { stem }
}

/// Lower case, with compatible characters made one (NFKC) and invisible ones left out.
fn lower(word: &str, dotless_i: bool) -> String {
    if word.is_ascii() && !dotless_i {
        return word.chars().take(MAX_WORD_CHARS).map(|c| c.to_ascii_lowercase()).collect();
    }
    let visible = word.chars().filter(|c| !is_invisible(*c)).take(MAX_WORD_CHARS);
    let turkish = visible.nfkc().map(|c| match c {
        'I' if dotless_i => 'ı',
        'İ' if dotless_i => 'i',
        c => c,
    });
    turkish.flat_map(char::to_lowercase).nfc().collect()
}

/// A lower-case word without accents and with the letters that Latin scripts write in several ways made one.
fn without_accents(word: &str) -> String {
    if word.is_ascii() {
        return word.to_owned();
    }
    let mut bare = String::with_capacity(word.len());
    for c in word.nfkd().filter(|c| !is_accent(*c)).nfc() {
        match c {
            'ß' => bare.push_str("ss"),
            'æ' => bare.push_str("ae"),
            'œ' => bare.push_str("oe"),
            'þ' => bare.push_str("th"),
            'ø' => bare.push('o'),
            'ł' => bare.push('l'),
            'đ' | 'ð' => bare.push('d'),
            'ħ' => bare.push('h'),
            'ı' => bare.push('i'),
            'ς' => bare.push('σ'),
            c => bare.push(c),
        }
    }
    // A word of nothing but such marks is still a word.
    if bare.is_empty() { word.to_owned() } else { bare }
}

/// Marks that people leave out when they type: accents, Hebrew points, Arabic vowel signs and tatweel. Vowel signs of
/// other scripts are letters in all but name and stay.
fn is_accent(c: char) -> bool {
    matches!(u32::from(c), 0x0300..=0x036f | 0x0591..=0x05bd | 0x0640 | 0x064b..=0x0652)
}

/// Soft hyphen and zero-width characters.
fn is_invisible(c: char) -> bool {
    matches!(u32::from(c), 0x00ad | 0x200b..=0x200d | 0x2060 | 0xfeff)
}

fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '’' | '‘' | 'ʼ' | '＇' | '`' | '´')
}

/// Chinese characters.
fn is_ideograph(c: char) -> bool {
    matches!(u32::from(c), 0x3005..=0x3007 | 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xf900..=0xfaff | 0x2_0000..=0x3_ffff)
}

/// Characters of scripts that do not part words by spaces, and Korean, whose particles cling to the words.
fn is_unparted(c: char) -> bool {
    // What comes before Thai is letters of scripts that part words.
    if u32::from(c) < 0x0e01 {
        return false;
    }
    is_ideograph(c)
        || matches!(u32::from(c), 0x3041..=0x3096 | 0x309d..=0x309f | 0x30a1..=0x30fa | 0x30fc..=0x30ff | 0x31f0..=0x31ff | 0xff66..=0xff9f)
        || matches!(u32::from(c), 0xac00..=0xd7a3)
        || matches!(u32::from(c), 0x0e01..=0x0e4e | 0x0e80..=0x0ece | 0x1000..=0x103f | 0x1780..=0x17d3)
}

/// The parts of a word between its apostrophes; there is at least one.
fn parts(text: &str, span: &Range<usize>) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut from = span.start;
    for (at, c) in text[span.clone()].char_indices().filter(|(_, c)| is_apostrophe(*c)) {
        parts.push(from..span.start + at);
        from = span.start + at + c.len_utf8();
    }
    parts.push(from..span.end);
    parts
}

/// Pairs of neighbouring characters; each character counts as a position.
fn push_pairs(text: &str, span: Range<usize>, mode: Mode, position: &mut usize, words: &mut Vec<Word>) {
    let chars: Vec<(usize, char)> = text[span.clone()].char_indices().map(|(at, c)| (span.start + at, c)).collect();
    for (number, &(at, c)) in chars.iter().enumerate() {
        let single = || c.nfkc().collect::<String>();
        let alone = chars.len() == 1;
        let next = chars.get(number + 1).map(|&(_, c)| c);
        let end = |count: usize| chars.get(number + count).map_or(span.end, |&(at, _)| at);
        let keep_single = mode == Mode::Index && is_ideograph(c);
        let word = match next {
            Some(next) => Some(Word {
                form: [c, next].into_iter().nfkc().collect(),
                other: keep_single.then(single),
                position: *position,
                span: at..end(2),
            }),
            None if alone || keep_single => {
                Some(Word { form: single(), other: None, position: *position, span: at..end(1) })
            }
            None => None,
        };
        words.extend(word);
        *position += 1;
    }
}

/// What a text consists of besides what parts it.
enum Piece {
    /// Letters and digits, and apostrophes between them.
    Word { span: Range<usize>, apostrophes: bool },
    /// A run of characters of scripts that do not part words.
    Run(Range<usize>),
}

struct Pieces<'a> {
    text: &'a str,
    at: usize,
}

impl Pieces<'_> {
    fn of(text: &str) -> Pieces<'_> {
        Pieces { text, at: 0 }
    }

    fn run(&mut self, start: usize) -> Piece {
        let rest = &self.text[start..];
        self.at = start + rest.find(|c| !is_unparted(c)).unwrap_or(rest.len());
        Piece::Run(start..self.at)
    }

    fn word(&mut self, start: usize) -> Piece {
        let rest = &self.text[start..];
        // Most words are nothing but ASCII letters.
        let plain = rest.bytes().position(|b| !b.is_ascii_alphanumeric()).unwrap_or(rest.len());
        if rest.as_bytes().get(plain).is_none_or(|b| b.is_ascii() && !matches!(b, b'\'' | b'`')) {
            self.at = start + plain;
            return Piece::Word { span: start..self.at, apostrophes: false };
        }
        let mut apostrophes = false;
        let mut end = rest.len();
        let mut chars = rest.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            let inside = if is_apostrophe(c) {
                let joins = chars.peek().is_some_and(|&(_, next)| begins_word(next));
                apostrophes |= joins;
                joins
            } else {
                begins_word(c) || (!is_unparted(c) && (is_combining_mark(c) || is_invisible(c)))
            };
            if !inside {
                end = at;
                break;
            }
        }
        self.at = start + end;
        Piece::Word { span: start..self.at, apostrophes }
    }
}

fn begins_word(c: char) -> bool {
    c.is_alphanumeric() && !is_unparted(c)
}

impl Iterator for Pieces<'_> {
    type Item = Piece;

    fn next(&mut self) -> Option<Piece> {
        let rest = &self.text[self.at..];
        let (skipped, first) = rest.char_indices().find(|(_, c)| is_unparted(*c) || c.is_alphanumeric())?;
        let start = self.at + skipped;
        Some(if is_unparted(first) { self.run(start) } else { self.word(start) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn forms(language: &str, text: &str) -> Vec<String> {
        let words = Analyzer::new(language).words(text, Mode::Index);
        words.into_iter().flat_map(|w| std::iter::once(w.form).chain(w.other)).collect()
    }

    fn same(language: &str, one: &str, two: &str) {
        let one_forms = forms(language, one);
        assert!(forms(language, two).iter().any(|form| one_forms.contains(form)), "{language}: {one} / {two}");
    }

    #[test]
    fn inflected_words_share_a_stem() {
        for (language, one, two) in [
            ("it", "articoli", "articolo"),
            ("it", "ricercatrici", "ricercatrice"),
            ("it", "perché", "perche"),
            ("it", "città", "CITTA"),
            ("it", "parlerà", "parlera"),
            ("en", "running", "run"),
            ("en", "libraries", "library"),
            ("fr", "mangées", "mangees"),
            ("de", "Häuser", "häusern"),
            ("de", "Straße", "STRASSE"),
            ("fi", "kylässä", "kylassa"),
            ("tr", "IŞIK", "ışık"),
            ("ru", "книги", "книга"),
            ("es", "canción", "canciones"),
            ("el", "ΑΘΗΝΑΣ", "Αθήνας"),
        ] {
            same(language, one, two);
        }
    }

    #[test]
    fn apostrophes_mean_what_the_language_says() {
        assert_eq!(forms("it", "l'albero dell’arte"), forms("it", "albero arte"));
        assert_eq!(forms("fr", "l'été qu'elle"), forms("fr", "été elle"));
        assert_eq!(forms("en", "Anna's don't"), forms("en", "Anna dont"));
        assert_eq!(forms("tr", "İstanbul'da"), forms("tr", "istanbul"));
        assert_eq!(forms("", "l'albero"), ["l", "albero"]);
        assert_eq!(forms("it", "un po' d'"), forms("it", "un po d"));
    }

    #[test]
    fn scripts_without_spaces_become_pairs() {
        assert_eq!(forms("ja", "東京都"), ["東京", "東", "京都", "京", "都"]);
        let words = Analyzer::new("ja").words("東京都 犬 iPhone手机", Mode::Query);
        let words: Vec<_> = words.iter().map(|w| (w.position, w.form.as_str())).collect();
        assert_eq!(words, [(0, "東京"), (1, "京都"), (3, "犬"), (4, "iphone"), (5, "手机")]);
    }

    #[test]
    fn spans_point_at_the_word() {
        let text = "  L'Álbero, e la città";
        let words = Analyzer::new("it").words(text, Mode::Index);
        let spans: Vec<&str> = words.iter().map(|w| &text[w.span.clone()]).collect();
        assert_eq!(spans, ["Álbero", "e", "la", "città"]);
    }

    #[test]
    fn invisible_characters_do_not_part_words() {
        assert_eq!(forms("", "Wort\u{ad}teil"), ["wortteil"]);
        assert_eq!(forms("", "ｆｕｌｌ"), ["full"]);
    }

    proptest! {
        #[test]
        fn any_text_is_taken_apart(text in any::<String>(), language in "(it|en|fr|tr|de|ar|ru|el|ja|)") {
            let mut last = None;
            for word in Analyzer::new(&language).words(&text, Mode::Index) {
                prop_assert!(text.get(word.span.clone()).is_some());
                prop_assert!(!word.form.is_empty());
                prop_assert!(last.is_none_or(|last| last < word.position));
                last = Some(word.position);
            }
        }
    }
}
