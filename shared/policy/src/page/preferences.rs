//! What may be done with a page once it was fetched: AIPREF usage preferences and TDMRep reservations.
//!
//! Both are young: AIPREF is an Internet-Draft that says of itself that it is no consensus, TDMRep a report of a W3C
//! Community Group. So each is heeded only where the operator switches it on, under a name that says which text is meant.
//! The use that Curlew makes of a page is `search`; it trains no model and writes no summaries.

use serde::{Deserialize, Serialize};
use sfv::visitor::{DictionaryVisitor, EntryVisitor, Ignored, InnerListVisitor, ItemVisitor};
use sfv::{BareItemFromInput, KeyRef, Parser};
use std::convert::Infallible;

/// Bytes that are read of one statement of preferences; a longer one is not understood.
pub const MAX_STATEMENT_BYTES: usize = 8 * 1024;

/// What somebody prefers to be done with a page (draft-ietf-aipref-vocab as of August 2026): for each use that the draft
/// knows yes, no, or nothing said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Preferences {
    /// `search`: the page may be found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<bool>,
    /// `train-ai`: a model may be trained with it. Kept and handed on; nothing is trained here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub train_ai: Option<bool>,
}

impl Preferences {
    /// Reads one statement: a dictionary of RFC 9651 §3.2 in which only the Tokens `y` and `n` mean something. A
    /// statement that is no such dictionary says nothing at all; of a key that comes twice the last counts.
    pub fn parse(statement: &[u8]) -> Preferences {
        if statement.len() > MAX_STATEMENT_BYTES {
            return Preferences::default();
        }
        Parser::new(statement).parse_dictionary_with_visitor(Preferences::default()).unwrap_or_default()
    }

    /// Reads `Content-Usage` headers; several are one list (RFC 9651 §4.2).
    pub fn of_headers(headers: &[String]) -> Preferences {
        Preferences::parse(headers.join(",").as_bytes())
    }

    /// Two statements about one page: who says no is heeded, whoever says yes.
    #[must_use]
    pub fn and(self, other: Preferences) -> Preferences {
        let both = |a: Option<bool>, b: Option<bool>| match (a, b) {
            (Some(a), Some(b)) => Some(a && b),
            (a, b) => a.or(b),
        };
        Preferences { search: both(self.search, other.search), train_ai: both(self.train_ai, other.train_ai) }
    }

    /// True if nothing is said.
    pub fn is_silent(&self) -> bool {
        *self == Preferences::default()
    }
}

impl<'de> DictionaryVisitor<'de> for Preferences {
    type Out = Preferences;
    type Error = Infallible;

    fn entry(&mut self, key: &'de KeyRef) -> Result<impl EntryVisitor<'de>, Infallible> {
        Ok(match key.as_str() {
            "search" => Some(Choice(&mut self.search)),
            "train-ai" => Some(Choice(&mut self.train_ai)),
            _ => None,
        })
    }

    fn finish(self) -> Result<Preferences, Infallible> {
        Ok(self)
    }
}

/// The place of one use's choice.
struct Choice<'a>(&'a mut Option<bool>);

impl<'de> EntryVisitor<'de> for Choice<'_> {
    type Error = Infallible;

    fn item(self) -> Result<impl ItemVisitor<'de>, Infallible> {
        Ok(|item: BareItemFromInput<'de>| {
            *self.0 = match item {
                BareItemFromInput::Token(token) if token.as_str() == "y" => Some(true),
                BareItemFromInput::Token(token) if token.as_str() == "n" => Some(false),
                _ => None,
            };
            Ok::<_, Infallible>(Ignored)
        })
    }

    fn inner_list(self) -> Result<impl InnerListVisitor<'de>, Infallible> {
        *self.0 = None;
        Ok(Ignored)
    }
}

impl std::fmt::Display for Preferences {
    /// As the draft writes them: `search=n, train-ai=n`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let said = [("search", self.search), ("train-ai", self.train_ai)];
        let mut comma = "";
        for (name, choice) in said {
            if let Some(yes) = choice {
                write!(f, "{comma}{name}={}", if yes { 'y' } else { 'n' })?;
                comma = ", ";
            }
        }
        Ok(())
    }
}
