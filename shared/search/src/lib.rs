//! Index splits, manifests and queries on tantivy.
//!
//! Bytes in, bytes out: nothing here reads a file, a clock or a socket. A split may be opened by its tail alone; what a search
//! needs besides is asked for ([`Split::wanted`]), and the search is run again.
//!
//! - [`build_split`] makes one immutable blob of many records; [`merge_splits`] makes one blob of several.
//! - [`Split::open`] reads such a blob; [`Manifest`] lists the blobs of one year and what must no longer be found.
//! - [`Query::read`] reads what a person typed; [`search`] answers it over several splits as if they were one index.
//!   Where that finds next to nothing, [`suggest`] says what may have been meant.
//!
//! # What a query means
//! Pages with all words come first; behind them, with [`Scope::SomeWords`], come those with some of them. A word matches in
//! title, text or author's name, by its stem in the language of the page, with or without its accents. Stop words of that
//! language need not be there; `"a phrase"` and `+word` must, `-word` must not. A sentence, such as a question, has no first
//! part: the score alone decides.
//!
//! # How a score comes about
//! Within either part pages are ordered by BM25 over one field, in which the title stands twice (BM25F); its statistics are
//! summed over all splits, so that it does not matter how pages are spread over them. A page on which neighbours of the
//! query are neighbours gains up to three tenths, a new page a fiftieth. Pages that say the same are given as one, the
//! earliest of them, where the best of them stands; of one site no more than two stand in a row.
//! [`Request::explain`] has each hit say all of this in figures.

mod analyze;
mod build;
mod bundle;
mod cold;
mod cursor;
mod error;
mod hidden;
mod listing;
mod manifest;
mod pieces;
mod plan;
mod proximity;
mod query;
mod rank;
mod run;
mod schema;
mod snippet;
mod spelling;
mod split;
mod suggest;
mod tiers;
mod tokens;

pub use build::{BuildBudget, SplitBuilt, build_split, merge_splits};
pub use bundle::FORM;
pub use cold::{CHUNK_BYTES, joined};
pub use curlew_model::{MAX_QUERY_BYTES, MAX_QUERY_TERMS, QueryError};
pub use cursor::{CURSOR_KEY_BYTES, Cursor};
pub use error::SearchError;
pub use hidden::Hidden;
pub use listing::COPY_BITS;
pub use manifest::{Manifest, SplitEntry, Superseded, Tier};
pub use query::{Clause, Query, Sort};
pub use run::{Explanation, Hit, MAX_DEPTH, Request, Results, Scope, search, warm};
pub use snippet::{SNIPPET_CHARS, Snippet};
pub use split::Split;
pub use suggest::suggest;
pub use tiers::{Due, chunks, due};
