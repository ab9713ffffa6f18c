//! Language rules for words: stemmer, stop words, apostrophes.

use tantivy::tokenizer::{Language, StopWordFilter};

/// Returns the language whose rules apply to a language: itself, or the empty string if there are no special rules for
/// it.
pub(crate) fn rules(language: &str) -> &str {
    match language {
        "nb" | "nn" => "no",
        "ca" | "az" => language,
        _ if stemmer_language(language).is_some() => language,
        _ => "",
    }
}

/// Meaning of an apostrophe inside a word.
#[derive(Clone, Copy, Debug)]
pub(super) enum Apostrophe {
    /// The part before it is dropped if it is one of these: `l'albero`, `qu'elle`.
    Elides(&'static [&'static str]),
    /// A genitive `'s` is dropped, the rest is one word: `Anna's`, `don't`.
    Joins,
    /// An ending follows that is dropped: `İstanbul'da`.
    Ends,
    /// It separates two words.
    Parts,
}

impl Apostrophe {
    /// Returns the meaning of an apostrophe in a language.
    pub(super) fn of(language: &str) -> Apostrophe {
        match language {
            "it" => Apostrophe::Elides(ITALIAN),
            "fr" => Apostrophe::Elides(FRENCH),
            "ca" => Apostrophe::Elides(CATALAN),
            "en" => Apostrophe::Joins,
            "tr" | "az" => Apostrophe::Ends,
            _ => Apostrophe::Parts,
        }
    }
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

/// Returns the stop words of a language, after Snowball. For English the engine has only Lucene's 33, without question
/// words.
pub(super) fn stop_words(language: Language) -> Option<StopWordFilter> {
    if language == Language::English {
        return Some(StopWordFilter::remove(ENGLISH_STOP_WORDS.split_whitespace().map(str::to_owned)));
    }
    StopWordFilter::new(language)
}

/// Articles, pronouns, prepositions, conjunctions, auxiliary verbs, and question words.
const ENGLISH_STOP_WORDS: &str = "a about after again all also am an and any are aren as at be because been before being \
    between both but by can cannot could couldn did didn do does doesn doing don during each few for from further had hadn \
    has hasn have haven having he her here hers herself him himself his how i if in into is isn it its itself just let me \
    more most much my myself no nor not of off on once only or other our ours ourselves out over own same shall she should \
    shouldn so some such than that the their theirs them themselves then there these they this those through to too under \
    until up upon us very via was wasn we were weren what when where which while who whom whose why will with without won \
    would wouldn you your yours yourself yourselves";
