//! The fakes, the wrappers and the simulators.
#![allow(clippy::print_stderr, reason = "a seed that fails is named")]

mod faults;
mod long;
mod memory;
mod sim;
mod update_host;
