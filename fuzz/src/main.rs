//! Fuzz targets for libFuzzer: `cargo xtask fuzz` builds, runs and lists them. The ordinary tests run each target on
//! its first inputs.
#![cfg_attr(not(test), no_main)]
#![allow(unsafe_code, reason = "libFuzzer finds its entry by an exported name, which `fuzz_target` writes")]

mod codings;
#[cfg(not(test))]
mod entry;
mod feeds;
#[cfg(test)]
mod first_inputs;
mod input;
mod pages;
mod robots;
mod searches;
mod warcs;

/// A check that every input must pass; a failed check panics.
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
