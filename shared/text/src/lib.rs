//! Parsing of untrusted text: charsets, character references, dates, URLs, and storable characters. Pure.

pub mod charset;
pub mod date;
pub mod html;
pub mod hygiene;
pub mod json;
pub mod leftovers;
pub mod links;
pub mod references;
pub mod url;
