//! Passes the words of pages to the engine through its tokenizer interface.
//!
//! The schema of every split names one tokenizer for all its fields ([`NAME`]), so a text to be split begins with a
//! mark and its language; any other text is one word.

use crate::analyze::{Analyzers, Mode, lower, rules, spelled_words, without_accents};
use foldhash::HashMap;
use parking_lot::Mutex;
use std::ops::Range;
use std::sync::Arc;
use tantivy::tokenizer::{Token, TokenStream, Tokenizer, TokenizerManager};

/// Name of the tokenizer in the schema.
pub(crate) const NAME: &str = "raw";
/// Character around the language of a text to be split, and before the rules of a form; it occurs nowhere else.
pub(crate) const MARK: char = '\u{1}';

/// Returns a form as it is indexed, followed by its language, so that it matches only pages of that language.
pub(crate) fn term_text(form: &str, rules: &str) -> String {
    if rules.is_empty() { form.to_owned() } else { format!("{form}{MARK}{rules}") }
}

/// Returns a word as it is indexed by its spelling: without accents, its language, and the accented word if it differs.
pub(crate) fn spelling_term(word: &str, rules: &str) -> String {
    let lower = lower(word, rules);
    let bare = without_accents(&lower);
    if bare == lower { format!("{bare}{MARK}{rules}") } else { format!("{bare}{MARK}{rules}{MARK}{lower}") }
}

/// Maximum number of texts that are listed for a spelled word, in each part of a split.
const TEXTS_NAMED: u8 = 4;

pub(crate) fn form_and_rules(term: &str) -> (&str, &str) {
    term.split_once(MARK).unwrap_or((term, ""))
}

/// Character on both sides of the language of a text whose words are indexed as they are spelled.
const SPELLING_MARK: char = '\u{2}';

/// Returns a text marked to be split by the rules of a language (primary subtag, or empty).
pub(crate) fn of_language(language: &str, text: &str) -> String {
    format!("{MARK}{language}{MARK}{text}")
}

/// Returns a text marked to be split into words as they are spelled, on a page in a language.
pub(crate) fn as_spelled(language: &str, text: &str) -> String {
    format!("{SPELLING_MARK}{language}{SPELLING_MARK}{text}")
}

/// Splits texts for the engine. Clones share their cached forms.
#[derive(Clone, Default)]
pub(crate) struct Tokens {
    analyzers: Arc<Mutex<Analyzers>>,
    /// Forms of the words of the current text, concatenated.
    forms: String,
    laid: Vec<FormEntry>,
    token: Token,
    /// Number of texts that are listed for each spelled word, by the rules of the language.
    named: HashMap<String, HashMap<String, u8>>,
}

#[derive(Clone)]
struct FormEntry {
    /// End of the form in `forms`.
    end: usize,
    position: usize,
    span: Range<usize>,
}

impl Tokens {
    /// Returns the registry in which the engine looks up its tokenizers.
    pub(crate) fn manager(&self) -> TokenizerManager {
        let manager = TokenizerManager::default();
        manager.register(NAME, self.clone());
        manager
    }

    fn lay(&mut self, text: &str) {
        self.forms.clear();
        self.laid.clear();
        if let Some((language, text)) = marked(text, SPELLING_MARK) {
            return self.lay_spellings(rules(language), text);
        }
        let Some((language, text)) = marked(text, MARK) else {
            self.forms.push_str(text);
            self.laid.push(FormEntry { end: text.len(), position: 0, span: 0..text.len() });
            return;
        };
        let mut analyzers = self.analyzers.lock();
        let rules = rules(language);
        analyzers.for_language(language).each(text, Mode::Index, None, &mut |word| {
            for form in [Some(word.form), word.other].into_iter().flatten() {
                self.forms.push_str(form);
                if !rules.is_empty() {
                    self.forms.push(MARK);
                    self.forms.push_str(rules);
                }
                self.laid.push(FormEntry { end: self.forms.len(), position: word.position, span: word.span.clone() });
            }
        });
    }

    /// Lays out the words of a text that fewer than [`TEXTS_NAMED`] texts before it have.
    fn lay_spellings(&mut self, rules: &str, text: &str) {
        let named = self.named.entry(rules.to_owned()).or_default();
        for word in spelled_words(text) {
            match named.get_mut(word) {
                Some(times) if *times >= TEXTS_NAMED => continue,
                Some(times) => *times += 1,
                None => {
                    named.insert(word.to_owned(), 1);
                }
            }
            self.forms.push_str(&spelling_term(word, rules));
            self.laid.push(FormEntry { end: self.forms.len(), position: 0, span: 0..0 });
        }
    }
}

/// Returns the language and the rest of a marked text.
fn marked(text: &str, mark: char) -> Option<(&str, &str)> {
    text.strip_prefix(mark).and_then(|rest| rest.split_once(mark))
}

impl Tokenizer for Tokens {
    type TokenStream<'a> = Stream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Stream<'a> {
        self.lay(text);
        Stream { of: self, next: 0, start: 0 }
    }
}

pub(crate) struct Stream<'a> {
    of: &'a mut Tokens,
    next: usize,
    /// Start of the next form in `forms`.
    start: usize,
}

impl TokenStream for Stream<'_> {
    fn advance(&mut self) -> bool {
        let Some(laid) = self.of.laid.get(self.next) else { return false };
        let token = &mut self.of.token;
        token.text.clear();
        token.text.push_str(&self.of.forms[self.start..laid.end]);
        token.position = laid.position;
        (token.offset_from, token.offset_to) = (laid.span.start, laid.span.end);
        self.start = laid.end;
        self.next += 1;
        true
    }

    fn token(&self) -> &Token {
        &self.of.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.of.token
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn laid(text: &str) -> Vec<(String, usize, Range<usize>)> {
        let mut tokens = Tokens::default();
        let mut laid = Vec::new();
        tokens.token_stream(text).process(&mut |token| {
            laid.push((token.text.clone(), token.position, token.offset_from..token.offset_to));
        });
        laid
    }

    #[test]
    fn a_text_of_a_language_is_taken_apart_and_any_other_is_one_word() {
        let words = laid(&of_language("it", "La città d'arte 東京"));
        assert!(words.iter().all(|(term, ..)| form_and_rules(term).1 == "it"));
        let forms: Vec<_> = words.iter().map(|(term, at, span)| (form_and_rules(term).0, *at, span.clone())).collect();
        assert_eq!(forms[..3], [("la", 0, 0..2), ("citt", 1, 3..9), ("arte", 2, 12..16)]);
        assert_eq!(forms[3..], [("東京", 3, 17..23), ("東", 3, 17..23), ("京", 4, 20..23)]);
        assert_eq!(laid("www.example.org"), [("www.example.org".to_owned(), 0, 0..15)]);
        assert_eq!(laid(&of_language("", "")), []);
        let wild: Vec<_> = laid(&of_language("en", "a\u{1}b")).into_iter().map(|(form, ..)| form).collect();
        assert_eq!(wild, ["a", "b"].map(|form| term_text(form, "en")));
    }
}
