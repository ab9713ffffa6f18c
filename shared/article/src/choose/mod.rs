//! The choice among what the page states and shows: one answer for each field of the article.

pub(crate) mod author;
pub(crate) mod body;
pub(crate) mod dates;
pub(crate) mod head;
pub(crate) mod image;
pub(crate) mod language;
pub(crate) mod title;
