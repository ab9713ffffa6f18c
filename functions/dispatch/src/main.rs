//! Each minute: sends what is due.

fn main() {}
