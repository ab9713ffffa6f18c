//! Real sockets on loopback and hostile servers written by hand; the letters of a test's name tell what it is about:
//! u = where a request may go, t = transport, c = compression, b and r = bodies and robots.txt, h = politeness.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has to fail")]

mod address;
mod coding;
mod guard;
mod politeness;
mod room;
pub(crate) mod server;
mod tls;
mod transport;
