//! Statements about the article in the page's markup: Open Graph, JSON-LD, microdata.

pub(crate) mod jsonld;
pub(crate) mod microdata;
pub(crate) mod opengraph;
