//! The HTTP adapter: the only crate that opens a socket to a site.
