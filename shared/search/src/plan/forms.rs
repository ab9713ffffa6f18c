//! Spellings of a word or a phrase: the forms in which pages may contain it.

use crate::analyze::{Analyzers, Mode, Word};
use crate::pieces::{is_number, joined_word};
use crate::query::Clause;
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// One spelling of a clause: forms and their positions.
pub(super) type Phrasing = Vec<(usize, String)>;

/// Returns the spellings of a clause in a language: with and without accents, joined and apart, umlauts as two letters.
pub(super) fn forms_in(analyzers: &mut Analyzers, language: &str, text: &str) -> BTreeSet<Phrasing> {
    let mut forms = BTreeSet::new();
    let other = (language == "de").then(|| other_umlauts(text)).flatten();
    for text in [Some(Cow::Borrowed(text)), other.map(Cow::Owned)].into_iter().flatten() {
        let words = analyzers.for_language(language).words(&text, Mode::Query);
        let apart = || words.iter().filter(|word| word.words <= 1);
        forms.insert(apart().map(|word| (word.position, word.form.clone())).collect());
        forms.insert(apart().map(|word| (word.position, word.other.as_ref().unwrap_or(&word.form).clone())).collect());
        forms.insert(together(&words));
    }
    forms.into_iter().filter(|form: &Phrasing| !form.is_empty()).collect()
}

/// Returns the spelling in which joined words are one.
fn together(words: &[Word]) -> Phrasing {
    let mut words: Vec<&Word> = words.iter().collect();
    // An emoji has the position of the word after it.
    words.sort_by_key(|word| (word.position, word.words != 0, Reverse(word.words)));
    let (mut phrasing, mut from, mut joined) = (Phrasing::new(), 0, 0);
    for word in words {
        if word.position >= from {
            phrasing.push((word.position - joined, word.form.clone()));
            from = word.position + word.words;
            joined += word.words.saturating_sub(1);
        }
    }
    phrasing
}

/// Returns a German text with umlauts and their two-letter spellings swapped; `None` if it has neither.
fn other_umlauts(text: &str) -> Option<String> {
    const UMLAUTS: [(&str, &str); 6] = [("ä", "ae"), ("ö", "oe"), ("ü", "ue"), ("Ä", "Ae"), ("Ö", "Oe"), ("Ü", "Ue")];
    let (mut other, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(first) = rest.chars().next() {
        let pair = UMLAUTS.iter().find_map(|(umlaut, letters)| {
            let after = rest.strip_prefix(letters).map(|after| (*umlaut, after));
            rest.strip_prefix(umlaut).map(|after| (*letters, after)).or(after)
        });
        let one = || (&rest[..first.len_utf8()], &rest[first.len_utf8()..]);
        let (letters, after) = pair.unwrap_or_else(one);
        other.push_str(letters);
        rest = after;
    }
    (other != text).then_some(other)
}

/// Returns the words that a word (in lower case) may form with a neighbour: across a hyphen, or with a number.
pub(super) fn joined_words(clauses: &[Clause]) -> BTreeMap<String, BTreeSet<String>> {
    let mut joined: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut join = |text: &str, parts: &[&str]| {
        for part in parts {
            joined.entry(part.to_lowercase()).or_default().extend(joined_word(text));
        }
    };
    for clause in clauses.iter().filter(|clause| !clause.must) {
        join(&clause.text, &clause.text.split('-').collect::<Vec<_>>());
    }
    for pair in clauses.windows(2).filter(|pair| pair.iter().all(|clause| !clause.must)) {
        let [one, two] = [pair[0].text.as_str(), pair[1].text.as_str()];
        match (is_number(one), is_number(two)) {
            (true, false) => join(&format!("{one} {two}"), &[one, two]),
            (false, true) => join(&format!("{one}-{two}"), &[one, two]),
            _ => {}
        }
    }
    joined
}
