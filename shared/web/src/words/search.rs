use crate::language::Language;
use curlew_model::{MAX_QUERY_BYTES, MAX_QUERY_TERMS, QueryError};

/// Texts of the start page and the page of results.
#[derive(Debug)]
pub(crate) struct Search {
    pub(crate) lead: &'static str,
    /// Label of the field.
    pub(crate) field: &'static str,
    pub(crate) button: &'static str,
    pub(crate) examples_heading: &'static str,
    /// Examples of queries, and their meanings.
    pub(crate) examples: [(&'static str, &'static str); 10],
    /// Heading of a page of results for screen readers; it is not visible.
    pub(crate) heading: &'static str,
    /// Text around a link to another query.
    pub(crate) did_you_mean: (&'static str, &'static str),
    pub(crate) nothing_found_for: &'static str,
    pub(crate) try_other_words: &'static str,
    /// The word between, as in `11–20 of 35`.
    pub(crate) of: &'static str,
    pub(crate) page_for: &'static str,
    pub(crate) pages_for: &'static str,
    /// Number of pages that are not shown since another one has the same content.
    pub(crate) copies_of_them: fn(u64, &str) -> String,
    /// Number of pages with all words, where others have only some.
    pub(crate) have_all_words: fn(u64, &str) -> String,
    /// Heading of the pages that have only some of the words.
    pub(crate) some_words: &'static str,
    /// Text before the words that a page lacks.
    pub(crate) without: &'static str,
    /// Words that occur in no page.
    pub(crate) in_no_page: fn(&str) -> String,
    pub(crate) none_here: &'static str,
    pub(crate) one_copy: &'static str,
    pub(crate) copies: fn(u32) -> String,
    pub(crate) pages_of_results: &'static str,
    pub(crate) previous: &'static str,
    pub(crate) next: &'static str,
    pub(crate) page: &'static str,
    pub(crate) follow: &'static str,
    pub(crate) its_feed: &'static str,
    pub(crate) only_ten_pages: &'static str,
    pub(crate) address_too_long: &'static str,
    pub(crate) too_many_parameters: &'static str,
    /// Part of a query that was left out, with the reason.
    pub(crate) misread: fn(&QueryError) -> String,
    pub(crate) no_question: &'static str,
}

impl Search {
    pub(crate) const fn of(language: Language) -> &'static Search {
        language.choose(&ENGLISH, &ITALIAN)
    }
}

const ENGLISH: Search = Search {
    lead: "A small search engine for sites that publish feeds.",
    field: "Search for",
    button: "Search",
    examples_heading: "What you can type",
    examples: [
        ("curlew estuary", "pages with both words, then those with one"),
        ("curlew +estuary", "only pages with this word"),
        ("\"spring tide\"", "the words side by side"),
        ("curlew -stone", "without a word"),
        ("tide author:\"Anna Rossi\"", "written by somebody"),
        ("tide site:example.org", "from one site only"),
        ("marea lang:it", "in one language"),
        ("wader before:2026-05-01", "published before a day"),
        ("wader after:2026-04-01", "published on a day or later"),
        ("wader sort:date", "newest first"),
    ],
    heading: "Search",
    did_you_mean: ("Did you mean", "?"),
    nothing_found_for: "Nothing found for",
    try_other_words: "Try fewer or other words, or take a filter away.",
    of: "of",
    page_for: "page for",
    pages_for: "pages for",
    copies_of_them: |n, shown| match n {
        1 => "One more page says the same as one of them.".to_owned(),
        _ => format!("{shown} more pages say the same as one of them."),
    },
    have_all_words: |n, shown| match n {
        0 => "No page has all of your words.".to_owned(),
        1 => "One of them has all of your words.".to_owned(),
        _ => format!("{shown} of them have all of your words."),
    },
    some_words: "Pages with some of your words",
    without: "Without",
    in_no_page: |words| format!("No page here has {words}."),
    none_here: "There are no results on this page any more.",
    one_copy: "One later page says the same.",
    copies: |n| format!("{n} later pages say the same."),
    pages_of_results: "Pages of results",
    previous: "Previous",
    next: "Next",
    page: "Page",
    follow: "Follow this search in a feed reader:",
    its_feed: "its feed",
    only_ten_pages: "Only the first ten pages of results can be shown.",
    address_too_long: "This address is too long. Please ask a shorter question.",
    too_many_parameters: "This address has too many parameters.",
    misread: QueryError::to_string,
    no_question: "Say what to look for: q is empty.",
};

const ITALIAN: Search = Search {
    lead: "Un piccolo motore di ricerca per i siti che pubblicano un feed.",
    field: "Cerca",
    button: "Cerca",
    examples_heading: "Che cosa si può scrivere",
    examples: [
        ("chiurlo laguna", "pagine con entrambe le parole, poi con una sola"),
        ("chiurlo +laguna", "solo pagine con questa parola"),
        ("\"alta marea\"", "le parole una accanto all’altra"),
        ("pane -burro", "senza una parola"),
        ("marea author:\"Anna Rossi\"", "scritte da una persona"),
        ("marea site:example.org", "solo da un sito"),
        ("tide lang:en", "in una lingua"),
        ("uccelli before:2026-05-01", "pubblicate prima di un giorno"),
        ("uccelli after:2026-04-01", "pubblicate da un giorno in poi"),
        ("uccelli sort:date", "prima le più recenti"),
    ],
    heading: "Ricerca",
    did_you_mean: ("Forse cercavi", "?"),
    nothing_found_for: "Nessun risultato per",
    try_other_words: "Prova con meno parole o con parole diverse, oppure togli un filtro.",
    of: "di",
    page_for: "pagina per",
    pages_for: "pagine per",
    copies_of_them: |n, shown| match n {
        1 => "Un’altra pagina dice lo stesso di una di queste.".to_owned(),
        _ => format!("Altre {shown} pagine dicono lo stesso di una di queste."),
    },
    have_all_words: |n, shown| match n {
        0 => "Nessuna pagina ha tutte le parole cercate.".to_owned(),
        1 => "Una di queste ha tutte le parole cercate.".to_owned(),
        _ => format!("{shown} di queste hanno tutte le parole cercate."),
    },
    some_words: "Pagine con alcune delle parole cercate",
    without: "Senza",
    in_no_page: |words| format!("Qui nessuna pagina ha {words}."),
    none_here: "In questa pagina non ci sono più risultati.",
    one_copy: "Un’altra pagina, più recente, dice lo stesso.",
    copies: |n| format!("Altre {n} pagine, più recenti, dicono lo stesso."),
    pages_of_results: "Pagine dei risultati",
    previous: "Precedente",
    next: "Successiva",
    page: "Pagina",
    follow: "Segui questa ricerca in un lettore di feed:",
    its_feed: "il suo feed",
    only_ten_pages: "Si possono mostrare solo le prime dieci pagine di risultati.",
    address_too_long: "Questo indirizzo è troppo lungo. Prova con una domanda più breve.",
    too_many_parameters: "Questo indirizzo ha troppi parametri.",
    misread: misread_in_italian,
    no_question: "Scrivi che cosa cercare: q è vuoto.",
};

fn misread_in_italian(error: &QueryError) -> String {
    match error {
        QueryError::Empty => "Scrivi almeno una parola da cercare.".to_owned(),
        QueryError::TooLong { bytes } => {
            format!("La ricerca è troppo lunga: ha {bytes} byte, e si leggono solo i primi {MAX_QUERY_BYTES}.")
        }
        QueryError::TooManyTerms => {
            format!("La ricerca ha troppe parole: si leggono solo le prime {MAX_QUERY_TERMS}, filtri compresi.")
        }
        QueryError::Wildcard(typed) => {
            format!("I caratteri jolly, come in «{typed}», non sono previsti: scrivi la parola per intero.")
        }
        QueryError::OnlyExcluded => {
            "La ricerca dice solo che cosa le pagine non devono avere: aggiungi almeno una parola che devono avere."
                .to_owned()
        }
        QueryError::Author(typed) => {
            format!("«{typed}» non è un nome: scrivi per esempio author:Rossi oppure author:\"Anna Rossi\".")
        }
        QueryError::Site(typed) => {
            format!("«{typed}» non è il nome di un sito: scrivi per esempio site:example.org.")
        }
        QueryError::Language(typed) => {
            format!("«{typed}» non è una lingua: scrivi il suo codice, per esempio lang:it.")
        }
        QueryError::Date(typed) => format!("«{typed}» non è una data: scrivi per esempio before:2026-05-01."),
        QueryError::Order(typed) => {
            format!("«{typed}» non è un ordinamento: scrivi sort:date oppure sort:relevance.")
        }
        QueryError::Filter(typed) => {
            format!(
                "Il filtro «{typed}:» non esiste, e si è cercato come parole: ci sono author:, site:, lang:, before:, after: e sort:."
            )
        }
        QueryError::NoDays => "Nessun giorno viene dopo una data e prima dell’altra: after: vuole il primo giorno, \
                               before: l’ultimo."
            .to_owned(),
        QueryError::Cursor => {
            "Il collegamento agli altri risultati qui non vale: questi si contano di nuovo dal primo.".to_owned()
        }
    }
}
