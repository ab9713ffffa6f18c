//! Candidates for the article's text, and the reasons for leaving out parts and lines of them.

pub(crate) mod candidate;
pub(crate) mod lines;
pub(crate) mod parts;
pub(crate) mod sums;
mod tails;
