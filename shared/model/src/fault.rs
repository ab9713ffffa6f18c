//! Violations of a feed's format: information for the feed's author, not a reason to refuse the feed.

use crate::words;
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

words! {
    /// Kind of fault, with the sentence for the feed's author. `at` and `found` are the fields of [`Fault`].
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum FaultCode {
        /// The text is not in the stated character encoding.
        Encoding = "the text is not in the character encoding that is stated for it",
        /// Text before the XML declaration or the first element.
        TextBeforeStart = "something stands before the beginning: an XML declaration must be the very first of all",
        /// Text after the end of the root element.
        TextAfterEnd = "something stands after the end of the last element",
        /// The element `at` is never closed.
        Unclosed = "{at} is not closed",
        /// The end tag `at` closes nothing.
        Unopened = "{at} closes nothing that is open",
        /// The document ends prematurely.
        Truncated = "the document ends in the middle",
        /// A `&` that does not begin a reference.
        BareAmpersand = "a '&' that stands for itself is written '&amp;' in XML",
        /// The entity `found` is not declared.
        UnknownEntity = "XML does not know '{found}': write the character itself, or its number as in '&#8217;'",
        /// A `<` that does not begin a tag.
        BareLessThan = "a '<' that begins no tag is written '&lt;' in XML",
        /// A character that XML 1.0 §2.2 forbids.
        ControlCharacter = "the character {found} must not stand in XML",
        /// An attribute of `at` without a quoted value.
        AttributeSyntax = "an attribute of {at} is not written as name=\"value\"",
        /// `at` has the attribute `found` twice.
        AttributeTwice = "{at} has the attribute '{found}' twice",
        /// The prefix `found` of `at` is not declared.
        UndeclaredPrefix = "{at} has a prefix that is not declared: xmlns:{found}=\"…\" is missing",
        /// Elements are nested beyond the limit; the rest was not examined.
        TooDeep = "elements stand too deep inside each other; the rest was not checked",
        /// The root element is unknown to the format.
        UnknownRoot = "{at} is not what a feed of this format begins with, or its namespace is not",
        /// `at` lacks the element or member `found`.
        Missing = "{at} needs {found}, and has none",
        /// `at` lacks the attribute `found`.
        MissingAttribute = "{at} needs the attribute '{found}', and has none",
        /// `at` contains more `found` than allowed.
        TooMany = "{at} has {found} more often than allowed",
        /// `at` may not contain `found`.
        Unexpected = "{found} is not known in {at}; what is no part of the format needs a namespace",
        /// `at` may not have the attribute `found`.
        UnexpectedAttribute = "{at} has an attribute '{found}' that the format does not know",
        /// `at` contains the text `found` but may hold elements only.
        UnexpectedText = "text stands in {at}, where only elements may: '{found}'",
        /// `at` is empty.
        Empty = "{at} is empty",
        /// `at` is not a date in the format of RSS.
        BadRssDate = "{at} is no date as RSS wants it, such as 'Sun, 03 May 2026 17:05:09 GMT': '{found}'",
        /// `at` is not a date in the format of Atom and JSON Feed.
        BadDate = "{at} is no date as RFC 3339 wants it, such as '2026-05-03T17:05:09Z': '{found}'",
        /// `at` is not a complete address.
        BadAddress = "{at} is no complete address, such as 'https://www.example.org/': '{found}'",
        /// `at` is not an e-mail address; `found` is empty, since it may be a person's address.
        BadMailAddress = "{at} is to hold an e-mail address; for a name alone there is <dc:creator>",
        /// `at` is not a number, or out of range.
        BadNumber = "{at} is no whole number within its bounds: '{found}'",
        /// `at` has a value that is not allowed.
        BadValue = "{at} has a value that the format does not know: '{found}'",
        /// `at` is not of the JSON type `found`.
        WrongType = "{at} is to be {found}",
    }
}

impl fmt::Display for FaultCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.code.as_str().split(['{', '}']).try_for_each(|part| match part {
            "at" => f.write_str(&self.at),
            "found" => f.write_str(&self.found),
            words => f.write_str(words),
        })
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

    #[test]
    fn a_sentence_names_nothing_but_the_fields_of_its_fault() {
        for code in FaultCode::ALL {
            let fault = Fault { line: 1, column: 1, code, at: "{found}".into(), found: "{at}".into() };
            let fields = code.as_str().matches('{').count();
            assert_eq!(fault.to_string().matches(['{', '}']).count(), 2 * fields, "{fault}");
            let named = code.as_str().matches("{at}").count() + code.as_str().matches("{found}").count();
            assert_eq!(named, fields, "{fault}");
        }
    }
}
