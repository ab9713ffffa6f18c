use crate::language::Language;
use curlew_catalog::results::SearchResults;
use curlew_model::{MAX_QUERY_BYTES, MAX_QUERY_TERMS, QueryError};

/// Texts of the start page and the page of results.
#[derive(Debug)]
pub(crate) struct Search {
    pub(crate) lead: &'static str,
    pub(crate) newest: &'static str,
    /// Names of the groups of new pages: of today, yesterday, the last week, and older.
    pub(crate) groups: [&'static str; 4],
    /// Numbers of pages and of sites, in words.
    pub(crate) pages_of_sites: fn((u64, &str), (u64, &str)) -> String,
    pub(crate) all_sites: &'static str,
    pub(crate) all_newest: &'static str,
    /// Link to a page that is chosen at random.
    pub(crate) surprise: &'static str,
    /// Link to pages with the words of a title.
    pub(crate) like_this: &'static str,
    pub(crate) examples_heading: &'static str,
    /// Examples of queries with words of the index in place of the names in braces, and their meanings.
    pub(crate) examples: [(&'static str, &'static str); 12],
    /// Values of these names for an empty index.
    pub(crate) example_words: ExampleWords<&'static str>,
    /// Heading of a page of results for screen readers; it is not visible.
    pub(crate) heading: &'static str,
    /// Text around a link to another query.
    pub(crate) did_you_mean: (&'static str, &'static str),
    /// Text before and after the query that is answered in place of the one typed, and after a link to the latter.
    pub(crate) showing_instead: (&'static str, &'static str, &'static str),
    pub(crate) nothing_found_for: &'static str,
    pub(crate) try_other_words: &'static str,
    /// Question before the link to the form that takes suggestions.
    pub(crate) missing_site: &'static str,
    /// The word between, as in `11–20 of 35`.
    pub(crate) of: &'static str,
    pub(crate) page_for: &'static str,
    pub(crate) pages_for: &'static str,
    /// Number of pages that are not shown since another one has the same content.
    pub(crate) copies_of_them: fn(u64, &str) -> String,
    /// Number of pages with all words, where others have only some.
    pub(crate) have_all_words: fn(u64, &str) -> String,
    /// Text before the words that a page lacks.
    pub(crate) without: &'static str,
    /// Words that occur in no page.
    pub(crate) in_no_page: fn(&str) -> String,
    /// Number of pages that were not searched, since a part of the index did not answer or cannot be read.
    pub(crate) not_searched: fn(&str) -> String,
    /// Years whose pages were not searched, since their index cannot be read.
    pub(crate) years_not_searched: fn(&str) -> String,
    pub(crate) none_here: &'static str,
    pub(crate) one_copy: &'static str,
    pub(crate) copies: fn(u32) -> String,
    pub(crate) pages_of_results: &'static str,
    pub(crate) previous: &'static str,
    pub(crate) next: &'static str,
    pub(crate) page: &'static str,
    pub(crate) follow: &'static str,
    pub(crate) or_as: &'static str,
    /// Label of the links that change a search.
    pub(crate) refine: &'static str,
    /// Labels of those that change the order, and of the others.
    pub(crate) order: &'static str,
    pub(crate) filters: &'static str,
    pub(crate) best_first: &'static str,
    pub(crate) newest_first: &'static str,
    pub(crate) remove: &'static str,
    pub(crate) more_from: fn(&str) -> String,
    pub(crate) today: &'static str,
    pub(crate) yesterday: &'static str,
    pub(crate) days_ago: fn(u64) -> String,
    pub(crate) only_ten_pages: &'static str,
    pub(crate) address_too_long: &'static str,
    pub(crate) too_many_parameters: &'static str,
    /// Part of a query that was left out, with the reason.
    pub(crate) misread: fn(&QueryError) -> String,
    pub(crate) no_question: &'static str,
}

/// Words of the index that examples of queries are made of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ExampleWords<T> {
    /// A word of a page.
    pub(crate) one: T,
    /// The beginning of this word.
    pub(crate) beginning: T,
    /// Another word of the same page.
    pub(crate) other: T,
    /// A word of another page.
    pub(crate) third: T,
    /// Two adjacent words.
    pub(crate) phrase: T,
    /// The author of a page.
    pub(crate) author: T,
    /// The host of the page with the word `third`.
    pub(crate) site: T,
    /// Language of the page.
    pub(crate) language: T,
    /// The first day of its year.
    pub(crate) after: T,
    /// The first day of the year after it.
    pub(crate) before: T,
}

impl<T: AsRef<str>> ExampleWords<T> {
    /// Puts the words in place of their names; `None` if one of them is missing.
    pub(crate) fn fill(&self, pattern: &str) -> Option<String> {
        let names = [
            ("{one}", &self.one),
            ("{beginning}", &self.beginning),
            ("{other}", &self.other),
            ("{third}", &self.third),
            ("{phrase}", &self.phrase),
            ("{author}", &self.author),
            ("{site}", &self.site),
            ("{language}", &self.language),
            ("{after}", &self.after),
            ("{before}", &self.before),
        ];
        let mut query = pattern.to_owned();
        for (name, word) in names.into_iter().filter(|(name, _)| pattern.contains(name)) {
            if word.as_ref().is_empty() {
                return None;
            }
            query = query.replace(name, word.as_ref());
        }
        Some(query)
    }
}

impl Search {
    pub(crate) const fn in_language(language: Language) -> &'static Search {
        language.choose(&ENGLISH, &ITALIAN)
    }

    /// Returns sentences about the parts of the index that were not searched, if there are any.
    pub(crate) fn unsearched_parts(&self, found: &SearchResults, language: Language) -> Option<String> {
        let pages = (found.unsearched > 0).then(|| (self.not_searched)(&language.number(found.unsearched)));
        let years: Vec<String> = found.unsearched_years.iter().map(ToString::to_string).collect();
        let years = (!years.is_empty()).then(|| (self.years_not_searched)(&years.join(", ")));
        let sentences: Vec<String> = pages.into_iter().chain(years).collect();
        (!sentences.is_empty()).then(|| sentences.join(" "))
    }
}

const ENGLISH: Search = Search {
    lead: "A small search engine for sites that publish feeds.",
    newest: "New here",
    groups: ["Today", "Yesterday", "Last week", "Earlier"],
    pages_of_sites: |(pages, shown), (sites, of)| {
        let (page, site) = (if pages == 1 { "page" } else { "pages" }, if sites == 1 { "site" } else { "sites" });
        format!("{shown} {page} from {of} {site}")
    },
    all_sites: "All sites",
    all_newest: "More of what is new",
    surprise: "Surprise me",
    like_this: "More like this",
    examples_heading: "What you can type",
    examples: [
        ("{one} {other}", "pages with both words, or with one"),
        ("{one} +{other}", "only pages with the second word"),
        ("\"{phrase}\"", "the words side by side"),
        ("{third} -{one}", "without the second word"),
        ("title:{one}", "the word is in the title"),
        ("{beginning}*", "words that begin with these letters"),
        ("author:\"{author}\"", "by one author"),
        ("{third} site:{site}", "from one site only"),
        ("{third} lang:{language}", "in one language"),
        ("{third} before:{before}", "published before a day"),
        ("{third} after:{after}", "published on a day or later"),
        ("{third} sort:date", "newest first"),
    ],
    example_words: ExampleWords {
        one: "stone",
        beginning: "sto",
        other: "estuary",
        third: "curlew",
        phrase: "spring tide",
        author: "Anna Rossi",
        site: "example.org",
        language: "en",
        after: "2026-04-01",
        before: "2026-05-01",
    },
    heading: "Search",
    did_you_mean: ("Did you mean", "?"),
    showing_instead: ("Showing results for", ". Search for", " instead."),
    nothing_found_for: "Nothing found for",
    try_other_words: "Try fewer or other words.",
    missing_site: "Is a site missing?",
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
    without: "Without",
    in_no_page: |words| format!("No page here has {words}."),
    not_searched: |shown| {
        format!(
            "A part of the index did not answer in time or cannot be read: about {shown} pages were not searched. Try again later."
        )
    },
    years_not_searched: |years| format!("The pages of {years} were not searched, since their index cannot be read."),
    none_here: "There are no results on this page any more.",
    one_copy: "One later page says the same.",
    copies: |n| format!("{n} later pages say the same."),
    pages_of_results: "Pages of results",
    previous: "Previous",
    next: "Next",
    page: "Page",
    follow: "Follow this search",
    or_as: "in a feed reader: Atom, or",
    refine: "Change this search",
    order: "Order",
    filters: "Filters",
    best_first: "Best first",
    newest_first: "Newest first",
    remove: "Remove",
    more_from: |site| format!("More from {site}"),
    today: "today",
    yesterday: "yesterday",
    days_ago: |days| format!("{days} days ago"),
    only_ten_pages: "Only the first ten pages of results can be shown.",
    address_too_long: "This address is too long. Please ask a shorter question.",
    too_many_parameters: "This address has too many parameters.",
    misread: QueryError::to_string,
    no_question: "Say what to look for: q is empty.",
};

const ITALIAN: Search = Search {
    lead: "Un piccolo motore di ricerca per i siti che pubblicano un feed.",
    newest: "Le novità",
    groups: ["Oggi", "Ieri", "Ultima settimana", "Prima"],
    pages_of_sites: |(pages, shown), (sites, of)| {
        let (page, site) = (if pages == 1 { "pagina" } else { "pagine" }, if sites == 1 { "sito" } else { "siti" });
        format!("{shown} {page} da {of} {site}")
    },
    all_sites: "Tutti i siti",
    all_newest: "Altre novità",
    surprise: "Sorprendimi",
    like_this: "Altre pagine così",
    examples_heading: "Che cosa si può scrivere",
    examples: [
        ("{one} {other}", "pagine con entrambe le parole, o con una sola"),
        ("{one} +{other}", "solo pagine con la seconda parola"),
        ("\"{phrase}\"", "le parole una accanto all’altra"),
        ("{third} -{one}", "senza la seconda parola"),
        ("title:{one}", "la parola è nel titolo"),
        ("{beginning}*", "parole che cominciano così"),
        ("author:\"{author}\"", "scritte da una persona"),
        ("{third} site:{site}", "solo da un sito"),
        ("{third} lang:{language}", "in una lingua"),
        ("{third} before:{before}", "pubblicate prima di un giorno"),
        ("{third} after:{after}", "pubblicate da un giorno in poi"),
        ("{third} sort:date", "prima le più recenti"),
    ],
    example_words: ExampleWords {
        one: "sasso",
        beginning: "sas",
        other: "laguna",
        third: "chiurlo",
        phrase: "alta marea",
        author: "Anna Rossi",
        site: "example.org",
        language: "it",
        after: "2026-04-01",
        before: "2026-05-01",
    },
    heading: "Ricerca",
    did_you_mean: ("Forse cercavi", "?"),
    showing_instead: ("Ecco i risultati per", ". Cerca invece", "."),
    nothing_found_for: "Nessun risultato per",
    try_other_words: "Prova con meno parole o con altre.",
    missing_site: "Manca un sito?",
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
    without: "Senza",
    in_no_page: |words| format!("Qui nessuna pagina ha {words}."),
    not_searched: |shown| {
        format!(
            "Una parte dell’indice non ha risposto in tempo o non è leggibile: circa {shown} pagine non sono state esaminate. Riprova più tardi."
        )
    },
    years_not_searched: |years| {
        format!("Le pagine del {years} non sono state esaminate, perché il loro indice non è leggibile.")
    },
    none_here: "In questa pagina non ci sono più risultati.",
    one_copy: "Un’altra pagina, più recente, dice lo stesso.",
    copies: |n| format!("Altre {n} pagine, più recenti, dicono lo stesso."),
    pages_of_results: "Pagine dei risultati",
    previous: "Precedente",
    next: "Successiva",
    page: "Pagina",
    follow: "Segui questa ricerca",
    or_as: "in un lettore di feed: Atom, oppure",
    refine: "Cambia questa ricerca",
    order: "Ordine",
    filters: "Filtri",
    best_first: "Prima le migliori",
    newest_first: "Prima le più recenti",
    remove: "Togli",
    more_from: |site| format!("Altro da {site}"),
    today: "oggi",
    yesterday: "ieri",
    days_ago: |days| format!("{days} giorni fa"),
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
        QueryError::Not => "NOT è stato letto come in -parola: le pagine con la parola che segue sono escluse; per \
                            cercare «not», scrivilo in minuscolo o fra virgolette."
            .to_owned(),
        QueryError::Boolean(typed) => {
            format!(
                "{typed} fra le parole non è previsto e non se ne è tenuto conto: le pagine con tutte le parole hanno un punteggio più alto; scrivi +parola per una che le pagine devono avere."
            )
        }
        QueryError::Wildcard(typed) => {
            format!("Di «{typed}» non si è tenuto conto: * sta dopo almeno tre lettere di una parola, come in mar*.")
        }
        QueryError::Title(typed) => {
            format!("«{typed}» non è una parola: scrivi per esempio title:marea oppure title:\"bassa marea\".")
        }
        QueryError::Label(name) => {
            format!("A {name}: manca il nome: scrivi per esempio {name}:uccelli oppure {name}:\"uccelli marini\".")
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
        QueryError::Date(typed) => {
            format!("«{typed}» non è una data: scrivi per esempio before:2026-05-01 oppure after:2026-05-01.")
        }
        QueryError::Order(typed) => {
            format!("«{typed}» non è un ordinamento: scrivi sort:date oppure sort:relevance.")
        }
        QueryError::Filter(typed) => {
            format!(
                "Il filtro «{typed}:» non esiste, e si è cercato come parole: ci sono title:, author:, site:, tag:, in:, lang:, before:, after: e sort:."
            )
        }
        QueryError::NoDays => "Nessun giorno viene dopo una data e prima dell’altra: after: vuole il primo giorno, \
                               before: l’ultimo."
            .to_owned(),
        QueryError::TooCommon(typed) => {
            format!("Le parole di «{typed}» sono in così tante pagine che non si sono cercate: aggiungine di più rare.")
        }
        QueryError::Cursor => {
            "Il collegamento agli altri risultati qui non vale: questi si contano di nuovo dal primo.".to_owned()
        }
    }
}
