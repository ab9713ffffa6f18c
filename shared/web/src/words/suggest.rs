use crate::language::Language;
use curlew_stages::operator::suggest::{Refusal, RefusedAddress};

/// Texts of the form for suggestions, and of its answers.
#[derive(Debug)]
pub(crate) struct Suggest {
    pub(crate) title: &'static str,
    /// Label of the field.
    pub(crate) field: &'static str,
    pub(crate) button: &'static str,
    pub(crate) note: &'static str,
    pub(crate) taken: fn(&str) -> String,
    pub(crate) known: fn(&str) -> String,
    pub(crate) refused: fn(&RefusedAddress) -> String,
    pub(crate) no_address: &'static str,
    pub(crate) address_too_long: &'static str,
    pub(crate) not_of_the_web: &'static str,
}

impl Suggest {
    pub(crate) const fn of(language: Language) -> &'static Suggest {
        language.choose(&ENGLISH, &ITALIAN)
    }
}

const ENGLISH: Suggest = Suggest {
    title: "Suggest a site",
    field: "Address of the site",
    button: "Suggest it",
    note: "Only the address is kept. Nothing is fetched at once: it waits for the crawler’s next round.",
    taken: |url| format!("Thank you. {url} is written down and will be looked at on the next round."),
    known: |url| format!("Thank you. {url} is already known here."),
    refused: RefusedAddress::to_string,
    no_address: "Please type the address of a site.",
    address_too_long: "This address is too long.",
    not_of_the_web: "This is not an address of the web. It should look like https://example.org.",
};

const ITALIAN: Suggest = Suggest {
    title: "Proponi un sito",
    field: "Indirizzo del sito",
    button: "Proponi",
    note: "Si conserva solo l’indirizzo. Nulla viene scaricato subito: il crawler se ne occuperà al prossimo giro.",
    taken: |url| format!("Grazie. {url} è stato annotato e sarà esaminato al prossimo giro."),
    known: |url| format!("Grazie. {url} è già noto."),
    refused: refused_in_italian,
    no_address: "Scrivi l’indirizzo di un sito.",
    address_too_long: "Questo indirizzo è troppo lungo.",
    not_of_the_web: "Questo non è un indirizzo del web. Dovrebbe avere la forma https://example.org.",
};

/// Returns the refusal in Italian. Details of a malformed form or address exist in English only, and are left out.
fn refused_in_italian(refused: &RefusedAddress) -> String {
    let typed = &refused.typed;
    match &refused.why {
        Refusal::Form(_) => format!("«{typed}» non si può visitare: non è un indirizzo valido."),
        Refusal::Excluded(rule) => format!("«{typed}» non si può visitare: è escluso dalla regola {rule}."),
        Refusal::Unsafe(_) => format!("«{typed}» non si può visitare: non è un indirizzo pubblico del web."),
        Refusal::Blocked => format!("«{typed}» non si può visitare: il sito è bloccato."),
        Refusal::SiteFull => "Di questo sito è già stato proposto molto, oggi: torna domani.".to_owned(),
        Refusal::DayFull => "Sono già stati proposti molti siti, oggi: torna domani.".to_owned(),
        Refusal::NoName => format!("«{typed}» non ha un nome, solo un indirizzo numerico."),
        Refusal::Shared => format!("«{typed}» non si può rivendicare: i nomi che ne dipendono sono di molti."),
    }
}
