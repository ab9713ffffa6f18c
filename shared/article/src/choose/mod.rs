//! Chooses one answer for each field of the article from the statements of the page and its visible content.

pub(crate) mod author;
pub(crate) mod body;
mod byline;
pub(crate) mod dates;
pub(crate) mod head;
pub(crate) mod image;
pub(crate) mod language;
pub(crate) mod title;

use crate::markup::Statements;
use crate::read::outline::Outline;

#[derive(Clone, Copy)]
pub(crate) struct Evidence<'e> {
    pub(crate) outline: &'e Outline<'e>,
    pub(crate) linked: &'e Statements,
    pub(crate) micro: &'e Statements,
}
