//! The HTTP adapter: the only crate that opens a socket to a site.
//!
//! One [`Fetch::call`](curlew_ports::Fetch::call) is exactly one GET or POST. A redirect comes back as a reply with its
//! `Location`, so that robots.txt, politeness and the address guard see every hop. Deliberately absent: cookies,
//! `Referer`, proxies, retries, HTTP/3, `Alt-Svc`, credentials, a switch that ignores bad certificates.
//!
//! [`guard`] is pure and decides where a request may go: it checks literal addresses and names before anything is sent,
//! and looked-up addresses before a connection is made to them. The address that answered is compared with them.

pub mod guard;

mod body;
mod config;
mod connections;
mod decode;
mod failure;
mod fetcher;
mod headers;
mod hosts_file;
mod media;
mod names;
mod resolver;
mod room;
mod stored;

pub use config::{ByteLimits, Config, ConfigError};
pub use fetcher::{HttpFetcher, status_as_read};
pub use guard::{Endpoint, Guard, HostPattern, ResolveRule};
pub use names::TxtRecords;
pub use stored::stored_page;

#[cfg(test)]
mod tests;
