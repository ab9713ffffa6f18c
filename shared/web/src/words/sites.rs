use crate::language::Language;

/// Texts of the list of sites, and of the page about each.
#[derive(Debug)]
pub(crate) struct Sites {
    pub(crate) title: &'static str,
    pub(crate) none: &'static str,
    /// Label of the field that filters the list.
    pub(crate) filter: &'static str,
    pub(crate) show: &'static str,
    /// Label of the choice of an order, and the orders: by name, by the last post, by the number of pages.
    pub(crate) order: &'static str,
    pub(crate) orders: [&'static str; 3],
    /// Name of the row of letters, and the link that takes a letter away.
    pub(crate) letters: &'static str,
    pub(crate) all_letters: &'static str,
    pub(crate) none_chosen: &'static str,
    pub(crate) pages: fn(u64, &str) -> String,
    pub(crate) previous: &'static str,
    pub(crate) next: &'static str,
    pub(crate) places: &'static str,
    /// Number of pages, and the day of the oldest if it is known.
    pub(crate) counts: fn(u64, &str, Option<&str>) -> String,
    pub(crate) latest: &'static str,
    pub(crate) visit: &'static str,
    pub(crate) feed: &'static str,
    pub(crate) follow: &'static str,
    pub(crate) all: &'static str,
    /// Words before the name of a folder.
    pub(crate) collection: &'static str,
    pub(crate) owner: &'static str,
}

impl Sites {
    pub(crate) const fn in_language(language: Language) -> &'static Sites {
        language.choose(&ENGLISH, &ITALIAN)
    }
}

const ENGLISH: Sites = Sites {
    title: "Sites",
    none: "There are no pages in the index yet.",
    filter: "Name or host",
    show: "Show",
    order: "Order",
    orders: ["By name", "Last post first", "Most pages first"],
    letters: "First letter",
    all_letters: "All",
    none_chosen: "No site is called so.",
    pages: |n, shown| format!("{shown} {}", if n == 1 { "page" } else { "pages" }),
    previous: "Previous",
    next: "Next",
    places: "Pages of the list",
    counts: |pages, shown, since| {
        let page = if pages == 1 { "page" } else { "pages" };
        let since = since.map(|day| format!(", the oldest of {day}")).unwrap_or_default();
        format!("{shown} {page} can be found here{since}.")
    },
    latest: "Newest pages",
    visit: "Visit the site",
    feed: "Its feed",
    follow: "Follow it here",
    all: "All its pages, newest first",
    collection: "Collection",
    owner: "This is my site",
};

const ITALIAN: Sites = Sites {
    title: "Siti",
    none: "Nell’indice non ci sono ancora pagine.",
    filter: "Nome o host",
    show: "Mostra",
    order: "Ordine",
    orders: ["Per nome", "Prima l’ultimo articolo", "Prima chi ha più pagine"],
    letters: "Iniziale",
    all_letters: "Tutti",
    none_chosen: "Nessun sito si chiama così.",
    pages: |n, shown| format!("{shown} {}", if n == 1 { "pagina" } else { "pagine" }),
    previous: "Precedente",
    next: "Successiva",
    places: "Pagine dell’elenco",
    counts: |pages, shown, since| {
        let found = if pages == 1 { "pagina si può trovare" } else { "pagine si possono trovare" };
        let since = since.map(|day| format!("; la più vecchia è del {day}")).unwrap_or_default();
        format!("{shown} {found} qui{since}.")
    },
    latest: "Le pagine più recenti",
    visit: "Visita il sito",
    feed: "Il suo feed",
    follow: "Seguilo qui",
    all: "Tutte le sue pagine, prima le più recenti",
    collection: "Raccolta",
    owner: "Questo sito è mio",
};
