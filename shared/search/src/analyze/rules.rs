//! Language rules for words: stemmer, stop words, apostrophes.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::LazyLock;
use tantivy::tokenizer::{Language, StopWordFilter};

/// Returns the language whose rules apply: `no` for both kinds of Norwegian, or the empty string if there are no rules.
pub(crate) fn rules(language: &str) -> &str {
    match language {
        "nb" | "nn" => "no",
        "ca" | "az" => language,
        _ if stemmer_language(language).is_some() => language,
        _ => "",
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Apostrophe {
    /// The part before the apostrophe is dropped if it is in this list: `l'albero`, `qu'elle`.
    Elides(&'static str),
    /// A genitive `'s` is dropped; the rest is one word: `Anna's`, `don't`.
    Joins,
    /// The ending after the apostrophe is dropped: `İstanbul'da`.
    Ends,
    /// The apostrophe separates two words.
    Parts,
}

impl Apostrophe {
    pub(super) fn for_language(language: &str) -> Apostrophe {
        match language {
            "it" => Apostrophe::Elides(include_str!("../../lists/elided.it.txt")),
            "fr" => Apostrophe::Elides(include_str!("../../lists/elided.fr.txt")),
            "ca" => Apostrophe::Elides(include_str!("../../lists/elided.ca.txt")),
            "en" => Apostrophe::Joins,
            "tr" | "az" => Apostrophe::Ends,
            _ => Apostrophe::Parts,
        }
    }
}

/// Returns the stemmer for a primary language subtag (ISO 639).
pub(super) fn stemmer_language(language: &str) -> Option<Language> {
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

/// Cache of stop-word filters: building one takes longer than looking up a word.
static STOP_WORDS: LazyLock<Mutex<HashMap<Language, Option<StopWordFilter>>>> = LazyLock::new(Mutex::default);

/// Returns the engine's stop words (Snowball) of a language; for English our own list, which adds question words.
pub(super) fn stop_words(language: Language) -> Option<StopWordFilter> {
    let make = || match language {
        Language::English => Some(StopWordFilter::remove(ENGLISH_STOP_WORDS.split_whitespace().map(str::to_owned))),
        _ => StopWordFilter::new(language),
    };
    STOP_WORDS.lock().entry(language).or_insert_with(make).clone()
}

/// Articles, pronouns, prepositions, conjunctions, auxiliary verbs, and question words.
const ENGLISH_STOP_WORDS: &str = include_str!("../../lists/stop-words.en.txt");

/// British endings with their American equivalents, after the minimum length of the stem before them.
static ENDINGS: LazyLock<Vec<(usize, &str, &str)>> = LazyLock::new(|| {
    let ending = |line: &'static str| {
        let (least, pair) = line.split_once(' ')?;
        let (british, american) = pair.split_once(' ')?;
        Some((least.parse().ok()?, british, american))
    };
    include_str!("../../lists/american-endings.txt").lines().filter_map(ending).collect()
});
/// American spellings of British words.
static WORDS: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| {
    include_str!("../../lists/american-words.txt").lines().filter_map(|line| line.split_once(' ')).collect()
});

/// Returns an English word in American spelling, or in a regular invented one: `promize`. Expects lower case.
pub(super) fn american(word: String) -> String {
    if let Some(at) = word.find("our").filter(|at| *at >= 2) {
        return format!("{}or{}", &word[..at], &word[at + 3..]);
    }
    for (least, british, american) in ENDINGS.iter().copied() {
        // `revise` and `precise` are American spellings too, and must share the stems of `revision` and `precision`.
        let is_same = |stem: &str| stem.ends_with('v') || (stem.ends_with('c') && !stem.ends_with("ic"));
        let fits = |stem: &&str| stem.len() >= least && !(british.starts_with("is") && is_same(stem));
        if let Some(stem) = word.strip_suffix(british).filter(fits) {
            return format!("{stem}{american}");
        }
    }
    let singular = word.strip_suffix('s').unwrap_or(&word);
    if let Some(american) = WORDS.get(singular) { american.to_string() + &word[singular.len()..] } else { word }
}
