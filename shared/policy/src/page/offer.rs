//! Decides whether the text of a page may be given to an assistant, which reads it instead of the site.

use crate::page::signals::ContentSignals;
use curlew_model::{Record, words};

words! {
    /// Reasons why a site withholds the text of a page from assistants.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Withheld {
        /// The page asks that no copy of it be offered.
        NoArchive = "The page asks that no copy of its text be offered (noarchive); read it at its address.",
        /// The site forbids the use of its pages as input of models.
        NoInput = "The site asks that its pages be no input of models (Content-Signal: ai-input=no).",
        /// The site allows a link and a short excerpt.
        ReferenceOnly = "The site allows only a link and a short excerpt (Content-Signal: use=reference).",
    }
}

/// Returns the text that may be given to an assistant, cut at `max-snippet`, or the reason why it is withheld.
pub fn text_for_assistants(record: &Record) -> Result<&str, Withheld> {
    let statement = record.preferences.content_signal.as_deref().unwrap_or_default();
    let signals = ContentSignals::parse(statement.as_bytes());
    if record.no_archive {
        return Err(Withheld::NoArchive);
    }
    if signals.get("ai-input") == Some("no") {
        return Err(Withheld::NoInput);
    }
    if signals.get("use") == Some("reference") {
        return Err(Withheld::ReferenceOnly);
    }
    let end = record.snippet_limit.0.and_then(|most| record.text.char_indices().nth(most as usize));
    Ok(&record.text[..end.map_or(record.text.len(), |(at, _)| at)])
}
