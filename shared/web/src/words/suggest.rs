use curlew_people::suggest::{Refusal, RefusedAddress};

sentences! {
    /// Texts of the form for suggestions, and of its answers.
    struct Suggest {
        title = "Suggest a site" => "Proponi un sito";
        /// Label of the field.
        field = "Address of the site" => "Indirizzo del sito";
        button = "Suggest it" => "Proponi";
        note =
            "What happens next: within a day the crawler reads the site’s robots.txt and home page, looks for a feed, \
             and fetches what the feed lists, a page a second at most. Its pages can be found a few minutes after \
             that. Only the address is kept." =>
            "Che cosa succede poi: entro un giorno il crawler legge il robots.txt e la pagina iniziale del sito, cerca \
             un feed e scarica le pagine che il feed elenca, al massimo una al secondo. Pochi minuti dopo si possono \
             trovare. Si conserva solo l’indirizzo.";
        taken: fn(&str) -> String =
            |url| format!("Thank you. {url} is written down. The crawler looks for its feed within a day.") =>
            |url| format!("Grazie. {url} è stato annotato. Entro un giorno il crawler ne cercherà il feed.");
        known: fn(&str) -> String = |url| format!("Thank you. {url} is already known here.") =>
            |url| format!("Grazie. {url} è già noto.");
        /// Text for a sender who has used up the day's allowance.
        enough = "You have suggested as many sites today as one sender may. Please come back tomorrow." =>
            "Oggi hai già proposto quanti siti può proporre un mittente. Torna domani.";
        refused: fn(&RefusedAddress) -> String = RefusedAddress::to_string => refused_in_italian;
        no_address = "Please type the address of a site." => "Scrivi l’indirizzo di un sito.";
        address_too_long = "This address is too long." => "Questo indirizzo è troppo lungo.";
        not_of_the_web = "This is not an address of the web. It should look like https://example.org." =>
            "Questo non è un indirizzo del web. Dovrebbe avere la forma https://example.org.";
    }
}

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
