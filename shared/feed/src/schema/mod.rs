//! Validates feeds against the schemas in `schemas/`, for their authors. A fault never prevents parsing.
//!
//! RSS 2.0 and Atom 1.0 are checked against XML Schema, JSON Feed against JSON Schema, and older dialects only for XML
//! syntax. Each schema language has a small interpreter of a documented subset, because a general validator would add
//! more code to the polling functions than the rest of this crate.

mod check;
mod json;
mod place;
mod value;
mod xsd;

use self::place::Notes;
use self::xsd::XsdSchema;
use crate::{Format, Limits, work::Work};
use curlew_model::{FaultCode, Faults};
use std::sync::LazyLock;

static RSS_2: LazyLock<Option<XsdSchema>> =
    LazyLock::new(|| XsdSchema::read(include_str!("../../schemas/rss-2.0.xsd")).ok());
static ATOM_1: LazyLock<Option<XsdSchema>> =
    LazyLock::new(|| XsdSchema::read(include_str!("../../schemas/atom-1.0.xsd")).ok());
static JSON_1_0: LazyLock<Option<json::JsonSchema>> =
    LazyLock::new(|| json::JsonSchema::read(include_str!("../../schemas/json-feed-1.0.json")));
static JSON_1_1: LazyLock<Option<json::JsonSchema>> =
    LazyLock::new(|| json::JsonSchema::read(include_str!("../../schemas/json-feed-1.1.json")));

pub(crate) fn faults(text: &str, format: Format, misencoded: bool, limits: &Limits, work: &Work) -> Faults {
    let mut notes = Notes::new(text, limits.faults);
    if misencoded {
        notes.add(0, FaultCode::Encoding, "", "");
    }
    match format {
        Format::Rss2 => check::check(text, RSS_2.as_ref(), work, &mut notes),
        Format::Atom => check::check(text, ATOM_1.as_ref(), work, &mut notes),
        Format::Rss1 | Format::Rss09x | Format::Atom03 => check::check(text, None, work, &mut notes),
        Format::Json => {
            let first = text.contains("jsonfeed.org/version/1\"");
            if let Some(schema) = if first { &*JSON_1_0 } else { &*JSON_1_1 } {
                work.add(text.len());
                json::check(text, schema, &mut notes);
            }
        }
    }
    notes.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schemas_hold_nothing_that_the_interpreters_do_not_know() {
        for text in [include_str!("../../schemas/rss-2.0.xsd"), include_str!("../../schemas/atom-1.0.xsd")] {
            assert_eq!(XsdSchema::read(text).err(), None);
        }
        assert!(JSON_1_0.is_some() && JSON_1_1.is_some());
    }
}
