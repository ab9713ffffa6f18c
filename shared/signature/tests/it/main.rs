//! Verifies signatures with `web-bot-auth`, which shares no code with this crate.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod accept;
mod keys;
mod signatures;
