//! Tests on real loopback sockets with hand-written hostile servers. The letter in a test's name is its subject: u =
//! where a request may go, t = transport, c = compression, b and r = bodies and robots.txt, h = politeness.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has to fail")]

mod address;
mod coding;
mod guard;
mod politeness;
mod room;
pub(crate) mod server;
mod tls;
mod transport;
