//! Finds the feeds of sites.

fn main() {}
