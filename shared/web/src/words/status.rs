use curlew_model::{HoldReason, QueueName, Year};

sentences! {
    /// Texts of the status page.
    struct Status {
        title = "Status" => "Stato";
        index = "Index" => "Indice";
        findable = "Indexed pages" => "Pagine che si possono trovare";
        of_year: fn(Year) -> String = |year| format!("of {year}") => |year| format!("del {year}");
        published = "Index updated" => "Ultima pubblicazione";
        ago: fn(&str) -> String = |time| format!("{time} ago") => |time| format!("{time} fa");
        crawl = "Sites and pages" => "Siti e pagine";
        sites = "Sites" => "Siti proposti";
        feeds = "Feeds" => "Feed";
        accepted = "Accepted pages" => "Pagine accolte";
        pending = "Pending pages" => "Pagine ancora da valutare";
        rejected = "Rejected pages" => "Pagine non accolte";
        gone = "Removed pages" => "Pagine sparite";
        holds = "Sites on hold" => "Siti lasciati in pace per ora";
        no_holds = "None." => "Nessuno.";
        last_days = "The last 30 days" => "Gli ultimi 30 giorni";
        polls = "Polls of feeds" => "Letture di feed";
        laid = "Sites put on hold" => "Siti messi in pausa";
        /// Takes the total of all days, and the maximum of a day.
        in_days: fn(&str, &str) -> String = |all, most| format!("{all} in all, at most {most} a day.") =>
            |all, most| format!("{all} in tutto, al massimo {most} al giorno.");
        by_day = "Day by day" => "Giorno per giorno";
        day = "Day (UTC)" => "Giorno (UTC)";
        queues = "Work" => "Lavoro";
        queue = "Queue" => "Coda";
        /// The heads of the columns: due, waiting, under way, given up.
        jobs: [&'static str; 4] = ["Due", "Later", "Under way", "Given up"] =>
            ["Ora", "Più tardi", "In corso", "Falliti"];
        oldest: fn(&str) -> String = |time| format!("What is due the longest has been so for {time}.") =>
            |time| format!("Il lavoro più vecchio aspetta da {time}.");
        not_counted = "The numbers of sites, feeds and pages were not counted yet; that is done once a week." =>
            "I siti, i feed e le pagine non sono ancora stati contati: si fa una volta alla settimana.";
        /// Takes a date with time.
        counted_at: fn(&str) -> String =
            |moment| format!("The numbers of sites, feeds and pages were counted on {moment}.") =>
            |moment| format!("I siti, i feed e le pagine sono stati contati il {moment}.");
        /// Text around a link.
        the_same = "The same" => "Lo stesso";
        for_programs = "for programs" => "per i programmi";
    }
}

sentences! {
    /// Returns the name of a reason for a hold.
    fn hold(HoldReason) {
        Forbidden = "Access refused (402, 403, 451)" => "Accesso rifiutato (402, 403, 451)";
        TooManyRequests = "Too many requests (429)" => "Troppe richieste (429)";
        ServerError = "Server errors (5xx)" => "Errori del server (5xx)";
        Network = "Not to be reached" => "Non raggiungibili";
        NotFound = "Nothing at the address that was named" => "Nulla all’indirizzo indicato";
        Hostile = "Answers beyond the limits" => "Risposte oltre i limiti";
        Interstitial = "A wall in place of all pages" => "Un muro al posto di tutte le pagine";
        WindowSpent = "Visited enough for this hour" => "Visitati abbastanza in quest’ora";
        Operator = "Left alone by the operator" => "Lasciati in pace dal gestore";
        Rest = "Resting for an hour after one refusal or server error" =>
            "A riposo per un’ora dopo un rifiuto o un errore del server";
    }

    /// Returns the name of a queue's work.
    fn stage(QueueName) {
        Discover = "Find feeds" => "Trovare i feed";
        Poll = "Poll feeds" => "Leggere i feed";
        Fetch = "Fetch pages" => "Scaricare pagine";
        Extract = "Read pages" => "Estrarre i testi";
        Remove = "Remove pages" => "Togliere pagine";
    }
}
