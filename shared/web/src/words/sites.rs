use crate::language::Language::{English, Italian};

sentences! {
    /// Texts of the list of sites, and of the page about one site.
    struct Sites {
        title = "Sites" => "Siti";
        none = "There are no pages in the index yet." => "Nell’indice non ci sono ancora pagine.";
        /// Label of the field that filters the list.
        filter = "Name or host" => "Nome o host";
        show = "Show" => "Mostra";
        /// Label of the menu of orders, and the orders: by name, by the last post, by the number of pages.
        order = "Order" => "Ordine";
        orders: [&'static str; 3] = ["By name", "Last post first", "Most pages first"] =>
            ["Per nome", "Prima l’ultimo articolo", "Prima chi ha più pagine"];
        /// Label of the row of letters, and the link that removes the chosen letter.
        letters = "First letter" => "Iniziale";
        all_letters = "All" => "Tutti";
        none_chosen = "No site is called so." => "Nessun sito si chiama così.";
        pages: fn(u64) -> String = |n| English.count(n, "page", "pages") => |n| Italian.count(n, "pagina", "pagine");
        previous = "Previous" => "Precedente";
        next = "Next" => "Successiva";
        places = "Pages of the list" => "Pagine dell’elenco";
        /// Takes the number of pages, and the day of the oldest page if known.
        counts: fn(u64, Option<&str>) -> String = |pages, since| {
            let since = since.map(|day| format!(", the oldest of {day}")).unwrap_or_default();
            format!("{} can be found here{since}.", English.count(pages, "page", "pages"))
        } => |pages, since| {
            let since = since.map(|day| format!("; la più vecchia è del {day}")).unwrap_or_default();
            format!("{} qui{since}.", Italian.count(pages, "pagina si può trovare", "pagine si possono trovare"))
        };
        latest = "Newest pages" => "Le pagine più recenti";
        visit = "Visit the site" => "Visita il sito";
        feed = "Its feed" => "Il suo feed";
        follow = "Follow it here" => "Seguilo qui";
        all = "All its pages, newest first" => "Tutte le sue pagine, prima le più recenti";
        /// Text in front of a collection's name.
        collection = "Collection" => "Raccolta";
        owner = "This is my site" => "Questo sito è mio";
    }
}
