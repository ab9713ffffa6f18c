use crate::language::Language;

/// Texts around every page.
#[derive(Debug)]
pub(crate) struct Frame {
    pub(crate) skip: &'static str,
    /// Label of the search field.
    pub(crate) field: &'static str,
    pub(crate) button: &'static str,
    /// Label of the links at the head of the page.
    pub(crate) main: &'static str,
    pub(crate) sites: &'static str,
    /// Label of the links at the foot of the page.
    pub(crate) about: &'static str,
    pub(crate) suggest: &'static str,
    pub(crate) owners: &'static str,
    pub(crate) contact: &'static str,
    pub(crate) crawler: &'static str,
    pub(crate) status: &'static str,
    /// Text before the name of the search engine, in a browser's list of search engines.
    pub(crate) search_with: &'static str,
}

impl Frame {
    pub(crate) const fn in_language(language: Language) -> &'static Frame {
        language.choose(&ENGLISH, &ITALIAN)
    }
}

const ENGLISH: Frame = Frame {
    skip: "Skip to the content",
    field: "Search for",
    button: "Search",
    main: "Main pages",
    sites: "Sites",
    about: "About",
    suggest: "Suggest a site",
    owners: "For site owners",
    contact: "Write to us",
    crawler: "About the crawler",
    status: "Status",
    search_with: "Search with",
};

const ITALIAN: Frame = Frame {
    skip: "Vai al contenuto",
    field: "Cerca",
    button: "Cerca",
    main: "Pagine principali",
    sites: "Siti",
    about: "Informazioni",
    suggest: "Proponi un sito",
    owners: "Per chi gestisce un sito",
    contact: "Scrivici",
    crawler: "Il crawler",
    status: "Stato",
    search_with: "Cerca con",
};
