//! Publishes the index.

fn main() {}
