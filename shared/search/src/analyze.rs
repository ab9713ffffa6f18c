//! Splits text into the words that are indexed and searched for.
//!
//! Every word has a position and one or two forms. The first is its stem in the language of the page, without accents.
//! The second, if it differs, is the stem of the word written without accents, so that `perche` finds `perché`. Scripts
//! without spaces are split into pairs of neighbouring characters. A word with signs (`C++`) is indexed with and
//! without them, and words that a sign joins (`Wi-Fi`) are also indexed as one word, at the position of the first.

mod letters;
mod rules;
mod runs;
mod spelled;

use crate::pieces::{Piece, Pieces, continues_word, is_apostrophe, is_ideograph, is_look, joined, with_signs};
use foldhash::HashMap;
use letters::compatible;
pub(crate) use letters::without_accents;
pub(crate) use rules::rules;
use rules::{Apostrophe, american, stemmer_language, stop_words};
use runs::is_particle;
pub(crate) use runs::pairs;
pub(crate) use spelled::{compared, spelled_words};
use std::ops::Range;
use tantivy::tokenizer::{RawTokenizer, Stemmer, TextAnalyzer};

/// Maximum number of words per language whose forms are cached; a full cache is cleared.
const MAX_REMEMBERED: usize = 20_000;
/// Maximum number of bytes of a word that are analyzed; the rest of a longer word is ignored.
const LONGEST_WORD: usize = 256;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Word<S = String> {
    pub(crate) form: S,
    /// Second form, indexed at the same position.
    pub(crate) other: Option<S>,
    /// Number of the word in the text; neighbours in a phrase have neighbouring numbers.
    pub(crate) position: usize,
    pub(crate) span: Range<usize>,
    /// Number of words of the text that it consists of: 0 for an emoji, which has the position of the next word.
    pub(crate) words: usize,
}

pub(crate) type Token<'a> = Word<&'a str>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Indexing: single ideographs in addition to pairs, and words both with and without their signs.
    Index,
    /// Querying: pairs, or single ideographs among kana; words with their signs, if they have any.
    Query,
}

/// One analyzer per language, created on first use.
#[derive(Default)]
pub(crate) struct Analyzers(HashMap<String, Analyzer>);

impl Analyzers {
    /// Returns the analyzer of a primary language subtag; the empty string stands for an unknown language.
    pub(crate) fn for_language(&mut self, language: &str) -> &mut Analyzer {
        let rules = rules(language);
        self.0.entry(rules.to_owned()).or_insert_with(|| Analyzer::new(rules))
    }
}

/// Returns a word in lower case according to the language: `I` becomes `ı` in Turkish.
pub(crate) fn lower(word: &str, language: &str) -> String {
    letters::lower(word, has_dotless_i(language))
}

fn has_dotless_i(language: &str) -> bool {
    matches!(language, "tr" | "az")
}

pub(crate) struct Analyzer {
    stemmer: Option<TextAnalyzer>,
    stop_words: Option<TextAnalyzer>,
    apostrophe: Apostrophe,
    dotless_i: bool,
    is_english: bool,
    /// True if every form begins with the first letter of its word; false for Dutch, whose stemmer removes `ge`.
    keeps_first_letter: bool,
    remembered: Remembered,
}

/// Set of the ASCII letters and digits with which the wanted forms begin; all stemmers but the Dutch one keep them.
#[derive(Default)]
pub(crate) struct FirstLetters(u128);

impl FirstLetters {
    pub(crate) fn new<'a>(forms: impl IntoIterator<Item = &'a String>) -> FirstLetters {
        let letters = forms.into_iter().map(|form| form.trim_start_matches('.'));
        let ascii = letters.filter_map(|form| form.bytes().next()).filter(u8::is_ascii);
        FirstLetters(ascii.fold(0, |letters, first| letters | 1 << first))
    }

    fn may_begin(&self, word: &str) -> bool {
        let first = word.as_bytes().first().copied().unwrap_or_default();
        !first.is_ascii() || self.0 & (1 << first.to_ascii_lowercase()) != 0
    }
}

#[derive(Default)]
struct Remembered {
    /// Index into `forms`, by word.
    at: HashMap<String, usize>,
    forms: Vec<(String, Option<String>)>,
}

impl Analyzer {
    fn new(language: &str) -> Analyzer {
        let builder = || TextAnalyzer::builder(RawTokenizer::default());
        let known = stemmer_language(language);
        Analyzer {
            stemmer: known.map(|language| builder().filter(Stemmer::new(language)).build()),
            stop_words: known.and_then(stop_words).map(|filter| builder().filter(filter).build()),
            apostrophe: Apostrophe::for_language(language),
            dotless_i: has_dotless_i(language),
            is_english: language == "en",
            keeps_first_letter: language != "nl",
            remembered: Remembered::default(),
        }
    }

    /// True if a word says nothing about a page's subject: an article, a preposition, a question word.
    pub(crate) fn is_stop_word(&mut self, word: &str) -> bool {
        let Some(stop_words) = &mut self.stop_words else { return false };
        let lower = letters::lower(word, self.dotless_i);
        let mut parts = lower.split(is_apostrophe).enumerate();
        // In `what's` and `don't` only one letter follows the apostrophe.
        let is_ending = |number: usize, part: &str| number > 0 && part.chars().nth(1).is_none();
        parts.all(|(number, part)| is_ending(number, part) || !stop_words.token_stream(part).advance())
    }

    pub(crate) fn words(&mut self, text: &str, mode: Mode) -> Vec<Word> {
        let mut words = Vec::with_capacity(text.len() / 6);
        self.each(text, mode, None, &mut |token| {
            let (form, other) = (token.form.to_owned(), token.other.map(str::to_owned));
            words.push(Word { form, other, position: token.position, span: token.span, words: token.words });
        });
        words
    }

    /// Passes each word of a text to `show`, in order, without allocating; skips most words that `first` rules out.
    pub(crate) fn each(
        &mut self,
        text: &str,
        mode: Mode,
        first: Option<&FirstLetters>,
        show: &mut dyn FnMut(Token<'_>),
    ) {
        let first = first.filter(|_| self.keeps_first_letter);
        let mut reading = Reading { text, mode, position: 0, show };
        for piece in Pieces::new(text) {
            match piece {
                Piece::Word { span, apostrophes: false }
                    if first.is_some_and(|first| !first.may_begin(&text[span.clone()])) =>
                {
                    reading.position += 1;
                }
                Piece::Word { span, apostrophes: false } => self.show(&mut reading, &text[span.clone()], span),
                Piece::Word { span, apostrophes: true } => self.show_parts(&mut reading, span),
                Piece::Run(span) => reading.show_pairs(span),
                // The words on both sides of an emoji are still neighbours.
                Piece::Emoji(span) => {
                    let form: String = text[span.clone()].chars().filter(|c| !is_look(*c)).collect();
                    reading.show(&form, None, span, 0);
                }
            }
        }
    }

    /// Shows a word (the letters of `span` without apostrophes), its form with signs, and joined words that it begins.
    fn show(&mut self, reading: &mut Reading<'_>, word: &str, span: Range<usize>) {
        let (text, mode) = (reading.text, reading.mode);
        let signed = with_signs(text, &span);
        if signed.is_none() || mode == Mode::Index {
            let (form, other) = self.forms(word);
            if form.is_empty() {
                return;
            }
            reading.show(form, other.as_deref(), span.clone(), 1);
        }
        if let Some(signed) = signed {
            let form = without_accents(&letters::lower(&text[signed.clone()], self.dotless_i));
            reading.show(&form, None, signed, 1);
        }
        let ends = joined(text, &span);
        let unwanted = if mode == Mode::Query { ends.len().saturating_sub(1) } else { 0 };
        for (end, words) in ends.into_iter().skip(unwanted) {
            let whole = span.start..end;
            let letters: String = text[whole.clone()].chars().filter(|c| continues_word(*c)).collect();
            let (form, other) = self.forms(&letters);
            if !form.is_empty() {
                reading.show(form, other.as_deref(), whole, words);
            }
        }
        reading.position += 1;
    }

    fn show_parts(&mut self, reading: &mut Reading<'_>, span: Range<usize>) {
        let text = reading.text;
        let mut parts = parts(text, &span);
        match self.apostrophe {
            Apostrophe::Elides(elided) => {
                let is_elided = |part: &Range<usize>| {
                    let part = text[part.clone()].to_lowercase();
                    elided.split_whitespace().any(|elided| elided == part)
                };
                let dropped = parts.iter().take(parts.len() - 1).take_while(|part| is_elided(part)).count();
                parts.drain(..dropped);
            }
            Apostrophe::Joins => {
                if parts.len() > 1 && parts.last().is_some_and(|last| text[last.clone()].eq_ignore_ascii_case("s")) {
                    parts.pop();
                }
                let joined: String = parts.iter().map(|part| &text[part.clone()]).collect();
                return self.show(reading, &joined, span);
            }
            Apostrophe::Ends => parts.truncate(1),
            Apostrophe::Parts => {}
        }
        for part in parts {
            self.show(reading, &text[part.clone()], part);
        }
    }

    fn forms(&mut self, word: &str) -> &(String, Option<String>) {
        let word = &word[..word.floor_char_boundary(LONGEST_WORD)];
        let known = self.remembered.at.get(word).copied();
        let at = known.unwrap_or_else(|| self.learn(word));
        &self.remembered.forms[at]
    }

    /// Computes the forms of a word and returns their index in the cache.
    fn learn(&mut self, word: &str) -> usize {
        let lower = letters::lower(word, self.dotless_i);
        let lower = if self.is_english { american(lower) } else { lower };
        let bare = without_accents(&lower);
        let (form, other) = match &mut self.stemmer {
            None => (bare, None),
            Some(stemmer) if bare == lower => (stem(stemmer, &lower), None),
            Some(stemmer) => (without_accents(&stem(stemmer, &lower)), Some(stem(stemmer, &bare))),
        };
        let other = other.filter(|other| *other != form && !other.is_empty());
        if self.remembered.forms.len() >= MAX_REMEMBERED {
            self.remembered = Remembered::default();
        }
        let at = self.remembered.forms.len();
        self.remembered.forms.push((form, other));
        self.remembered.at.insert(word.to_owned(), at);
        at
    }
}

fn stem(stemmer: &mut TextAnalyzer, word: &str) -> String {
    let mut stream = stemmer.token_stream(word);
    let stem = if stream.advance() { std::mem::take(&mut stream.token_mut().text) } else { String::new() };
    if stem.is_empty() { word.to_owned() } else { stem }
}

/// Returns the parts of a word between its apostrophes; there is at least one.
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

/// Text whose words are passed to `show`.
pub(crate) struct Reading<'a> {
    text: &'a str,
    mode: Mode,
    position: usize,
    show: &'a mut dyn FnMut(Token<'_>),
}

impl Reading<'_> {
    fn show(&mut self, form: &str, other: Option<&str>, span: Range<usize>, words: usize) {
        (self.show)(Word { form, other, position: self.position, span, words });
    }

    /// Shows pairs of neighbouring characters; each character counts as a position.
    fn show_pairs(&mut self, span: Range<usize>) {
        let (mut form, mut single) = (String::new(), String::new());
        let start = span.start;
        let chars = compatible(&self.text[span]);
        let is_at = |number: usize| chars.get(number).is_some_and(|(c, _)| is_ideograph(*c));
        let is_query = self.mode == Mode::Query;
        // A run of two characters is a pair already.
        let is_lone = |number: usize| {
            let is_beside = number.checked_sub(1).is_some_and(is_at) || is_at(number + 1);
            is_query && chars.len() > 2 && is_at(number) && !is_beside
        };
        for (number, (c, written)) in chars.iter().enumerate() {
            let keep_single = !is_query && is_ideograph(*c);
            form.clear();
            single.clear();
            let mut end = written.end;
            if is_lone(number) && chars.get(number + 1).is_none_or(|(next, _)| is_particle(*next)) {
                form.push(*c);
            } else if is_lone(number + 1) && number + 2 == chars.len() {
                // The last character will be shown alone, so it forms no pair with this one.
            } else if let Some((next, written)) = chars.get(number + 1) {
                form.extend([c, next]);
                single.extend(Some(c).filter(|_| keep_single));
                end = written.end;
            } else if number == 0 || keep_single {
                // The last character belongs to the previous pair, unless it stands alone.
                form.push(*c);
            }
            if !form.is_empty() {
                let other = Some(single.as_str()).filter(|single| !single.is_empty());
                self.show(&form, other, start + written.start..start + end, 1);
            }
            self.position += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use unicode_normalization::UnicodeNormalization;

    fn forms(language: &str, text: &str) -> Vec<String> {
        let words = Analyzer::new(language).words(text, Mode::Index);
        words.into_iter().flat_map(|w| std::iter::once(w.form).chain(w.other)).collect()
    }

    #[test]
    fn inflected_words_share_a_stem() {
        for (language, pairs) in [
            ("it", "articoli articolo, ricercatrici ricercatrice, perché perche, città CITTA, parlerà parlera"),
            ("en", "running run, libraries library, colours color, organisers organize, revise revision, hours hour"),
            ("en", "precise precisely, neighbourhoods neighborhood, organising organize, theatres theater"),
            ("en", "catalogue catalogs, cancelled canceling, programmes program, spelling spell"),
            ("fr", "mangées mangees"),
            ("de", "Häuser häusern, Straße STRASSE"),
            ("fi", "kylässä kylassa"),
            ("tr", "IŞIK ışık"),
            ("ru", "книги книга"),
            ("es", "canción canciones"),
            ("el", "ΑΘΗΝΑΣ Αθήνας"),
        ] {
            for (one, two) in pairs.split(", ").filter_map(|pair| pair.split_once(' ')) {
                let one_forms = forms(language, one);
                assert!(forms(language, two).iter().any(|form| one_forms.contains(form)), "{language}: {one} / {two}");
            }
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
    fn stop_words_say_nothing_in_their_language() {
        for (language, stop_words, others) in [
            ("en", "The what’s don't who a", "c die tide"),
            ("de", "die", ""),
            ("it", "dell' come", "l'olio"),
            ("", "", "the"),
            ("ja", "", "の"),
        ] {
            let is_stop_word = |word: &str| Analyzer::new(language).is_stop_word(word);
            assert!(stop_words.split_whitespace().all(is_stop_word), "{language}");
            assert!(!others.split_whitespace().any(is_stop_word), "{language}");
        }
    }

    #[test]
    fn scripts_without_spaces_become_pairs() {
        assert_eq!(forms("ja", "東京都"), ["東京", "東", "京都", "京", "都"]);
        let words = Analyzer::new("ja").words("東京都 犬 iPhone手机", Mode::Query);
        let words: Vec<_> = words.iter().map(|w| (w.position, w.form.as_str())).collect();
        assert_eq!(words, [(0, "東京"), (1, "京都"), (3, "犬"), (4, "iphone"), (5, "手机")]);
        let words = Analyzer::new("ja").words("夜に新しい橋", Mode::Query);
        let words: Vec<_> = words.iter().map(|w| (w.position, w.form.as_str())).collect();
        assert_eq!(words, [(0, "夜"), (1, "に新"), (2, "新し"), (3, "しい"), (5, "橋")]);
    }

    #[test]
    fn characters_of_all_widths_become_the_same_pairs() {
        let all = (char::MIN..=char::MAX).map(String::from);
        for text in all.filter(|text| matches!(Pieces::new(text).next(), Some(Piece::Run(_)))) {
            let folded: String = compatible(&text).into_iter().map(|(c, _)| c).collect();
            assert_eq!(folded, text.nfkc().collect::<String>());
        }
        let full = forms("ja", "パンガラス豈");
        assert_eq!(full, ["パン", "ンガ", "ガラ", "ラス", "ス豈", "豈"].map(|form| form.nfkc().collect::<String>()));
        assert_eq!(forms("ja", "ﾊﾟﾝｶﾞﾗｽ豈"), full);
        assert_eq!(forms("ja", &"パンガラス豈".nfd().collect::<String>()), full);
        let text = "ｶﾞﾗｽ";
        let spans = Analyzer::new("ja").words(text, Mode::Query).into_iter().map(|word| word.span);
        assert_eq!(spans.map(|span| &text[span]).collect::<Vec<_>>(), ["ｶﾞﾗ", "ﾗｽ"]);
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
        fn stemmers_keep_the_first_letter(
            word in "[A-Za-z0-9][a-zà-öø-üışğ0-9]{0,12}",
            language in "(ar|da|en|fi|fr|de|el|hu|it|no|pt|ro|ru|es|sv|ta|tr|az|ca|)",
        ) {
            let forms = forms(&language, &word);
            for form in &forms {
                prop_assert!(FirstLetters::new([form]).may_begin(&word), "{language} {word} {form}");
            }
        }

        #[test]
        fn any_text_is_taken_apart(text in any::<String>(), language in "(it|en|fr|tr|de|ar|ru|el|ja|)") {
            let mut last = None;
            for word in Analyzer::new(&language).words(&text, Mode::Index) {
                prop_assert!(text.get(word.span.clone()).is_some());
                prop_assert!(!word.form.is_empty());
                prop_assert!(last.is_none_or(|last| last <= word.position));
                last = Some(word.position);
            }
        }
    }
}
