//! Makes records of pages.

fn main() {}
