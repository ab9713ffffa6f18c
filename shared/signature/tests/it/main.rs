//! The signatures of this crate, verified by `web-bot-auth`, which shares no code with it.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod accept;
mod keys;
mod signatures;
