//! Binary fields of a job as attributes of its SQS message.
//!
//! A job's text has the page and its thumbnail in base64, a third longer than the bytes, and SQS bills requests by
//! length. Attributes may be binary, so sending cuts these fields out of the text, and receiving puts them back: the
//! rest of the program sees only whole texts. A tab marks each cut; JSON has no tabs inside strings (RFC 8259 §7).

use aws_sdk_sqs::primitives::Blob;
use aws_sdk_sqs::types::MessageAttributeValue;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use curlew_ports::PortError;
use std::collections::HashMap;

use crate::error::corrupt;

/// Keys of the base64 fields of jobs; their attributes have the same names.
const FIELDS: [&str; 2] = ["inline", "thumbnail"];
/// Marks a field that was cut out.
const CUT: char = '\t';
/// A field with fewer characters stays in the text.
const SHORTEST: usize = 256;

/// Bytes that were cut out of a job's text, with the names of their attributes.
pub(super) type Attachments = Vec<(&'static str, Blob)>;

/// Cuts the binary fields out of a job's text. Leaves other texts unchanged.
pub(super) fn cut_out(text: String) -> (String, Attachments) {
    let mut found: Vec<(usize, usize, &'static str, Vec<u8>)> = Vec::new();
    for field in FIELDS {
        // A quotation mark inside a string is escaped, so this matches only a key.
        let key = format!("\"{field}\":\"");
        let Some(start) = text.find(&key).map(|at| at + key.len()) else { continue };
        let Some(length) = text[start..].find('"').filter(|length| *length >= SHORTEST) else { continue };
        if let Ok(bytes) = STANDARD.decode(&text[start..start + length]) {
            found.push((start, start + length, field, bytes));
        }
    }
    if found.is_empty() {
        return (text, Vec::new());
    }
    found.sort_unstable_by_key(|(start, ..)| *start);
    let (mut rest, mut cut) = (0, String::new());
    for (start, end, ..) in &found {
        cut.push_str(&text[rest..*start]);
        cut.push(CUT);
        rest = *end;
    }
    cut.push_str(&text[rest..]);
    (cut, found.into_iter().map(|(_, _, field, bytes)| (field, Blob::new(bytes))).collect())
}

/// Returns the text of a job with the attributes put back into `body`; not valid JSON if an attribute is missing.
/// `attribute` returns the value of a binary attribute in base64, the form in which Lambda passes it.
pub fn put_back(body: String, attribute: impl Fn(&str) -> Option<String>) -> String {
    if !body.contains(CUT) {
        return body;
    }
    let mut pieces = body.split(CUT);
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let field = FIELDS.into_iter().find(|field| text.ends_with(&format!("\"{field}\":\"")));
        match field.and_then(&attribute) {
            Some(bytes) => text.push_str(&bytes),
            // Without its bytes, the job must not look like one with an empty page: the mark makes the text invalid
            // JSON, so it is given up.
            None => text.push(CUT),
        }
        text.push_str(piece);
    }
    text
}

/// Returns the text of a message that the SDK has received.
pub(super) fn text_of(body: String, attributes: Option<&HashMap<String, MessageAttributeValue>>) -> String {
    put_back(body, |name| {
        let value = attributes?.get(name)?.binary_value()?;
        Some(STANDARD.encode(value.as_ref()))
    })
}

/// Returns the attributes of a message.
pub(super) fn attributes(cut: &Attachments) -> Result<HashMap<String, MessageAttributeValue>, PortError> {
    let attribute = |(name, bytes): &(&'static str, Blob)| {
        let value = MessageAttributeValue::builder().data_type("Binary").binary_value(bytes.clone()).build();
        Ok(((*name).to_owned(), value.map_err(|e| corrupt("a message", e))?))
    };
    cut.iter().map(attribute).collect()
}

/// Returns the billed length of attributes in bytes: name, type and value (SQS developer guide, message quotas).
pub(super) fn length(cut: &Attachments) -> usize {
    cut.iter().map(|(name, bytes)| name.len() + "Binary".len() + bytes.as_ref().len()).sum()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;
    use serde_json::json;

    fn back(body: String, cut: &Attachments) -> String {
        text_of(body, Some(&attributes(cut).unwrap()))
    }

    #[test]
    fn bytes_are_cut_out_of_a_text_and_put_back_wherever_they_stand() {
        let page = STANDARD.encode((0..9_000_u32).map(|n| n as u8).collect::<Vec<u8>>());
        let thumbnail = STANDARD.encode([7; 2_000]);
        for text in [
            json!({"body": {"inline": page}, "image": {"id": "x", "thumbnail": thumbnail}}),
            json!({"a": {"thumbnail": thumbnail}, "body": {"inline": page}, "title": "\t \"inline\":\"AAAA"}),
            json!({"body": {"inline": page}, "hints": "\"thumbnail\":\""}),
        ] {
            let text = text.to_string();
            let (body, cut) = cut_out(text.clone());
            assert!(body.len() < 200 && !cut.is_empty(), "{body}");
            assert!(body.len() + length(&cut) < text.len() * 4 / 5);
            assert_eq!(back(body, &cut), text);
        }
    }

    #[test]
    fn what_has_no_bytes_or_only_seems_to_have_some_stays_as_it_is() {
        let short = json!({"body": {"inline": "AAAA"}}).to_string();
        let stored = json!({"body": {"stored": "bodies/1/2.zst"}}).to_string();
        let no_base64 = json!({"body": {"inline": "?".repeat(999)}}).to_string();
        let cut_off = format!("{{\"body\":{{\"inline\":\"{}", "A".repeat(999));
        for text in [short, stored, no_base64, cut_off, String::new(), "{\"claim\":\"claims/x\"}".to_owned()] {
            let (body, cut) = cut_out(text.clone());
            assert_eq!((body.as_str(), cut.len()), (text.as_str(), 0));
            assert_eq!(back(body, &cut), text);
        }
        // A text that has lost an attribute is invalid JSON, and given up with a reason; other texts stay unchanged.
        for text in ["{\"inline\":\"\t\"}", "{\t\"a\": 1}"] {
            assert_eq!(put_back(text.to_owned(), |_| None), text);
        }
        assert_eq!(put_back("{\t\"a\": 1}".to_owned(), |_| Some("B".to_owned())), "{\t\"a\": 1}");
    }
}
