//! The search page and its forms.

fn main() {}
