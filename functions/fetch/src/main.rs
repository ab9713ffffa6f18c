//! Visits hosts.

fn main() {}
