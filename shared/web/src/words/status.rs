use crate::language::Language;
use curlew_model::{HoldReason, QueueName, Year};

/// Texts of the status page.
#[derive(Debug)]
pub(crate) struct Status {
    pub(crate) title: &'static str,
    pub(crate) index: &'static str,
    pub(crate) findable: &'static str,
    pub(crate) of_year: fn(Year) -> String,
    pub(crate) published: &'static str,
    pub(crate) ago: fn(&str) -> String,
    pub(crate) crawl: &'static str,
    pub(crate) sites: &'static str,
    pub(crate) feeds: &'static str,
    pub(crate) accepted: &'static str,
    pub(crate) pending: &'static str,
    pub(crate) rejected: &'static str,
    pub(crate) gone: &'static str,
    pub(crate) holds: &'static str,
    pub(crate) hold: fn(HoldReason) -> &'static str,
    pub(crate) no_holds: &'static str,
    pub(crate) last_days: &'static str,
    pub(crate) polls: &'static str,
    pub(crate) laid: &'static str,
    /// Takes the number of all days, and of the day with the most.
    pub(crate) in_days: fn(&str, &str) -> String,
    pub(crate) by_day: &'static str,
    pub(crate) day: &'static str,
    pub(crate) queues: &'static str,
    pub(crate) queue: &'static str,
    pub(crate) stage: fn(QueueName) -> &'static str,
    /// The heads of the columns: due, waiting, under way, given up.
    pub(crate) jobs: [&'static str; 4],
    pub(crate) oldest: fn(&str) -> String,
    pub(crate) not_counted: &'static str,
    /// Takes a moment.
    pub(crate) counted_at: fn(&str) -> String,
    /// Text around a link.
    pub(crate) the_same: &'static str,
    pub(crate) for_programs: &'static str,
}

impl Status {
    pub(crate) const fn in_language(language: Language) -> &'static Status {
        language.choose(&ENGLISH, &ITALIAN)
    }
}

const ENGLISH: Status = Status {
    title: "Status",
    index: "Index",
    findable: "Indexed pages",
    of_year: |year| format!("of {year}"),
    published: "Index updated",
    ago: |time| format!("{time} ago"),
    crawl: "Sites and pages",
    sites: "Sites",
    feeds: "Feeds",
    accepted: "Accepted pages",
    pending: "Pending pages",
    rejected: "Rejected pages",
    gone: "Removed pages",
    holds: "Sites on hold",
    hold: hold_in_english,
    no_holds: "None.",
    last_days: "The last 30 days",
    polls: "Polls of feeds",
    laid: "Sites put on hold",
    in_days: |all, most| format!("{all} in all, at most {most} a day."),
    by_day: "Day by day",
    day: "Day (UTC)",
    queues: "Work",
    queue: "Queue",
    stage: |stage| match stage {
        QueueName::Discover => "Find feeds",
        QueueName::Poll => "Poll feeds",
        QueueName::Fetch => "Fetch pages",
        QueueName::Extract => "Read pages",
        QueueName::Remove => "Remove pages",
    },
    jobs: ["Due", "Later", "Under way", "Given up"],
    oldest: |time| format!("What is due the longest has been so for {time}."),
    not_counted: "The numbers of sites, feeds and pages were not counted yet; that is done once a week.",
    counted_at: |moment| format!("The numbers of sites, feeds and pages were counted on {moment}."),
    the_same: "The same",
    for_programs: "for programs",
};

const ITALIAN: Status = Status {
    title: "Stato",
    index: "Indice",
    findable: "Pagine che si possono trovare",
    of_year: |year| format!("del {year}"),
    published: "Ultima pubblicazione",
    ago: |time| format!("{time} fa"),
    crawl: "Siti e pagine",
    sites: "Siti proposti",
    feeds: "Feed",
    accepted: "Pagine accolte",
    pending: "Pagine ancora da valutare",
    rejected: "Pagine non accolte",
    gone: "Pagine sparite",
    holds: "Siti lasciati in pace per ora",
    hold: hold_in_italian,
    no_holds: "Nessuno.",
    last_days: "Gli ultimi 30 giorni",
    polls: "Letture di feed",
    laid: "Siti messi in pausa",
    in_days: |all, most| format!("{all} in tutto, al massimo {most} al giorno."),
    by_day: "Giorno per giorno",
    day: "Giorno (UTC)",
    queues: "Lavoro",
    queue: "Coda",
    stage: |stage| match stage {
        QueueName::Discover => "Trovare i feed",
        QueueName::Poll => "Leggere i feed",
        QueueName::Fetch => "Scaricare pagine",
        QueueName::Extract => "Estrarre i testi",
        QueueName::Remove => "Togliere pagine",
    },
    jobs: ["Ora", "Più tardi", "In corso", "Falliti"],
    oldest: |time| format!("Il lavoro più vecchio aspetta da {time}."),
    not_counted: "I siti, i feed e le pagine non sono ancora stati contati: si fa una volta alla settimana.",
    counted_at: |moment| format!("I siti, i feed e le pagine sono stati contati il {moment}."),
    the_same: "Lo stesso",
    for_programs: "per i programmi",
};

const fn hold_in_english(why: HoldReason) -> &'static str {
    match why {
        HoldReason::Forbidden => "Access refused (402, 403, 451)",
        HoldReason::TooManyRequests => "Too many requests (429)",
        HoldReason::ServerError => "Server errors (5xx)",
        HoldReason::Network => "Not to be reached",
        HoldReason::NotFound => "Nothing at the address that was named",
        HoldReason::Hostile => "Answers beyond the limits",
        HoldReason::Interstitial => "A wall in place of all pages",
        HoldReason::WindowSpent => "Visited enough for this hour",
        HoldReason::Operator => "Left alone by the operator",
        HoldReason::Rest => "Resting for an hour after one refusal or server error",
    }
}

const fn hold_in_italian(why: HoldReason) -> &'static str {
    match why {
        HoldReason::Forbidden => "Accesso rifiutato (402, 403, 451)",
        HoldReason::TooManyRequests => "Troppe richieste (429)",
        HoldReason::ServerError => "Errori del server (5xx)",
        HoldReason::Network => "Non raggiungibili",
        HoldReason::NotFound => "Nulla all’indirizzo indicato",
        HoldReason::Hostile => "Risposte oltre i limiti",
        HoldReason::Interstitial => "Un muro al posto di tutte le pagine",
        HoldReason::WindowSpent => "Visitati abbastanza in quest’ora",
        HoldReason::Operator => "Lasciati in pace dal gestore",
        HoldReason::Rest => "A riposo per un’ora dopo un rifiuto o un errore del server",
    }
}
