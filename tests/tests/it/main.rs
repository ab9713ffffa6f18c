//! End-to-end tests of the real binary, the bundled web, a real browser and the stack on an emulator, and tests of the
//! repository's own rules.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test fails by panicking, and some say what they have measured"
)]

mod alarms;
mod assistants;
mod aws_bad_input;
mod aws_batch;
mod aws_capacity;
mod aws_crawl;
mod aws_faults;
mod aws_pictures;
mod aws_poison;
mod aws_release;
mod aws_rest;
mod aws_restore;
mod backup;
mod browser;
mod browser_admin;
mod browser_pages;
mod bulk;
mod checks;
mod commands;
mod commands_failing;
mod contrib;
mod demo;
mod documents;
mod exports;
mod farm;
mod history;
mod kill;
mod layering;
mod lists;
mod manners;
mod meter;
mod metrics;
mod models;
mod overruns;
mod owner;
mod packages;
mod permissions;
mod politeness;
mod profiles;
mod proxies;
mod requests;
mod signatures;
mod trace;
mod walls;
mod warc;
mod watches;
mod websub;
mod workflows;
