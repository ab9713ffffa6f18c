//! Tests that run both simulators.
#![allow(clippy::print_stderr, reason = "a seed that fails is named")]

mod long;
mod sim;
