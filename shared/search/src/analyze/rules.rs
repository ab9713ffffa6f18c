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

/// British and American endings, with the minimum number of letters before them.
const ENDINGS: [(usize, &str, &str); 23] = [
    (3, "ise", "ize"),
    (3, "ised", "ized"),
    (3, "ises", "izes"),
    (3, "iser", "izer"),
    (3, "isers", "izers"),
    (3, "ising", "izing"),
    (3, "isation", "ization"),
    (3, "isations", "izations"),
    (3, "isational", "izational"),
    (3, "yse", "yze"),
    (3, "ysed", "yzed"),
    (3, "yses", "yzes"),
    (3, "ysing", "yzing"),
    (2, "tre", "ter"),
    (2, "tres", "ters"),
    (2, "bre", "ber"),
    (2, "bres", "bers"),
    (3, "ogue", "og"),
    (3, "ogues", "ogs"),
    (3, "elled", "eled"),
    (3, "elling", "eling"),
    (3, "eller", "eler"),
    (3, "ellers", "elers"),
];
/// British and American words.
const WORDS: [(&str, &str); 12] = [
    ("aluminium", "aluminum"),
    ("defence", "defense"),
    ("grey", "gray"),
    ("jewellery", "jewelry"),
    ("kerb", "curb"),
    ("licence", "license"),
    ("mould", "mold"),
    ("offence", "offense"),
    ("plough", "plow"),
    ("programme", "program"),
    ("pyjama", "pajama"),
    ("tyre", "tire"),
];

/// Writes a lower-case English word as Americans do. What it returns may be no word (`promize`), but is one for all
/// spellings.
pub(super) fn american(word: String) -> String {
    if let Some(at) = word.find("our").filter(|at| *at >= 2) {
        return format!("{}or{}", &word[..at], &word[at + 3..]);
    }
    for (least, british, american) in ENDINGS {
        // `revise` and `precise` are American, too, and `revision` and `precision` have their stems.
        let is_same = |stem: &str| stem.ends_with('v') || (stem.ends_with('c') && !stem.ends_with("ic"));
        let fits = |stem: &&str| stem.len() >= least && !(british.starts_with("is") && is_same(stem));
        if let Some(stem) = word.strip_suffix(british).filter(fits) {
            return format!("{stem}{american}");
        }
    }
    let singular = word.strip_suffix('s').unwrap_or(&word);
    match WORDS.iter().find(|(british, _)| *british == singular) {
        Some((_, american)) => american.to_string() + &word[singular.len()..],
        None => word,
    }
}
