//! A bundled web of small sites on loopback, with a log of every call.
//!
//! `curlew demo` and the end-to-end tests crawl it. One listener serves all sites, selected by the `Host` header; a
//! crawler gets `--resolve '*.test=127.0.0.1:PORT'`. All content is generated from constants: two farms with the same
//! parameters are identical, byte for byte. [`Site::expect`] states the correct result of crawling a site, and
//! [`judge`] evaluates a crawler's behaviour from the log.

mod blog;
mod body;
mod catalogue;
mod coding;
mod date;
mod farm;
mod feeds;
mod html;
mod hub;
pub mod judge;
mod live;
mod log;
mod names;
mod picture;
mod publisher;
mod reply;
mod server;
mod site;
mod sites;
#[cfg(test)]
mod tests;
mod text;
mod uniform;
mod wall;

pub use catalogue::{BLOGGER, Catalogue};
pub use farm::Farm;
pub use hub::{HUB, Signed, Subscriber};
pub use live::Mode;
pub use log::{Call, Kind};
pub use names::{NameServer, Record};
pub use server::{Running, serve, serve_logged};
pub use site::{Expect, Outcome, Site};
pub use text::{Text, texts};
pub use uniform::Uniform;
pub use wall::{Face, Scope, Wall};
