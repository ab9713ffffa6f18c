use curlew_people::messages::About;

sentences! {
    /// Texts of the form for messages to the operator.
    struct Contact {
        title = "Write to us" => "Scrivici";
        about = "Topic" => "Di che cosa si tratta";
        abouts: [(About, &'static str, &'static str); 4] = [
            (About::Question, "question", "A question, or something else"),
            (About::Crawler, "crawler", "The crawler behaves badly"),
            (About::Abuse, "abuse", "Something should not be findable here"),
            (About::Removal, "removal", "Please remove my site"),
        ] => [
            (About::Question, "question", "Una domanda, o qualcos’altro"),
            (About::Crawler, "crawler", "Il crawler si comporta male"),
            (About::Abuse, "abuse", "Qui si trova qualcosa che non si dovrebbe trovare"),
            (About::Removal, "removal", "Vorrei far togliere un mio sito"),
        ];
        address = "Page or site (optional)" => "Pagina o sito (facoltativo)";
        text = "Your message" => "Il tuo messaggio";
        reply_to = "Your e-mail address, for an answer (optional)" =>
            "Il tuo indirizzo e-mail, per una risposta (facoltativo)";
        button = "Send it" => "Invia";
        note =
            "Your message is kept for at most 30 days, and nothing else about you. It changes nothing by itself: a \
             person reads it." =>
            "Ciò che scrivi si conserva al massimo per 30 giorni, e di te nient’altro. Da solo non cambia nulla: lo \
             legge una persona.";
        taken = "Thank you. The operator will read it." => "Grazie. Il gestore lo leggerà.";
        full = "The daily limit for messages has been reached. Please come back tomorrow." =>
            "Oggi è stato scritto tanto che non si prende altro. Torna domani.";
        enough = "You have sent as many messages today as one sender may. Please come back tomorrow." =>
            "Oggi hai già inviato quanti messaggi può inviare un mittente. Torna domani.";
        empty = "Please write a message." => "Scrivi un messaggio.";
        too_long = "That is too long: the message may have 2,000 characters, and the addresses less." =>
            "È troppo lungo: il messaggio può avere 2.000 caratteri, gli indirizzi meno.";
        no_mail_address = "This is not an e-mail address. Please correct it, or leave the field empty." =>
            "Questo non è un indirizzo e-mail. Correggilo o lascialo vuoto.";
    }
}
