//! Text as strangers write it: charsets, character references, dates, and which characters may be stored. Pure.
//!
//! Feeds, pages and directives are read by crates of their own; whatever they read in the same way stands here, once.

pub mod charset;
pub mod date;
pub mod hygiene;
pub mod references;
