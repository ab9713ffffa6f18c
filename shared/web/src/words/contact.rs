use crate::language::Language;
use curlew_people::messages::About;

/// Texts of the form for messages to the operator.
#[derive(Debug)]
pub(crate) struct Contact {
    pub(crate) title: &'static str,
    pub(crate) about: &'static str,
    pub(crate) abouts: [(About, &'static str, &'static str); 4],
    pub(crate) address: &'static str,
    pub(crate) text: &'static str,
    pub(crate) reply_to: &'static str,
    pub(crate) button: &'static str,
    pub(crate) note: &'static str,
    pub(crate) taken: &'static str,
    pub(crate) full: &'static str,
    pub(crate) enough: &'static str,
    pub(crate) empty: &'static str,
    pub(crate) too_long: &'static str,
    pub(crate) no_mail_address: &'static str,
}

impl Contact {
    pub(crate) const fn in_language(language: Language) -> &'static Contact {
        language.choose(&ENGLISH, &ITALIAN)
    }
}

const ENGLISH: Contact = Contact {
    title: "Write to us",
    about: "Topic",
    abouts: [
        (About::Question, "question", "A question, or something else"),
        (About::Crawler, "crawler", "The crawler behaves badly"),
        (About::Abuse, "abuse", "Something should not be findable here"),
        (About::Removal, "removal", "Please remove my site"),
    ],
    address: "Page or site (optional)",
    text: "Your message",
    reply_to: "Your e-mail address, for an answer (optional)",
    button: "Send it",
    note: "Your message is kept for at most 30 days, and nothing else about you. It changes nothing by itself: a person reads it.",
    taken: "Thank you. The operator will read it.",
    full: "The daily limit for messages has been reached. Please come back tomorrow.",
    enough: "You have sent as many messages today as one sender may. Please come back tomorrow.",
    empty: "Please write a message.",
    too_long: "That is too long: the message may have 2,000 characters, and the addresses less.",
    no_mail_address: "This is not an e-mail address. Please correct it, or leave the field empty.",
};

const ITALIAN: Contact = Contact {
    title: "Scrivici",
    about: "Di che cosa si tratta",
    abouts: [
        (About::Question, "question", "Una domanda, o qualcos’altro"),
        (About::Crawler, "crawler", "Il crawler si comporta male"),
        (About::Abuse, "abuse", "Qui si trova qualcosa che non si dovrebbe trovare"),
        (About::Removal, "removal", "Vorrei far togliere un mio sito"),
    ],
    address: "Pagina o sito (facoltativo)",
    text: "Il tuo messaggio",
    reply_to: "Il tuo indirizzo e-mail, per una risposta (facoltativo)",
    button: "Invia",
    note: "Ciò che scrivi si conserva al massimo per 30 giorni, e di te nient’altro. Da solo non cambia nulla: lo legge una persona.",
    taken: "Grazie. Il gestore lo leggerà.",
    full: "Oggi è stato scritto tanto che non si prende altro. Torna domani.",
    enough: "Oggi hai già inviato quanti messaggi può inviare un mittente. Torna domani.",
    empty: "Scrivi un messaggio.",
    too_long: "È troppo lungo: il messaggio può avere 2.000 caratteri, gli indirizzi meno.",
    no_mail_address: "Questo non è un indirizzo e-mail. Correggilo o lascialo vuoto.",
};
