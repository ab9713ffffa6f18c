//! Chooses pages to re-check.

fn main() {}
