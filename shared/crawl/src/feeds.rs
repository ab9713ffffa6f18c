//! From a named site to new URLs: finding feeds, polling them, WebSub, back catalogues.

pub mod backfill;
pub mod discover;
pub mod dispatch;
pub(crate) mod feed_row;
pub mod first_pages;
pub mod intake;
pub mod poll;
pub mod polls;
pub mod relocation;
pub mod subscribe;
pub mod websub;
pub mod websub_delivery;
