//! Index splits, manifests and queries on tantivy.
//!
//! Bytes in, bytes out: nothing here reads a file, a clock or a socket. [`build_split`] makes a split of records, and
//! [`Manifest`] lists the splits of one year. A split may be opened from its tail alone; a [`search`] then reports the
//! bytes that it needs ([`Split::wanted`]), and the caller runs it again.
//!
//! A word matches in title, text or author's name, by its stem in the language of the page. Pages are ordered by BM25
//! over one field, in which the title occurs twice (BM25F), with statistics summed over all splits. A page in a
//! language other than the query's counts for less. A page gains 10 % if it has all words, up to 30 % if neighbouring
//! words of the query are neighbours on it, and up to 2 % for being new. Pages with the same text are shown as one: the
//! earliest, at the rank of the best. A page of results has at most two results of one site if there are others.

mod analyze;
mod bits;
mod bounds;
mod budget;
mod build;
mod bundle;
mod cold;
mod cursor;
mod error;
mod hidden;
mod hit;
mod listing;
mod lookups;
mod manifest;
mod open_splits;
mod pieces;
mod plan;
mod proximity;
mod query;
mod rank;
mod run;
mod schema;
mod sites;
mod snippet;
mod spelling;
mod split;
mod statistics;
mod tiers;
mod tokens;

pub use bounds::{Bounds, HOSTS_NAMED};
pub use budget::ReadBudget;
pub use build::{BuildBudget, SplitBuilt, build_split, merge_splits};
pub use bundle::{FORM, OLDEST_FORM};
pub use cold::{CHUNK_BYTES, joined};
pub use curlew_model::{MAX_QUERY_BYTES, MAX_QUERY_TERMS, QueryError};
pub use cursor::{CURSOR_KEY_BYTES, Cursor};
pub use error::SearchError;
pub use hidden::{Hidden, Since};
pub use hit::{Explanation, SearchHit};
pub use listing::COPY_BITS;
pub use lookups::suggest;
pub use manifest::{Manifest, SplitEntry, Superseded, Tier};
pub use query::{Clause, Filters, Query, Sort};
pub use run::{MAX_DEPTH, Request, Results, Scope, search};
pub use sites::{SiteEntry, SiteProfile, site_profiles, sites};
pub use split::Split;
pub use tiers::{Due, chunks, due, purges};
