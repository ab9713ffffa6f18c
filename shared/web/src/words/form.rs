use crate::language::Language;

/// Texts for any form that is not taken.
#[derive(Debug)]
pub(crate) struct Form {
    /// Label of the hidden field.
    pub(crate) trap: &'static str,
    pub(crate) not_from_here: &'static str,
    pub(crate) too_many: &'static str,
    pub(crate) too_long: &'static str,
    pub(crate) no_form: &'static str,
    pub(crate) trapped: &'static str,
    pub(crate) too_young: &'static str,
    pub(crate) too_old: &'static str,
    pub(crate) forged: &'static str,
    pub(crate) sent_before: &'static str,
    /// Text beside a form that has to be open for a while.
    pub(crate) rush: &'static str,
    /// Text for a form that was sent before that.
    pub(crate) rushed: &'static str,
}

impl Form {
    pub(crate) const fn in_language(language: Language) -> &'static Form {
        language.choose(&ENGLISH, &ITALIAN)
    }
}

const ENGLISH: Form = Form {
    trap: "Leave this field empty",
    not_from_here: "This form has to be sent from this page. Please use the one below.",
    too_many: "That was a lot at once. Please wait a moment and send it again.",
    too_long: "That is too long. Please say it in fewer words.",
    no_form: "That was not sent by the form on this page.",
    trapped: "The hidden field has to stay empty. Please send it once more.",
    too_young: "That was quick. Please wait three seconds and send it again.",
    too_old: "This form had grown old. Here is a fresh one; please send it again.",
    forged: "This form is not one of ours. Here is one; please send it again.",
    sent_before: "This form was sent before. Here is a fresh one.",
    rush: "Many forms are being sent at the moment. This one can be sent once it has been open for a minute.",
    rushed: "Many forms are being sent at the moment. Please wait until this one has been open for a minute, and send it again.",
};

const ITALIAN: Form = Form {
    trap: "Lascia vuoto questo campo",
    not_from_here: "Questo modulo va inviato da questa pagina. Usa quello qui sotto.",
    too_many: "Sono arrivate troppe richieste insieme. Aspetta un momento e invia di nuovo il modulo.",
    too_long: "È troppo lungo. Prova a dirlo con meno parole.",
    no_form: "Non è stato inviato con il modulo di questa pagina.",
    trapped: "Il campo nascosto deve restare vuoto. Invia il modulo ancora una volta.",
    too_young: "Troppo in fretta. Aspetta tre secondi e invia di nuovo il modulo.",
    too_old: "Il modulo era scaduto. Eccone uno nuovo: invialo di nuovo.",
    forged: "Questo modulo non è nostro. Eccone uno: invialo di nuovo.",
    sent_before: "Questo modulo è già stato inviato. Eccone uno nuovo.",
    rush: "In questo momento arrivano molti moduli. Questo si può inviare quando è aperto da un minuto.",
    rushed: "In questo momento arrivano molti moduli. Aspetta che questo sia aperto da un minuto e invialo di nuovo.",
};
