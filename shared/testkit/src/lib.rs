//! Conformance suites, in-memory fakes, fault wrappers and the deterministic simulator.

mod bad_time;
pub mod conformance;
pub mod faults;
pub mod long;
pub mod memory;
pub mod sim;
