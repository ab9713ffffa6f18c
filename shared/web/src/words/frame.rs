sentences! {
    /// Texts around every page.
    struct Frame {
        skip = "Skip to the content" => "Vai al contenuto";
        /// Label of the search field.
        field = "Search for" => "Cerca";
        button = "Search" => "Cerca";
        /// Label of the links at the head of the page.
        main = "Main pages" => "Pagine principali";
        sites = "Sites" => "Siti";
        /// Label of the links at the foot of the page.
        about = "About" => "Informazioni";
        suggest = "Suggest a site" => "Proponi un sito";
        owners = "For site owners" => "Per chi gestisce un sito";
        contact = "Write to us" => "Scrivici";
        crawler = "About the crawler" => "Il crawler";
        status = "Status" => "Stato";
        /// Text before the name of the search engine, in a browser's list of search engines.
        search_with = "Search with" => "Cerca con";
    }
}
