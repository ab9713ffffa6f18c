use crate::language::Language;
use curlew_model::{BackfillLine, BackfillState, Miss, OwnerRequest, PageLine, ReportedState, Way};

/// Texts of the pages for the owners of sites.
#[derive(Debug)]
pub(crate) struct Owner {
    pub(crate) title: &'static str,
    pub(crate) lead: &'static str,
    /// Label of the field.
    pub(crate) field: &'static str,
    pub(crate) begin: &'static str,
    pub(crate) no_site: &'static str,
    pub(crate) keep_this_address: &'static str,
    pub(crate) publish: &'static str,
    pub(crate) dns: &'static str,
    pub(crate) dns_type: &'static str,
    pub(crate) file: &'static str,
    pub(crate) file_how: &'static str,
    pub(crate) meta: &'static str,
    pub(crate) meta_how: &'static str,
    pub(crate) politeness: &'static str,
    pub(crate) look: &'static str,
    pub(crate) look_again: &'static str,
    pub(crate) waiting: &'static str,
    pub(crate) misses: &'static str,
    pub(crate) treatment: &'static str,
    pub(crate) say: &'static str,
    pub(crate) do_block: &'static str,
    pub(crate) block_means: &'static str,
    pub(crate) do_unblock: &'static str,
    pub(crate) do_visit: &'static str,
    pub(crate) visit_means: &'static str,
    pub(crate) do_history_off: &'static str,
    pub(crate) do_history_on: &'static str,
    pub(crate) history_means: &'static str,
    pub(crate) do_report: &'static str,
    pub(crate) do_forget: &'static str,
    pub(crate) forget_means: &'static str,
    pub(crate) sure: &'static str,
    pub(crate) not_sure: &'static str,
    pub(crate) no_request: &'static str,
    pub(crate) unproven: &'static str,
    pub(crate) refused: &'static str,
    /// Text before a moment.
    pub(crate) too_soon: &'static str,
    pub(crate) by_dns_only: &'static str,
    pub(crate) granted: fn(OwnerRequest) -> &'static str,
    /// A request that is not carried out yet.
    pub(crate) waits: fn(OwnerRequest) -> &'static str,
    pub(crate) way: fn(Way) -> &'static str,
    pub(crate) miss: fn(Miss) -> &'static str,
    /// Proven by a way, until a moment.
    pub(crate) proven: fn(&str, &str) -> String,
    pub(crate) block: &'static str,
    pub(crate) blocked_by_nobody: &'static str,
    pub(crate) blocked_by_owner: &'static str,
    pub(crate) blocked_by_operator: &'static str,
    pub(crate) pause: &'static str,
    pub(crate) not_before: &'static str,
    pub(crate) hold: &'static str,
    pub(crate) wall: &'static str,
    /// The time since which a bot wall stands, and its vendor or an empty word.
    pub(crate) wall_since: fn(&str, &str) -> String,
    pub(crate) robots: &'static str,
    pub(crate) lets_in: &'static str,
    pub(crate) keeps_out: &'static str,
    /// robots.txt was read at a moment and is used until another.
    pub(crate) robots_read: fn(&str, &str) -> String,
    pub(crate) robots_text: &'static str,
    pub(crate) what_is_kept: &'static str,
    /// Text before a moment.
    pub(crate) told_at: &'static str,
    pub(crate) not_told: &'static str,
    pub(crate) feeds: &'static str,
    pub(crate) history: &'static str,
    pub(crate) history_is_on: &'static str,
    pub(crate) history_is_off: &'static str,
    pub(crate) pages: &'static str,
    pub(crate) what: &'static str,
    pub(crate) value: &'static str,
    /// A page's state, or the word that it begins with.
    pub(crate) state: fn(ReportedState) -> &'static str,
    /// Times at which a feed was last polled and will be polled next.
    pub(crate) feed: fn(Option<String>, Option<String>) -> String,
    /// A back catalogue, and the number of its pages that were sent.
    pub(crate) history_line: fn(&BackfillLine, String) -> String,
    /// A page's state, the time of that state, and the time at which the page was last seen.
    pub(crate) page: fn(&PageLine, &str, Option<String>) -> String,
}

impl Owner {
    pub(crate) const fn in_language(language: Language) -> &'static Owner {
        language.choose(&ENGLISH, &ITALIAN)
    }
}

const ENGLISH: Owner = Owner {
    title: "For site owners",
    lead: "Prove that a site is yours to see what is stored about it, block it, have it visited again, or have all of it removed.",
    field: "Name of your site",
    begin: "Begin",
    no_site: "Please type the name of a site, such as example.org.",
    keep_this_address: "Keep the address of this page to yourself: anyone who knows it can use this page. It is valid for 90 days.",
    publish: "Publish this, in one of three places",
    dns: "In the DNS",
    dns_type: "As a TXT record of this name (a CNAME record works too). Your site is not contacted for it.",
    file: "In a file",
    file_how: "At this address, with nothing else in it. Redirects are not followed.",
    meta: "On your home page",
    meta_how: "In its head:",
    politeness: "For the file and the home page the crawler obeys robots.txt and keeps its pauses, as always. If you block it, use the DNS. Once you have proved that the site is yours, leave the proof in place for as long as you want to use this page.",
    look: "Check now",
    look_again: "Check the progress",
    waiting: "In progress:",
    misses: "It was not found:",
    treatment: "How your site is treated",
    say: "What you can do",
    do_block: "Block the crawler",
    block_means: "The site disappears from search now, and is not contacted again. You can undo this.",
    do_unblock: "Unblock the crawler",
    do_visit: "Visit again",
    visit_means: "Its feeds and pages are fetched again as soon as pauses allow; at most once a day.",
    do_history_off: "Exclude older posts",
    do_history_on: "Allow older posts",
    history_means: "Besides new posts the crawler may read those of earlier years: a little each day, through feeds and sitemaps. New posts are read either way.",
    do_report: "Refresh this report",
    do_forget: "Remove everything",
    forget_means: "The site is blocked, and texts, images and thumbnails of all its pages are erased at once; remains in files of the index are no longer found, and are deleted within 90 days. Only the addresses are kept, with the day and the reason of their removal.",
    sure: "Yes, remove everything",
    not_sure: "Nothing was removed. Please tick the box as well.",
    no_request: "Unknown request.",
    unproven: "This needs a proof that the site is yours.",
    refused: "This cannot be done: the operator has decided otherwise. Please write to us.",
    too_soon: "This was requested recently. You can request it again on",
    by_dns_only: "Today’s calls to the site for this are used up. The TXT record is looked up within a minute or so; the file and the tag will be checked tomorrow.",
    granted: |request| match request {
        OwnerRequest::Look => "It will be checked within a minute or two, unless there is a queue.",
        OwnerRequest::Report => "The report is being prepared.",
        OwnerRequest::Block => "Blocked. The site has disappeared from search, and is not contacted again.",
        OwnerRequest::Unblock => "The site is being unblocked.",
        OwnerRequest::Visit => "Visits to feeds and pages are queued.",
        OwnerRequest::HistoryOff => "Older posts are excluded from now on; new ones are read as before.",
        OwnerRequest::HistoryOn => "Older posts may be read, a little each day.",
        OwnerRequest::Forget => "The site has disappeared from search; everything stored about it is being removed.",
    },
    waits: |request| match request {
        OwnerRequest::Look => "looking for the proof",
        OwnerRequest::Report => "preparing the report",
        OwnerRequest::Block => "blocking",
        OwnerRequest::Unblock => "unblocking",
        OwnerRequest::Visit => "queueing visits",
        OwnerRequest::HistoryOff | OwnerRequest::HistoryOn => "saving the decision about older posts",
        OwnerRequest::Forget => "removing everything",
    },
    way: |way| match way {
        Way::Dns => "a TXT record",
        Way::File => "the file",
        Way::Meta => "the home page",
    },
    miss: |miss| match miss {
        Miss::Absent => "there is nothing",
        Miss::Other => "something else is there",
        Miss::Redirect => "it leads elsewhere",
        Miss::Robots => "robots.txt blocks us, so it was not checked",
        Miss::Blocked => "the site is blocked, so it was not checked",
        Miss::Held => "the site is on hold, so it was not checked",
        Miss::Unreachable => "it could not be fetched",
    },
    proven: |way, until| format!("The site is yours, as proved by {way}. The proof is valid until {until}."),
    block: "Blocked",
    blocked_by_nobody: "no",
    blocked_by_owner: "yes, by an owner",
    blocked_by_operator: "yes, by the operator",
    pause: "Time between two calls, at least",
    not_before: "No call before",
    hold: "On hold until",
    wall: "Bot wall",
    wall_since: |since, vendor| {
        let vendor = if vendor.is_empty() { String::new() } else { format!(" ({vendor})") };
        format!("since {since}{vendor}. Its pages wait; let the crawler through by its user agent or its signature.")
    },
    robots: "robots.txt",
    lets_in: "lets us in;",
    keeps_out: "keeps us out;",
    robots_read: |at, until| format!("read on {at}, used until {until}"),
    robots_text: "robots.txt as it was read",
    what_is_kept: "What is kept",
    told_at: "As of",
    not_told: "This is being put together.",
    feeds: "Feeds",
    history: "Older posts",
    history_is_on: "may be read, a little each day",
    history_is_off: "are left out",
    pages: "Pages, the newest first",
    what: "What",
    value: "Value",
    state: |state| match state {
        ReportedState::Pending => "in progress",
        ReportedState::Accepted => "can be found",
        ReportedState::Rejected => "rejected",
        ReportedState::Gone => "removed",
    },
    feed: |last, next| {
        let last = last.map_or_else(|| "not read yet".to_owned(), |at| format!("read on {at}"));
        next.map_or_else(|| format!("{last}, not read any more"), |at| format!("{last}, next on {at}"))
    },
    history_line: |line, sent| match (&line.state, line.days) {
        (BackfillState::Running, Some(days)) if line.is_least => {
            format!("{sent} pages so far, at least {days} more days")
        }
        (BackfillState::Running, Some(days)) => format!("{sent} pages so far, about {days} more days"),
        (BackfillState::Running, None) => format!("{sent} pages so far"),
        (BackfillState::Done { reason }, _) => format!("{sent} pages, done: {reason}"),
        (BackfillState::GivenUp { reason }, _) => format!("{sent} pages, given up: {reason}"),
    },
    page: |page, at, checked| {
        let checked = checked.map(|at| format!(", looked at again on {at}")).unwrap_or_default();
        format!("{}{} since {at}{checked}", (ENGLISH.state)(page.state), reason(page))
    },
};

const ITALIAN: Owner = Owner {
    title: "Per chi gestisce un sito",
    lead: "Dimostra che un sito è tuo: potrai vedere che cosa se ne conserva, bloccarlo, farlo visitare di nuovo o farne cancellare tutto.",
    field: "Nome del tuo sito",
    begin: "Comincia",
    no_site: "Scrivi il nome di un sito, per esempio example.org.",
    keep_this_address: "Tieni per te l’indirizzo di questa pagina: chi lo conosce può fare quello che qui è offerto. Vale 90 giorni.",
    publish: "Pubblica questo codice in uno di tre posti",
    dns: "Nel DNS",
    dns_type: "Come record TXT di questo nome (va bene anche un CNAME). Il tuo sito non viene chiamato.",
    file: "In un file",
    file_how: "A questo indirizzo, e nient’altro. I rinvii non vengono seguiti.",
    meta: "Nella pagina iniziale",
    meta_how: "Nell’intestazione (head):",
    politeness: "Per il file e per la pagina iniziale il crawler legge robots.txt e rispetta le pause, come sempre. Se non può entrare, la via è il DNS. Dopo aver dimostrato che il sito è tuo, lascia la prova dov’è finché vuoi avere voce in capitolo.",
    look: "Controlla adesso",
    look_again: "Guarda se è fatto",
    waiting: "In corso:",
    misses: "Non è stato trovato:",
    treatment: "Come è trattato il tuo sito",
    say: "Che cosa puoi fare",
    do_block: "Blocca il crawler",
    block_means: "Da subito del sito non si trova più nulla e non viene più chiamato. Puoi tornare indietro.",
    do_unblock: "Togli il blocco",
    do_visit: "Fai visitare di nuovo",
    visit_means: "I feed vengono letti e le pagine ricontrollate, appena le pause lo consentono; una volta al giorno.",
    do_history_off: "Lascia fuori gli articoli vecchi",
    do_history_on: "Fai leggere anche gli articoli vecchi",
    history_means: "Oltre agli articoli nuovi il crawler può leggere quelli degli anni passati: pochi al giorno, tramite feed e sitemap. Quelli nuovi si leggono comunque.",
    do_report: "Dimmi di nuovo che cosa si conserva",
    do_forget: "Cancella tutto",
    forget_means: "Il sito viene bloccato; testi, immagini e miniature di tutte le sue pagine sono cancellati subito; ciò che ne resta nei file dell’indice non si trova più e sparisce entro 90 giorni. Restano gli indirizzi, con il giorno e il motivo della cancellazione.",
    sure: "Sì, cancella tutto",
    not_sure: "Non è stato cancellato nulla. Metti anche il segno di spunta.",
    no_request: "Questo qui non si può chiedere.",
    unproven: "Per questo serve la prova che il sito è tuo.",
    refused: "Non si può fare: il gestore ha deciso diversamente. Scrivici.",
    too_soon: "È stato chiesto da poco. Si può chiedere di nuovo il",
    by_dns_only: "Per questo il sito si chiama poche volte al giorno, e per oggi basta. Il record TXT si cerca ora, entro un minuto circa; il file e il tag non prima di domani.",
    granted: |request| match request {
        OwnerRequest::Look => "Sarà controllato entro un minuto o due, se altri non vengono prima.",
        OwnerRequest::Report => "Lo stiamo raccogliendo.",
        OwnerRequest::Block => "Bloccato. Da adesso del sito non si trova più nulla e non viene più chiamato.",
        OwnerRequest::Unblock => "Il blocco viene tolto.",
        OwnerRequest::Visit => "Feed e pagine sono in coda per una visita.",
        OwnerRequest::HistoryOff => "Da adesso gli articoli vecchi restano fuori; quelli nuovi si leggono come prima.",
        OwnerRequest::HistoryOn => "Gli articoli vecchi si possono leggere, pochi al giorno.",
        OwnerRequest::Forget => "Da adesso del sito non si trova più nulla; ciò che se ne conserva viene cancellato.",
    },
    waits: |request| match request {
        OwnerRequest::Look => "si cerca la prova",
        OwnerRequest::Report => "si raccoglie ciò che si conserva",
        OwnerRequest::Block => "si blocca",
        OwnerRequest::Unblock => "si toglie il blocco",
        OwnerRequest::Visit => "si mettono in coda le visite",
        OwnerRequest::HistoryOff | OwnerRequest::HistoryOn => "si annota la scelta sugli articoli vecchi",
        OwnerRequest::Forget => "si cancella tutto",
    },
    way: |way| match way {
        Way::Dns => "un record TXT",
        Way::File => "il file",
        Way::Meta => "la pagina iniziale",
    },
    miss: |miss| match miss {
        Miss::Absent => "non c’è nulla",
        Miss::Other => "c’è qualcos’altro",
        Miss::Redirect => "rinvia altrove",
        Miss::Robots => "robots.txt non ci lascia entrare, quindi non si è guardato",
        Miss::Blocked => "il sito è bloccato, quindi non si è guardato",
        Miss::Held => "il sito viene lasciato in pace per un po’, quindi non si è guardato",
        Miss::Unreachable => "non si è potuto leggere",
    },
    proven: |way, until| format!("Il sito è tuo: lo dice {way}. Vale fino al {until}."),
    block: "Bloccato",
    blocked_by_nobody: "no",
    blocked_by_owner: "sì, da chi lo gestisce",
    blocked_by_operator: "sì, dal gestore di questo motore",
    pause: "Tempo tra due chiamate, almeno",
    not_before: "Nessuna chiamata prima del",
    hold: "Lasciato in pace fino al",
    wall: "Muro contro i bot",
    wall_since: |since, vendor| {
        let vendor = if vendor.is_empty() { String::new() } else { format!(" ({vendor})") };
        format!(
            "dal {since}{vendor}. Le pagine aspettano; lascia passare il crawler per il suo user agent o la sua firma."
        )
    },
    robots: "robots.txt",
    lets_in: "ci lascia entrare;",
    keeps_out: "non ci lascia entrare;",
    robots_read: |at, until| format!("letto il {at}, valido fino al {until}"),
    robots_text: "robots.txt come è stato letto",
    what_is_kept: "Che cosa si conserva",
    told_at: "Situazione del",
    not_told: "Lo stiamo raccogliendo.",
    feeds: "Feed",
    history: "Articoli vecchi",
    history_is_on: "si possono leggere, pochi al giorno",
    history_is_off: "restano fuori",
    pages: "Pagine, prima le più recenti",
    what: "Che cosa",
    value: "Valore",
    state: |state| match state {
        ReportedState::Pending => "in lavorazione",
        ReportedState::Accepted => "si può trovare",
        ReportedState::Rejected => "non presa",
        ReportedState::Gone => "tolta",
    },
    feed: |last, next| {
        let last = last.map_or_else(|| "non ancora letto".to_owned(), |at| format!("letto il {at}"));
        next.map_or_else(|| format!("{last}, non più letto"), |at| format!("{last}, poi il {at}"))
    },
    history_line: |line, sent| match (&line.state, line.days) {
        (BackfillState::Running, Some(days)) if line.is_least => {
            format!("finora {sent} pagine, giorni ancora almeno {days}")
        }
        (BackfillState::Running, Some(days)) => format!("finora {sent} pagine, giorni ancora circa {days}"),
        (BackfillState::Running, None) => format!("finora {sent} pagine"),
        (BackfillState::Done { reason }, _) => format!("{sent} pagine, finito: {reason}"),
        (BackfillState::GivenUp { reason }, _) => format!("{sent} pagine, interrotto: {reason}"),
    },
    page: |page, at, checked| {
        let checked = checked.map(|at| format!(", ricontrollata il {at}")).unwrap_or_default();
        format!("{}{} dal {at}{checked}", (ITALIAN.state)(page.state), reason(page))
    },
};

/// Returns the reason for a page's state in brackets, if there is one.
fn reason(page: &PageLine) -> String {
    page.reason.as_ref().map(|reason| format!(" ({})", reason.replace('_', " "))).unwrap_or_default()
}
