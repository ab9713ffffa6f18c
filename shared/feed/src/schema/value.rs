//! Simple types: valid texts of elements and attributes (XML Schema 1.1, part 2, as far as used).

use curlew_model::FaultCode;
use regex::Regex;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Base {
    /// `xs:string` and `xs:token`.
    Text,
    Uri,
    Number,
    Boolean,
    Language,
}

#[derive(Clone, Debug)]
pub(super) struct Simple {
    pub(super) base: Base,
    pub(super) allowed: Vec<String>,
    pub(super) pattern: Option<Regex>,
    pub(super) most: Option<u64>,
    pub(super) not_empty: bool,
    pub(super) code: FaultCode,
}

impl Simple {
    pub(super) fn built_in(name: &str) -> Option<Simple> {
        let (base, code) = match name {
            "string" | "token" => (Base::Text, FaultCode::BadValue),
            "anyURI" => (Base::Uri, FaultCode::BadAddress),
            "nonNegativeInteger" => (Base::Number, FaultCode::BadNumber),
            "boolean" => (Base::Boolean, FaultCode::BadValue),
            "language" => (Base::Language, FaultCode::BadValue),
            _ => return None,
        };
        Some(Simple { base, allowed: Vec::new(), pattern: None, most: None, not_empty: false, code })
    }

    pub(super) fn takes_all(&self) -> bool {
        self.base == Base::Text && self.allowed.is_empty() && self.pattern.is_none() && !self.not_empty
    }

    pub(super) fn fault(&self, value: &str) -> Option<FaultCode> {
        let value = value.trim();
        if value.is_empty() && (self.not_empty || !self.takes_all() && self.base != Base::Uri || self.pattern.is_some())
        {
            return Some(FaultCode::Empty);
        }
        let by_base = match self.base {
            Base::Text => true,
            // Most invalid addresses contain spaces or these characters (RFC 3986 §2).
            Base::Uri => !value.contains(|c: char| c.is_whitespace() || c.is_control() || "<>\"{}|\\^`".contains(c)),
            Base::Number => value.parse::<u64>().is_ok_and(|n| self.most.is_none_or(|most| n <= most)),
            Base::Boolean => matches!(value, "true" | "false" | "1" | "0"),
            Base::Language => is_language(value),
        };
        let by_facets = (self.allowed.is_empty() || self.allowed.iter().any(|a| a == value))
            && self.pattern.as_ref().is_none_or(|p| p.is_match(value));
        (!by_base || !by_facets).then_some(self.code)
    }
}

/// True for a BCP 47 tag in the form of `xs:language`.
fn is_language(value: &str) -> bool {
    value.split('-').enumerate().all(|(n, part)| {
        let letters = |b: u8| b.is_ascii_alphabetic() || n > 0 && b.is_ascii_digit();
        (1..=8).contains(&part.len()) && part.bytes().all(letters)
    })
}

pub(super) fn code_of(name: &str) -> Option<FaultCode> {
    match name {
        "Rfc822Date" => Some(FaultCode::BadRssDate),
        "Rfc3339Date" => Some(FaultCode::BadDate),
        "MailAddress" => Some(FaultCode::BadMailAddress),
        _ => None,
    }
}
