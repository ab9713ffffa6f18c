//! Conformance suites, in-memory fakes and fault wrappers.

pub mod conformance;
pub mod faults;
pub mod memory;
pub mod sample;

#[doc(hidden)]
pub use curlew_ports as ports;
