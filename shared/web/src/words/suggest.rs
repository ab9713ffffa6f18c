use crate::language::Language;
use curlew_people::suggest::{Refusal, RefusedAddress};

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
    /// Text for a sender who has used up the day's allowance.
    pub(crate) enough: &'static str,
    pub(crate) refused: fn(&RefusedAddress) -> String,
    pub(crate) no_address: &'static str,
    pub(crate) address_too_long: &'static str,
    pub(crate) not_of_the_web: &'static str,
}

impl Suggest {
    pub(crate) const fn in_language(language: Language) -> &'static Suggest {
        language.choose(&ENGLISH, &ITALIAN)
    }
}

const ENGLISH: Suggest = Suggest {
    title: "Suggest a site",
    field: "Address of the site",
    button: "Suggest it",
    note: "What happens next: within a day the crawler reads the site’s robots.txt and home page, looks for a feed, and \
           fetches what the feed lists, a page a second at most. Its pages can be found a few minutes after that. Only \
           the address is kept.",
    taken: |url| format!("Thank you. {url} is written down. The crawler looks for its feed within a day."),
    known: |url| format!("Thank you. {url} is already known here."),
    enough: "You have suggested as many sites today as one sender may. Please come back tomorrow.",
    refused: RefusedAddress::to_string,
    no_address: "Please type the address of a site.",
    address_too_long: "This address is too long.",
    not_of_the_web: "This is not an address of the web. It should look like https://example.org.",
};

const ITALIAN: Suggest = Suggest {
    title: "Proponi un sito",
    field: "Indirizzo del sito",
    button: "Proponi",
    note: "Che cosa succede poi: entro un giorno il crawler legge il robots.txt e la pagina iniziale del sito, cerca un \
           feed e scarica le pagine che il feed elenca, al massimo una al secondo. Pochi minuti dopo si possono \
           trovare. Si conserva solo l’indirizzo.",
    taken: |url| format!("Grazie. {url} è stato annotato. Entro un giorno il crawler ne cercherà il feed."),
    known: |url| format!("Grazie. {url} è già noto."),
    enough: "Oggi hai già proposto quanti siti può proporre un mittente. Torna domani.",
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
