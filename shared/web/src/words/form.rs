sentences! {
    /// Texts that all forms share.
    struct Form {
        /// Label of the hidden field.
        trap = "Leave this field empty" => "Lascia vuoto questo campo";
        not_from_here = "This form has to be sent from this page. Please use the one below." =>
            "Questo modulo va inviato da questa pagina. Usa quello qui sotto.";
        too_many = "That was a lot at once. Please wait a moment and send it again." =>
            "Sono arrivate troppe richieste insieme. Aspetta un momento e invia di nuovo il modulo.";
        too_long = "That is too long. Please say it in fewer words." =>
            "È troppo lungo. Prova a dirlo con meno parole.";
        no_form = "That was not sent by the form on this page." =>
            "Non è stato inviato con il modulo di questa pagina.";
        trapped = "The hidden field has to stay empty. Please send it once more." =>
            "Il campo nascosto deve restare vuoto. Invia il modulo ancora una volta.";
        too_young = "That was quick. Please wait three seconds and send it again." =>
            "Troppo in fretta. Aspetta tre secondi e invia di nuovo il modulo.";
        too_old = "This form had grown old. Here is a fresh one; please send it again." =>
            "Il modulo era scaduto. Eccone uno nuovo: invialo di nuovo.";
        forged = "This form is not one of ours. Here is one; please send it again." =>
            "Questo modulo non è nostro. Eccone uno: invialo di nuovo.";
        sent_before = "This form was sent before. Here is a fresh one." =>
            "Questo modulo è già stato inviato. Eccone uno nuovo.";
        /// Shown with a form that must be open for a minute before it is sent.
        rush = "Many forms are being sent at the moment. This one can be sent once it has been open for a minute." =>
            "In questo momento arrivano molti moduli. Questo si può inviare quando è aperto da un minuto.";
        /// Shown if such a form was sent too early.
        rushed =
            "Many forms are being sent at the moment. Please wait until this one has been open for a minute, and send \
             it again." =>
            "In questo momento arrivano molti moduli. Aspetta che questo sia aperto da un minuto e invialo di nuovo.";
    }
}
