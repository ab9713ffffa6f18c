//! Candidates for the article's text, and the reasons why each leaves out lines of the page.

pub(crate) mod candidate;
pub(crate) mod lines;
pub(crate) mod parts;
pub(crate) mod phrases;
pub(crate) mod ranking;
mod section_names;
pub(crate) mod sums;
pub(crate) mod tails;
