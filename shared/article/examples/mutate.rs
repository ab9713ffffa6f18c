//! Reads pages as JSON Lines (`id`, `url`, `body_b64`), mutates each in many ways derived from a seed, and extracts the
//! result. The program fails, naming page and seed, on a panic or if the work is out of proportion to the length.
//!
//! `cargo run --release -p curlew-article --example mutate 20 < pages.jsonl` makes 20 mutants of each page.
#![allow(clippy::print_stdout, reason = "printing is what this program is for")]
#![allow(clippy::disallowed_methods, reason = "it is told how often on the command line")]

use base64::Engine;
use curlew_article::{Limits, decode, measure, scan_head};
use serde_json::Value;
use std::io::BufRead;
use std::panic::catch_unwind;

/// Step limit: a constant, and an amount per byte of the page.
const LINE: (u64, u64) = (9_000_000, 12);
/// Fragments to insert.
const PIECES: [&str; 16] = [
    "<b x>",
    "</i>",
    "<table>",
    "<!--",
    "<html a=1>",
    "<template id=B:1>",
    "<div hidden id=S:1>",
    "<script type=application/ld+json>{\"@graph\":[",
    "</p a b>",
    "<svg><title>",
    "<time datetime=2026-02-30>",
    "\u{0}",
    "\u{202E}é\u{301}",
    "&#x110000;",
    "<select><option>",
    "<h1 class=date itemprop='a b' itemscope itemref=x>",
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let times: u64 = std::env::args().nth(1).map_or(Ok(10), |times| times.parse())?;
    let mut read = 0_u64;
    for line in std::io::stdin().lock().lines() {
        let page: Value = serde_json::from_str(&line?)?;
        let field = |name: &str| page.get(name).and_then(Value::as_str).unwrap_or_default();
        let body = base64::engine::general_purpose::STANDARD.decode(field("body_b64"))?;
        for seed in 1..=times {
            let broken = mutate(&body, seed);
            let url = field("url").parse()?;
            let took = catch_unwind(|| {
                let html = decode(&broken, None);
                let _ = scan_head(&html, &url, &Limits::default());
                (measure(&html, &url, &Limits::default()).1.total(), html.len() as u64)
            });
            let Ok((steps, bytes)) = took else { return Err(format!("{} panics at seed {seed}", field("id")).into()) };
            if steps > LINE.0 + LINE.1 * bytes {
                return Err(format!("{}: {steps} steps for {bytes} bytes at seed {seed}", field("id")).into());
            }
            read += 1;
        }
    }
    println!("{read} pages read");
    Ok(())
}

/// Returns the bytes with pieces cut out, repeated, changed and inserted.
fn mutate(body: &[u8], seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below.max(1) as u64).unwrap_or_default()
    };
    let mut out = body.to_vec();
    for _ in 0..=next(24) {
        let at = next(out.len());
        let end = (at + next(2_000)).min(out.len());
        match next(6) {
            0 => drop(out.drain(at..end)),
            1 => {
                let piece = out.get(at..end).unwrap_or_default().repeat(1 + next(8));
                out.splice(at..at, piece);
            }
            2 => out.get_mut(at..end).unwrap_or_default().reverse(),
            3 => out.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << next(8)),
            4 => {
                let piece = PIECES.get(next(PIECES.len())).copied().unwrap_or_default().repeat(1 + next(600));
                out.splice(at..at, piece.into_bytes());
            }
            _ => out.truncate(out.len() - out.len() / (2 + next(40))),
        }
    }
    out
}
