use crate::language::Language;

/// A page that only shows a message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Said {
    pub(crate) heading: &'static str,
    pub(crate) text: &'static str,
}

/// The pages that only show a message.
#[derive(Debug)]
pub(crate) struct Message {
    /// The link at the end of each of them.
    pub(crate) back: &'static str,
    pub(crate) no_such_page: Said,
    pub(crate) wrong_method: Said,
    pub(crate) wrong_host: Said,
    pub(crate) internal: Said,
    pub(crate) too_many: Said,
    pub(crate) unavailable: Said,
}

impl Message {
    pub(crate) const fn in_language(language: Language) -> &'static Message {
        language.choose(&ENGLISH, &ITALIAN)
    }
}

const ENGLISH: Message = Message {
    back: "Back to the search",
    no_such_page: Said { heading: "Nothing here", text: "There is no page at this address." },
    wrong_method: Said { heading: "Not like this", text: "This address does not take requests of this kind." },
    wrong_host: Said {
        heading: "Not under this name",
        text: "These pages are for this machine, so they open at localhost or at a numeric address. For others to reach them by a name, set base_url of [web] to it.",
    },
    internal: Said {
        heading: "That went wrong",
        text: "Something went wrong on our side. It has been written down; please try again in a while.",
    },
    too_many: Said {
        heading: "One moment, please",
        text: "That was a lot at once. Please wait a moment and try again.",
    },
    unavailable: Said {
        heading: "Please come back later",
        text: "What is behind this page is out of reach at the moment. Please try again in a while.",
    },
};

const ITALIAN: Message = Message {
    back: "Torna alla ricerca",
    no_such_page: Said { heading: "Qui non c’è nulla", text: "A questo indirizzo non c’è nessuna pagina." },
    wrong_method: Said { heading: "Così non va", text: "Questo indirizzo non accetta richieste di questo tipo." },
    wrong_host: Said {
        heading: "Non con questo nome",
        text: "Queste pagine sono per questo computer: si aprono con localhost o con un indirizzo numerico. Perché si raggiungano con un nome, indicalo in base_url di [web].",
    },
    internal: Said {
        heading: "Qualcosa è andato storto",
        text: "C’è stato un errore da parte nostra. Ne abbiamo preso nota: riprova tra qualche minuto.",
    },
    too_many: Said {
        heading: "Un momento, per favore",
        text: "Sono arrivate troppe richieste insieme. Aspetta un momento e riprova.",
    },
    unavailable: Said {
        heading: "Riprova più tardi",
        text: "In questo momento i dati di questa pagina non sono raggiungibili. Riprova tra qualche minuto.",
    },
};
