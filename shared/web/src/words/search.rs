use crate::language::Language::{self, English, Italian};
use curlew_catalog::results::SearchResults;
use curlew_model::{MAX_QUERY_BYTES, MAX_QUERY_TERMS, QueryError};

sentences! {
    /// Texts of the start page and the page of results.
    struct Search {
        lead = "A small search engine for sites that publish feeds." =>
            "Un piccolo motore di ricerca per i siti che pubblicano un feed.";
        newest = "New here" => "Le novità";
        /// Names of the groups of new pages: of today, yesterday, the last week, and older.
        groups: [&'static str; 4] = ["Today", "Yesterday", "Last week", "Earlier"] =>
            ["Oggi", "Ieri", "Ultima settimana", "Prima"];
        /// Takes the numbers of pages and of sites.
        pages_of_sites: fn(u64, u64) -> String = |pages, sites| {
            format!("{} from {}", English.count(pages, "page", "pages"), English.count(sites, "site", "sites"))
        } => |pages, sites| {
            format!("{} da {}", Italian.count(pages, "pagina", "pagine"), Italian.count(sites, "sito", "siti"))
        };
        all_sites = "All sites" => "Tutti i siti";
        all_newest = "More of what is new" => "Altre novità";
        /// Link to a random page.
        surprise = "Surprise me" => "Sorprendimi";
        /// Link to pages with the words of a title.
        like_this = "More like this" => "Altre pagine così";
        examples_heading = "What you can type" => "Che cosa si può scrivere";
        /// Words that replace the names in the examples if the index is empty.
        example_words: [(&'static str, &'static str); 10] = [
            ("one", "stone"),
            ("beginning", "sto"),
            ("other", "estuary"),
            ("third", "curlew"),
            ("phrase", "spring tide"),
            ("author", "Anna Rossi"),
            ("site", "example.org"),
            ("language", "en"),
            ("after", "2026-04-01"),
            ("before", "2026-05-01"),
        ] => [
            ("one", "sasso"),
            ("beginning", "sas"),
            ("other", "laguna"),
            ("third", "chiurlo"),
            ("phrase", "alta marea"),
            ("author", "Anna Rossi"),
            ("site", "example.org"),
            ("language", "it"),
            ("after", "2026-04-01"),
            ("before", "2026-05-01"),
        ];
        /// Heading of a page of results for screen readers; it is not visible.
        heading = "Search" => "Ricerca";
        /// Text around the link to a suggested query.
        did_you_mean: (&'static str, &'static str) = ("Did you mean", "?") => ("Forse cercavi", "?");
        /// Text before the corrected query, text between it and the link to the typed query, and text after that link.
        showing_instead: (&'static str, &'static str, &'static str) =
            ("Showing results for", ". Search for", " instead.") =>
            ("Ecco i risultati per", ". Cerca invece", ".");
        nothing_found_for = "Nothing found for" => "Nessun risultato per";
        try_other_words = "Try fewer or other words." => "Prova con meno parole o con altre.";
        /// Question before the link to the form for suggestions.
        missing_site = "Is a site missing?" => "Manca un sito?";
        /// The word between two numbers, as in `11–20 of 35`.
        of = "of" => "di";
        page_for = "page for" => "pagina per";
        pages_for = "pages for" => "pagine per";
        /// Takes the number of pages that are not shown because others have the same content: plain, and formatted.
        copies_of_them: fn(u64, &str) -> String = |n, shown| match n {
            1 => "One more page says the same as one of them.".to_owned(),
            _ => format!("{shown} more pages say the same as one of them."),
        } => |n, shown| match n {
            1 => "Un’altra pagina dice lo stesso di una di queste.".to_owned(),
            _ => format!("Altre {shown} pagine dicono lo stesso di una di queste."),
        };
        /// Takes the number of pages with all words, if others have only some: plain, and formatted.
        have_all_words: fn(u64, &str) -> String = |n, shown| match n {
            0 => "No page has all of your words.".to_owned(),
            1 => "One of them has all of your words.".to_owned(),
            _ => format!("{shown} of them have all of your words."),
        } => |n, shown| match n {
            0 => "Nessuna pagina ha tutte le parole cercate.".to_owned(),
            1 => "Una di queste ha tutte le parole cercate.".to_owned(),
            _ => format!("{shown} di queste hanno tutte le parole cercate."),
        };
        /// Text before the words that a page lacks.
        without = "Without" => "Senza";
        /// Takes words that occur in no page.
        in_no_page: fn(&str) -> String = |words| format!("No page here has {words}.") =>
            |words| format!("Qui nessuna pagina ha {words}.");
        /// Takes the number of pages that were not searched because a part of the index is unavailable or unreadable.
        not_searched: fn(&str) -> String =
            |shown| format!("A part of the index did not answer in time or cannot be read: about {shown} pages were \
                             not searched. Try again later.") =>
            |shown| format!("Una parte dell’indice non ha risposto in tempo o non è leggibile: circa {shown} pagine \
                             non sono state esaminate. Riprova più tardi.");
        /// Takes the years whose pages were not searched because their index cannot be read.
        years_not_searched: fn(&str) -> String =
            |years| format!("The pages of {years} were not searched, since their index cannot be read.") =>
            |years| format!("Le pagine del {years} non sono state esaminate, perché il loro indice non è leggibile.");
        none_here = "There are no results on this page any more." => "In questa pagina non ci sono più risultati.";
        one_copy = "One later page says the same." => "Un’altra pagina, più recente, dice lo stesso.";
        copies: fn(u32) -> String = |n| format!("{n} later pages say the same.") =>
            |n| format!("Altre {n} pagine, più recenti, dicono lo stesso.");
        pages_of_results = "Pages of results" => "Pagine dei risultati";
        previous = "Previous" => "Precedente";
        next = "Next" => "Successiva";
        page = "Page" => "Pagina";
        follow = "Follow this search" => "Segui questa ricerca";
        or_as = "in a feed reader: Atom, or" => "in un lettore di feed: Atom, oppure";
        /// Label of the links that change a search.
        refine = "Change this search" => "Cambia questa ricerca";
        /// Labels of the links that change the order, and of those for filters.
        order = "Order" => "Ordine";
        filters = "Filters" => "Filtri";
        best_first = "Best first" => "Prima le migliori";
        newest_first = "Newest first" => "Prima le più recenti";
        remove = "Remove" => "Togli";
        more_from: fn(&str) -> String = |site| format!("More from {site}") => |site| format!("Altro da {site}");
        today = "today" => "oggi";
        yesterday = "yesterday" => "ieri";
        days_ago: fn(u64) -> String = |days| format!("{days} days ago") => |days| format!("{days} giorni fa");
        only_ten_pages = "Only the first ten pages of results can be shown." =>
            "Si possono mostrare solo le prime dieci pagine di risultati.";
        address_too_long = "This address is too long. Please ask a shorter question." =>
            "Questo indirizzo è troppo lungo. Prova con una domanda più breve.";
        too_many_parameters = "This address has too many parameters." => "Questo indirizzo ha troppi parametri.";
        /// Takes a part of a query that was left out, with the reason.
        misread: fn(&QueryError) -> String = QueryError::to_string => misread_in_italian;
        no_question = "Say what to look for: q is empty." => "Scrivi che cosa cercare: q è vuoto.";
    }
}

/// Examples of queries, with their meanings in English and Italian. Words of the index replace the names in braces:
/// `one` and `other` are from one page, `beginning` is a prefix of `one`, and `phrase` is two adjacent words. `third`
/// is from another page, from which `site`, `language`, `after` and `before` are taken too.
pub(crate) const EXAMPLES: [(&str, &str, &str); 12] = [
    ("{one} {other}", "pages with both words, or with one", "pagine con entrambe le parole, o con una sola"),
    ("{one} +{other}", "only pages with the second word", "solo pagine con la seconda parola"),
    ("\"{phrase}\"", "the words side by side", "le parole una accanto all’altra"),
    ("{third} -{one}", "without the second word", "senza la seconda parola"),
    ("title:{one}", "the word is in the title", "la parola è nel titolo"),
    ("{beginning}*", "words that begin with these letters", "parole che cominciano così"),
    ("author:\"{author}\"", "by one author", "scritte da una persona"),
    ("{third} site:{site}", "from one site only", "solo da un sito"),
    ("{third} lang:{language}", "in one language", "in una lingua"),
    ("{third} before:{before}", "published before a day", "pubblicate prima di un giorno"),
    ("{third} after:{after}", "published on a day or later", "pubblicate da un giorno in poi"),
    ("{third} sort:date", "newest first", "prima le più recenti"),
];

/// Replaces the names in an example by words; `None` if a word is missing.
pub(crate) fn example_query(pattern: &str, words: &[(&str, &str)]) -> Option<String> {
    let mut query = pattern.to_owned();
    for (name, word) in words.iter().filter(|(_, word)| !word.is_empty()) {
        query = query.replace(&format!("{{{name}}}"), word);
    }
    (!query.contains('{')).then_some(query)
}

impl Search {
    /// Returns sentences about the parts of the index that were not searched, if there are any.
    pub(crate) fn unsearched_parts(&self, found: &SearchResults, language: Language) -> Option<String> {
        let pages = (found.unsearched > 0).then(|| (self.not_searched)(&language.number(found.unsearched)));
        let years: Vec<String> = found.unsearched_years.iter().map(ToString::to_string).collect();
        let years = (!years.is_empty()).then(|| (self.years_not_searched)(&years.join(", ")));
        let sentences: Vec<String> = pages.into_iter().chain(years).collect();
        (!sentences.is_empty()).then(|| sentences.join(" "))
    }
}

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
                "{typed} fra le parole non è previsto e non se ne è tenuto conto: le pagine con tutte le parole hanno \
                 un punteggio più alto; scrivi +parola per una che le pagine devono avere."
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
                "Il filtro «{typed}:» non esiste, e si è cercato come parole: ci sono title:, author:, site:, tag:, \
                 in:, lang:, before:, after: e sort:."
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
