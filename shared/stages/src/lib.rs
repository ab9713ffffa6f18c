//! The stages: each gathers facts through ports, asks a pure function, and applies the answer.

pub mod program;

pub use curlew_catalog as catalog;
pub use curlew_crawl::{bulk, crawler, feeds, pages, parsing, politeness, worker};
pub use curlew_people as operator;
pub use curlew_ports::stage;
