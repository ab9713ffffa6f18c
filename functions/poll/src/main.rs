//! Reads feeds.

fn main() {}
