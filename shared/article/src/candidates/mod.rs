//! Candidates for the article's text, and the reasons why each leaves out lines of the page.

pub(crate) mod candidate;
mod cards;
pub(crate) mod entries;
pub(crate) mod lines;
pub(crate) mod parts;
pub(crate) mod phrases;
mod pointers;
pub(crate) mod readability;
mod section_names;
mod sums;
pub(crate) mod tails;
