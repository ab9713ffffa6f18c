//! Text from untrusted sources: charsets, character references, dates, addresses, and storable characters. Pure.
//!
//! Other crates read feeds, pages and directives; rules that they share are implemented here, once.

pub mod charset;
pub mod date;
pub mod html;
pub mod hygiene;
pub mod leftovers;
pub mod links;
pub mod references;
pub mod url;
