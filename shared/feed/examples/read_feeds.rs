//! Measures the speed of parsing feeds, for comparison with other parsers in the same run: `cargo xtask bench feeds`.
//!
//! Arguments: the number of repetitions, and files of one feed each. The files are read into memory before the
//! measurement starts. Prints one line for all files: megabytes per second, entries, and seconds.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "an example measures, and ends at the first trouble"
)]

use curlew_feed::{Limits, parse};
use std::time::Instant;

fn main() {
    let mut args = std::env::args().skip(1);
    let rounds: u32 = args.next().unwrap().parse().unwrap();
    let feeds: Vec<Vec<u8>> = args.map(|file| std::fs::read(file).unwrap()).collect();
    let url = "https://feeds.test/all".parse().unwrap();
    let limits = Limits::default();
    let start = Instant::now();
    let mut entries = 0;
    for _ in 0..rounds {
        for feed in &feeds {
            entries += parse(feed, None, &url, &limits).map_or(0, |feed| feed.entries.len());
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    let bytes: usize = feeds.iter().map(Vec::len).sum();
    println!("{:.1} {entries} {seconds:.3}", bytes as f64 * f64::from(rounds) / 1e6 / seconds);
}
