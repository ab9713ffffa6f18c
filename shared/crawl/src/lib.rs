//! Every call to a site: from a named site to the records of its pages.
//!
//! A module imports only from those before it in this list: [`politeness`] (leases, robots.txt, pauses, holds),
//! [`pages`] (from a new URL to a record), [`feeds`] (from a named site to new URLs). [`crawler`] builds them.

pub mod bulk;
pub mod crawler;
pub mod feeds;
pub mod pages;
pub mod parsing;
pub mod politeness;
pub mod worker;
