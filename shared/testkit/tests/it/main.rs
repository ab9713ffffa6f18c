//! Tests of the fakes and the wrappers.

mod faults;
mod memory;
mod update_host;
