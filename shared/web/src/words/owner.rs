use crate::language::Language::{English, Italian};
use curlew_model::{BackfillLine, BackfillState, Miss, OwnerRequest, PageLine, ReportedState, Way};

sentences! {
    /// Texts of the pages for the owners of sites.
    struct Owner {
        title = "For site owners" => "Per chi gestisce un sito";
        lead =
            "Prove that a site is yours to see what is stored about it, block it, have it visited again, or have all \
             of it removed." =>
            "Dimostra che un sito è tuo: potrai vedere che cosa se ne conserva, bloccarlo, farlo visitare di nuovo o \
             farne cancellare tutto.";
        /// Label of the field.
        field = "Name of your site" => "Nome del tuo sito";
        begin = "Begin" => "Comincia";
        no_site = "Please type the name of a site, such as example.org." =>
            "Scrivi il nome di un sito, per esempio example.org.";
        keep_this_address =
            "Keep the address of this page to yourself: anyone who knows it can use this page. It is valid for 90 \
             days." =>
            "Tieni per te l’indirizzo di questa pagina: chi lo conosce può fare quello che qui è offerto. Vale 90 \
             giorni.";
        publish = "Publish this, in one of three places" => "Pubblica questo codice in uno di tre posti";
        dns = "In the DNS" => "Nel DNS";
        dns_type = "As a TXT record of this name (a CNAME record works too). Your site is not contacted for it." =>
            "Come record TXT di questo nome (va bene anche un CNAME). Il tuo sito non viene chiamato.";
        file = "In a file" => "In un file";
        file_how = "At this address, with nothing else in it. Redirects are not followed." =>
            "A questo indirizzo, e nient’altro. I rinvii non vengono seguiti.";
        meta = "On your home page" => "Nella pagina iniziale";
        meta_how = "In its head:" => "Nell’intestazione (head):";
        politeness =
            "For the file and the home page the crawler obeys robots.txt and keeps its pauses, as always. If you block \
             it, use the DNS. Once you have proved that the site is yours, leave the proof in place for as long as you \
             want to use this page." =>
            "Per il file e per la pagina iniziale il crawler legge robots.txt e rispetta le pause, come sempre. Se non \
             può entrare, la via è il DNS. Dopo aver dimostrato che il sito è tuo, lascia la prova dov’è finché vuoi \
             avere voce in capitolo.";
        look = "Check now" => "Controlla adesso";
        look_again = "Check the progress" => "Guarda se è fatto";
        waiting = "In progress:" => "In corso:";
        misses = "It was not found:" => "Non è stato trovato:";
        treatment = "How your site is treated" => "Come è trattato il tuo sito";
        say = "What you can do" => "Che cosa puoi fare";
        do_block = "Block the crawler" => "Blocca il crawler";
        block_means = "The site disappears from search now, and is not contacted again. You can undo this." =>
            "Da subito del sito non si trova più nulla e non viene più chiamato. Puoi tornare indietro.";
        do_unblock = "Unblock the crawler" => "Togli il blocco";
        do_visit = "Visit again" => "Fai visitare di nuovo";
        visit_means = "Its feeds and pages are fetched again as soon as pauses allow; at most once a day." =>
            "I feed vengono letti e le pagine ricontrollate, appena le pause lo consentono; una volta al giorno.";
        do_history_off = "Exclude older posts" => "Lascia fuori gli articoli vecchi";
        do_history_on = "Allow older posts" => "Fai leggere anche gli articoli vecchi";
        history_means =
            "Besides new posts the crawler may read those of earlier years: a little each day, through feeds and \
             sitemaps. New posts are read either way." =>
            "Oltre agli articoli nuovi il crawler può leggere quelli degli anni passati: pochi al giorno, tramite feed \
             e sitemap. Quelli nuovi si leggono comunque.";
        do_report = "Refresh this report" => "Dimmi di nuovo che cosa si conserva";
        do_forget = "Remove everything" => "Cancella tutto";
        forget_means =
            "The site is blocked, and texts, images and thumbnails of all its pages are erased at once; remains in \
             files of the index are no longer found, and are deleted within 90 days. Only the addresses are kept, with \
             the day and the reason of their removal." =>
            "Il sito viene bloccato; testi, immagini e miniature di tutte le sue pagine sono cancellati subito; ciò \
             che ne resta nei file dell’indice non si trova più e sparisce entro 90 giorni. Restano gli indirizzi, con \
             il giorno e il motivo della cancellazione.";
        sure = "Yes, remove everything" => "Sì, cancella tutto";
        not_sure = "Nothing was removed. Please tick the box as well." =>
            "Non è stato cancellato nulla. Metti anche il segno di spunta.";
        no_request = "Unknown request." => "Questo qui non si può chiedere.";
        unproven = "This needs a proof that the site is yours." => "Per questo serve la prova che il sito è tuo.";
        refused = "This cannot be done: the operator has decided otherwise. Please write to us." =>
            "Non si può fare: il gestore ha deciso diversamente. Scrivici.";
        /// Text in front of a date with time.
        too_soon = "This was requested recently. You can request it again on" =>
            "È stato chiesto da poco. Si può chiedere di nuovo il";
        by_dns_only =
            "Today’s calls to the site for this are used up. The TXT record is looked up within a minute or so; the \
             file and the tag will be checked tomorrow." =>
            "Per questo il sito si chiama poche volte al giorno, e per oggi basta. Il record TXT si cerca ora, entro \
             un minuto circa; il file e il tag non prima di domani.";
        /// Takes the place of the proof, and the time until which the proof is valid.
        proven: fn(&str, &str) -> String =
            |way, until| format!("The site is yours, as proved by {way}. The proof is valid until {until}.") =>
            |way, until| format!("Il sito è tuo: lo dice {way}. Vale fino al {until}.");
        block = "Blocked" => "Bloccato";
        blocked_by_nobody = "no" => "no";
        blocked_by_owner = "yes, by an owner" => "sì, da chi lo gestisce";
        blocked_by_operator = "yes, by the operator" => "sì, dal gestore di questo motore";
        pause = "Time between two calls, at least" => "Tempo tra due chiamate, almeno";
        not_before = "No call before" => "Nessuna chiamata prima del";
        hold = "On hold until" => "Lasciato in pace fino al";
        wall = "Bot wall" => "Muro contro i bot";
        /// Takes the time since which there is a bot wall, with the wall's vendor if known.
        wall_since: fn(&str) -> String =
            |since| format!("since {since}. Its pages wait; let the crawler through by its user agent or its \
                             signature.") =>
            |since| format!("dal {since}. Le pagine aspettano; lascia passare il crawler per il suo user agent o la \
                             sua firma.");
        robots = "robots.txt" => "robots.txt";
        lets_in = "lets us in;" => "ci lascia entrare;";
        keeps_out = "keeps us out;" => "non ci lascia entrare;";
        /// Takes the time at which robots.txt was read, and the time until which it is used.
        robots_read: fn(&str, &str) -> String = |at, until| format!("read on {at}, used until {until}") =>
            |at, until| format!("letto il {at}, valido fino al {until}");
        robots_text = "robots.txt as it was read" => "robots.txt come è stato letto";
        what_is_kept = "What is kept" => "Che cosa si conserva";
        /// Text in front of a date with time.
        told_at = "As of" => "Situazione del";
        not_told = "This is being put together." => "Lo stiamo raccogliendo.";
        feeds = "Feeds" => "Feed";
        history = "Older posts" => "Articoli vecchi";
        history_is_on = "may be read, a little each day" => "si possono leggere, pochi al giorno";
        history_is_off = "are left out" => "restano fuori";
        pages = "Pages, the newest first" => "Pagine, prima le più recenti";
        what = "What" => "Che cosa";
        value = "Value" => "Valore";
        /// Takes the times of a feed's last poll and next poll.
        feed: fn(Option<String>, Option<String>) -> String = |last, next| {
            let last = last.map_or_else(|| "not read yet".to_owned(), |at| format!("read on {at}"));
            next.map_or_else(|| format!("{last}, not read any more"), |at| format!("{last}, next on {at}"))
        } => |last, next| {
            let last = last.map_or_else(|| "non ancora letto".to_owned(), |at| format!("letto il {at}"));
            next.map_or_else(|| format!("{last}, non più letto"), |at| format!("{last}, poi il {at}"))
        };
        /// Takes a back catalogue, and the number of its pages that were sent to the queue.
        history_line: fn(&BackfillLine, String) -> String = |line, sent| match (&line.state, line.days) {
            (BackfillState::Running, Some(days)) if line.is_least => {
                format!("{sent} pages so far, at least {days} more days")
            }
            (BackfillState::Running, Some(days)) => format!("{sent} pages so far, about {days} more days"),
            (BackfillState::Running, None) => format!("{sent} pages so far"),
            (BackfillState::Done { reason }, _) => format!("{sent} pages, done: {reason}"),
            (BackfillState::GivenUp { reason }, _) => format!("{sent} pages, given up: {reason}"),
        } => |line, sent| match (&line.state, line.days) {
            (BackfillState::Running, Some(days)) if line.is_least => {
                format!("finora {sent} pagine, giorni ancora almeno {days}")
            }
            (BackfillState::Running, Some(days)) => format!("finora {sent} pagine, giorni ancora circa {days}"),
            (BackfillState::Running, None) => format!("finora {sent} pagine"),
            (BackfillState::Done { reason }, _) => format!("{sent} pagine, finito: {reason}"),
            (BackfillState::GivenUp { reason }, _) => format!("{sent} pagine, interrotto: {reason}"),
        };
        /// Takes a page, the time of its state, and the time of its last re-check.
        page: fn(&PageLine, &str, Option<String>) -> String = |page, at, checked| {
            let checked = checked.map(|at| format!(", looked at again on {at}")).unwrap_or_default();
            format!("{}{} since {at}{checked}", state(English, page.state), reason(page))
        } => |page, at, checked| {
            let checked = checked.map(|at| format!(", ricontrollata il {at}")).unwrap_or_default();
            format!("{}{} dal {at}{checked}", state(Italian, page.state), reason(page))
        };
    }
}

/// Returns the reason for a page's state in parentheses, or an empty text if there is none.
fn reason(page: &PageLine) -> String {
    page.reason.as_ref().map(|reason| format!(" ({})", reason.replace('_', " "))).unwrap_or_default()
}

sentences! {
    /// Returns the confirmation of a granted request.
    fn granted(OwnerRequest) {
        Look = "It will be checked within a minute or two, unless there is a queue." =>
            "Sarà controllato entro un minuto o due, se altri non vengono prima.";
        Report = "The report is being prepared." => "Lo stiamo raccogliendo.";
        Block = "Blocked. The site has disappeared from search, and is not contacted again." =>
            "Bloccato. Da adesso del sito non si trova più nulla e non viene più chiamato.";
        Unblock = "The site is being unblocked." => "Il blocco viene tolto.";
        Visit = "Visits to feeds and pages are queued." => "Feed e pagine sono in coda per una visita.";
        HistoryOff = "Older posts are excluded from now on; new ones are read as before." =>
            "Da adesso gli articoli vecchi restano fuori; quelli nuovi si leggono come prima.";
        HistoryOn = "Older posts may be read, a little each day." =>
            "Gli articoli vecchi si possono leggere, pochi al giorno.";
        Forget = "The site has disappeared from search; everything stored about it is being removed." =>
            "Da adesso del sito non si trova più nulla; ciò che se ne conserva viene cancellato.";
    }

    /// Returns the name of a request that is not carried out yet.
    fn waits(OwnerRequest) {
        Look = "looking for the proof" => "si cerca la prova";
        Report = "preparing the report" => "si raccoglie ciò che si conserva";
        Block = "blocking" => "si blocca";
        Unblock = "unblocking" => "si toglie il blocco";
        Visit = "queueing visits" => "si mettono in coda le visite";
        HistoryOff | HistoryOn = "saving the decision about older posts" => "si annota la scelta sugli articoli vecchi";
        Forget = "removing everything" => "si cancella tutto";
    }

    /// Returns the name of a proof's place.
    fn way(Way) {
        Dns = "a TXT record" => "un record TXT";
        File = "the file" => "il file";
        Meta = "the home page" => "la pagina iniziale";
    }

    /// Returns why a proof was not found in its place.
    fn miss(Miss) {
        Absent = "there is nothing" => "non c’è nulla";
        Other = "something else is there" => "c’è qualcos’altro";
        Redirect = "it leads elsewhere" => "rinvia altrove";
        Robots = "robots.txt blocks us, so it was not checked" =>
            "robots.txt non ci lascia entrare, quindi non si è guardato";
        Blocked = "the site is blocked, so it was not checked" => "il sito è bloccato, quindi non si è guardato";
        Held = "the site is on hold, so it was not checked" =>
            "il sito viene lasciato in pace per un po’, quindi non si è guardato";
        Unreachable = "it could not be fetched" => "non si è potuto leggere";
    }

    /// Returns the name of a page's state.
    fn state(ReportedState) {
        Pending = "in progress" => "in lavorazione";
        Accepted = "can be found" => "si può trovare";
        Rejected = "rejected" => "non presa";
        Gone = "removed" => "tolta";
    }
}
