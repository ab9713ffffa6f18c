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
//! All words must be found (there is no relaxing to "some of them"); a word matches in the title or in the text, by its
//! stem in the language of the page, with or without its accents. Results are ordered by BM25 — its statistics summed
//! over all splits, so that it does not matter how pages are spread over them — times a gentle factor for what is fresh.
//! Pages that say the same are given as one, the earliest of them, where the best of them stands.

mod analyze;
mod build;
mod bundle;
mod cold;
mod collect;
mod cursor;
mod error;
mod manifest;
mod pieces;
mod query;
mod run;
mod schema;
mod snippet;
mod spelling;
mod split;
mod tiers;
mod tokens;

pub use build::{BuildBudget, SplitBuilt, build_split, merge_splits};
pub use bundle::FORM;
pub use cold::{CHUNK_BYTES, joined};
pub use curlew_model::{MAX_QUERY_BYTES, MAX_QUERY_TERMS, QueryError};
pub use cursor::{CURSOR_KEY_BYTES, Cursor};
pub use error::SearchError;
pub use manifest::{Manifest, SplitEntry, Superseded};
pub use query::{Clause, Query, Sort};
pub use run::{COPY_BITS, Hidden, Hit, MAX_DEPTH, Request, Results, search, warm};
pub use snippet::{SNIPPET_CHARS, Snippet};
pub use spelling::suggest;
pub use split::Split;
pub use tiers::{Due, Tier, chunks, due};
