//! Violations of a feed's format: information for the feed's author, not a reason to refuse the feed.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The faults of a document: the total number, and the first few.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Faults {
    /// Total number of faults counted.
    pub count: u32,
    /// The first faults, in document order.
    #[serde(default)]
    pub first: Vec<Fault>,
}

impl Faults {
    /// Maximum number of faults in a feed's row, which has to stay small.
    pub const KEPT: usize = 5;

    /// True if the document has no fault.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// True if another document has the same faults, whatever their positions.
    pub fn is_like(&self, other: &Faults) -> bool {
        let kinds = |faults: &Faults| faults.first.iter().map(|f| (f.code, f.at.clone())).collect::<Vec<_>>();
        self.count == other.count && kinds(self) == kinds(other)
    }

    /// Returns the total number with the first [`Faults::KEPT`] faults.
    pub fn summary(&self) -> Faults {
        Faults { count: self.count, first: self.first.iter().take(Faults::KEPT).cloned().collect() }
    }
}

/// A fault of a document, displayed as a sentence for its author. Serialized as a list, to keep rows small.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Row", into = "Row")]
pub struct Fault {
    /// Line number, from 1.
    pub line: u32,
    /// Number of the character in the line, from 1.
    pub column: u32,
    /// Kind of fault.
    pub code: FaultCode,
    /// The element concerned, as written in the document: `<channel>`, `items[3]`.
    pub at: String,
    /// Excerpt of the text found, or the name of the missing part; empty if neither applies.
    pub found: String,
}

type Row = (u32, u32, FaultCode, String, String);

impl From<Row> for Fault {
    fn from((line, column, code, at, found): Row) -> Fault {
        Fault { line, column, code, at, found }
    }
}

impl From<Fault> for Row {
    fn from(fault: Fault) -> Row {
        (fault.line, fault.column, fault.code, fault.at, fault.found)
    }
}

/// Kind of fault. `at` and `found` are the fields of [`Fault`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultCode {
    /// The text is not in the stated character encoding.
    Encoding,
    /// Text before the XML declaration or the first element.
    TextBeforeStart,
    /// Text after the end of the root element.
    TextAfterEnd,
    /// The element `at` is never closed.
    Unclosed,
    /// The end tag `at` closes nothing.
    Unopened,
    /// The document ends prematurely.
    Truncated,
    /// A `&` that does not begin a reference.
    BareAmpersand,
    /// The entity `found` is not declared.
    UnknownEntity,
    /// A `<` that does not begin a tag.
    BareLessThan,
    /// A character that XML 1.0 §2.2 forbids.
    ControlCharacter,
    /// An attribute of `at` without a quoted value.
    AttributeSyntax,
    /// `at` has the attribute `found` twice.
    AttributeTwice,
    /// The prefix `found` of `at` is not declared.
    UndeclaredPrefix,
    /// Elements are nested beyond the limit; the rest was not examined.
    TooDeep,
    /// The root element is unknown to the format.
    UnknownRoot,
    /// `at` lacks the element or member `found`.
    Missing,
    /// `at` lacks the attribute `found`.
    MissingAttribute,
    /// `at` contains more `found` than allowed.
    TooMany,
    /// `at` may not contain `found`.
    Unexpected,
    /// `at` may not have the attribute `found`.
    UnexpectedAttribute,
    /// `at` contains the text `found` but may hold elements only.
    UnexpectedText,
    /// `at` is empty.
    Empty,
    /// `at` is not a date in the format of RSS.
    BadRssDate,
    /// `at` is not a date in the format of Atom and JSON Feed.
    BadDate,
    /// `at` is not a complete address.
    BadAddress,
    /// `at` is not an e-mail address; `found` is empty, since it may be a person's address.
    BadMailAddress,
    /// `at` is not a number, or out of range.
    BadNumber,
    /// `at` has a value that is not allowed.
    BadValue,
    /// `at` is not of the JSON type `found`.
    WrongType,
}

impl fmt::Display for FaultCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Fault { at, found, .. } = self;
        match self.code {
            FaultCode::Encoding => f.write_str("the text is not in the character encoding that is stated for it"),
            FaultCode::TextBeforeStart => {
                f.write_str("something stands before the beginning: an XML declaration must be the very first of all")
            }
            FaultCode::TextAfterEnd => f.write_str("something stands after the end of the last element"),
            FaultCode::Unclosed => write!(f, "{at} is not closed"),
            FaultCode::Unopened => write!(f, "{at} closes nothing that is open"),
            FaultCode::Truncated => f.write_str("the document ends in the middle"),
            FaultCode::BareAmpersand => f.write_str("a '&' that stands for itself is written '&amp;' in XML"),
            FaultCode::UnknownEntity => {
                write!(f, "XML does not know '{found}': write the character itself, or its number as in '&#8217;'")
            }
            FaultCode::BareLessThan => f.write_str("a '<' that begins no tag is written '&lt;' in XML"),
            FaultCode::ControlCharacter => write!(f, "the character {found} must not stand in XML"),
            FaultCode::AttributeSyntax => write!(f, "an attribute of {at} is not written as name=\"value\""),
            FaultCode::AttributeTwice => write!(f, "{at} has the attribute '{found}' twice"),
            FaultCode::UndeclaredPrefix => {
                write!(f, "{at} has a prefix that is not declared: xmlns:{found}=\"…\" is missing")
            }
            FaultCode::TooDeep => f.write_str("elements stand too deep inside each other; the rest was not checked"),
            FaultCode::UnknownRoot => {
                write!(f, "{at} is not what a feed of this format begins with, or its namespace is not")
            }
            FaultCode::Missing => write!(f, "{at} needs {found}, and has none"),
            FaultCode::MissingAttribute => write!(f, "{at} needs the attribute '{found}', and has none"),
            FaultCode::TooMany => write!(f, "{at} has {found} more often than allowed"),
            FaultCode::Unexpected => {
                write!(f, "{found} is not known in {at}; what is no part of the format needs a namespace")
            }
            FaultCode::UnexpectedAttribute => {
                write!(f, "{at} has an attribute '{found}' that the format does not know")
            }
            FaultCode::UnexpectedText => write!(f, "text stands in {at}, where only elements may: '{found}'"),
            FaultCode::Empty => write!(f, "{at} is empty"),
            FaultCode::BadRssDate => {
                write!(f, "{at} is no date as RSS wants it, such as 'Sun, 03 May 2026 17:05:09 GMT': '{found}'")
            }
            FaultCode::BadDate => {
                write!(f, "{at} is no date as RFC 3339 wants it, such as '2026-05-03T17:05:09Z': '{found}'")
            }
            FaultCode::BadAddress => {
                write!(f, "{at} is no complete address, such as 'https://www.example.org/': '{found}'")
            }
            FaultCode::BadMailAddress => {
                write!(f, "{at} is to hold an e-mail address; for a name alone there is <dc:creator>")
            }
            FaultCode::BadNumber => write!(f, "{at} is no whole number within its bounds: '{found}'"),
            FaultCode::BadValue => write!(f, "{at} has a value that the format does not know: '{found}'"),
            FaultCode::WrongType => write!(f, "{at} is to be {found}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_kept_in_little_room_and_read_again() -> Result<(), Box<dyn std::error::Error>> {
        let fault = Fault {
            line: 12,
            column: 5,
            code: FaultCode::Missing,
            at: "<channel>".into(),
            found: "<description>".into(),
        };
        assert_eq!(serde_json::to_string(&fault)?, r#"[12,5,"missing","<channel>","<description>"]"#);
        let all = Faults { count: 900, first: vec![fault.clone(); 50] };
        let kept = all.summary();
        assert_eq!((kept.count, kept.first.len()), (900, Faults::KEPT));
        assert_eq!(serde_json::from_str::<Faults>(&serde_json::to_string(&kept)?)?, kept);
        assert_eq!(fault.to_string(), "<channel> needs <description>, and has none");
        assert_eq!(serde_json::to_value(fault.code)?, fault.code.to_string());
        Ok(())
    }
}
