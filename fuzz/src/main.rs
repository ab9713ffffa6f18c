//! Fuzz targets by libFuzzer: `cargo xtask fuzz` builds, runs and lists them. The environment variable
//! [`TARGET`] names the one that a process runs.
#![no_main]
#![allow(unsafe_code, reason = "libFuzzer finds its entry by an exported name, which `fuzz_target` writes")]

mod codings;
mod feeds;
mod input;
mod pages;
mod robots;
mod searches;
mod warcs;

use libfuzzer_sys::fuzz_target;
use std::sync::OnceLock;

/// The environment variable that names the target.
const TARGET: &str = "CURLEW_FUZZ_TARGET";

/// A check that every input has to pass; it fails by a panic.
type Check = fn(&[u8]);

/// The targets, by name.
const CHECKS: &[(&str, Check)] = &[
    ("article", pages::article),
    ("coding", codings::coding),
    ("decode", pages::decode),
    ("image", pages::image),
    ("feed", feeds::feed),
    ("discover", feeds::discover),
    ("opml", feeds::opml),
    ("robots", robots::robots),
    ("matching", robots::matching),
    ("directives", robots::directives),
    ("query", searches::query),
    ("split", searches::split),
    ("warc", warcs::warc),
];

static CHOSEN: OnceLock<Check> = OnceLock::new();

fn chosen() -> Check {
    *CHOSEN.get_or_init(|| {
        let name = std::env::var(TARGET).unwrap_or_default();
        let check = CHECKS.iter().find(|(known, _)| *known == name);
        check.unwrap_or_else(|| panic!("{TARGET} names no target: {name:?}")).1
    })
}

fuzz_target!(|data: &[u8]| chosen()(data));
