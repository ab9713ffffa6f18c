/// A page that only shows a message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Said {
    pub(crate) heading: &'static str,
    pub(crate) text: &'static str,
}

const fn said(heading: &'static str, text: &'static str) -> Said {
    Said { heading, text }
}

sentences! {
    /// The pages that only show a message.
    struct Message {
        /// Text of the link at the end of these pages.
        back = "Back to the search" => "Torna alla ricerca";
        no_such_page: Said = said("Nothing here", "There is no page at this address.") =>
            said("Qui non c’è nulla", "A questo indirizzo non c’è nessuna pagina.");
        wrong_method: Said = said("Not like this", "This address does not take requests of this kind.") =>
            said("Così non va", "Questo indirizzo non accetta richieste di questo tipo.");
        wrong_host: Said =
            said("Not under this name", "These pages are for this machine, so they open at localhost or at a numeric \
                  address. For others to reach them by a name, set base_url of [web] to it.") =>
            said("Non con questo nome", "Queste pagine sono per questo computer: si aprono con localhost o con un \
                  indirizzo numerico. Perché si raggiungano con un nome, indicalo in base_url di [web].");
        internal: Said =
            said("That went wrong", "Something went wrong on our side. It has been written down; please try again in a \
                  while.") =>
            said("Qualcosa è andato storto", "C’è stato un errore da parte nostra. Ne abbiamo preso nota: riprova tra \
                  qualche minuto.");
        too_many: Said = said("One moment, please", "That was a lot at once. Please wait a moment and try again.") =>
            said("Un momento, per favore", "Sono arrivate troppe richieste insieme. Aspetta un momento e riprova.");
        unavailable: Said =
            said("Please come back later", "What is behind this page is out of reach at the moment. Please try again \
                  in a while.") =>
            said("Riprova più tardi", "In questo momento i dati di questa pagina non sono raggiungibili. Riprova tra \
                  qualche minuto.");
    }
}
