//! Permitted use of a fetched page: AIPREF usage preferences and TDMRep reservations.
//!
//! Both are young: AIPREF is an Internet-Draft that declares itself no consensus, TDMRep a report of a W3C Community
//! Group. So each applies only if the operator enables it, under a name that identifies the text. Curlew's use of a
//! page is `search`; it trains no model and writes no summaries.

use serde::{Deserialize, Serialize};
use sfv::visitor::{DictionaryVisitor, EntryVisitor, Ignored, InnerListVisitor, ItemVisitor};
use sfv::{BareItemFromInput, KeyRef, Parser};
use std::convert::Infallible;

/// Maximum size of one statement of preferences in bytes; a longer one counts as malformed.
pub const MAX_STATEMENT_BYTES: usize = 8 * 1024;

/// Preferences for the use of a page (draft-ietf-aipref-vocab-08): for each use that the draft defines yes, no, or no
/// statement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Preferences {
    /// `search`: the page may be found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<bool>,
    /// `train-ai`: a model may be trained with it. Only stored and passed on; nothing is trained here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub train_ai: Option<bool>,
}

impl Preferences {
    /// Parses one statement: a dictionary (RFC 9651 §3.2) in which only the Tokens `y` and `n` have a meaning. Anything
    /// but such a dictionary states nothing; of a repeated key the last value counts.
    pub fn parse(statement: &[u8]) -> Preferences {
        if statement.len() > MAX_STATEMENT_BYTES {
            return Preferences::default();
        }
        Parser::new(statement).parse_dictionary_with_visitor(Preferences::default()).unwrap_or_default()
    }

    /// Parses `Content-Usage` headers; several form one list (RFC 9651 §4.2).
    pub fn of_headers(headers: &[String]) -> Preferences {
        Preferences::parse(headers.join(",").as_bytes())
    }

    /// Combines two statements about one page: "no" wins over "yes".
    #[must_use]
    pub fn and(self, other: Preferences) -> Preferences {
        let both = |a: Option<bool>, b: Option<bool>| match (a, b) {
            (Some(a), Some(b)) => Some(a && b),
            (a, b) => a.or(b),
        };
        Preferences { search: both(self.search, other.search), train_ai: both(self.train_ai, other.train_ai) }
    }

    /// True if nothing is stated.
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

/// Slot for one use's choice.
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
    /// Formats them in the draft's syntax: `search=n, train-ai=n`.
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
