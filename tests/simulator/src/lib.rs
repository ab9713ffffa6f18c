//! Simulators that run the real stages in simulated time over stores in memory. [`sim`] searches for races with faults
//! and schedules drawn from a seed. [`long`] runs thousands of sites for weeks and judges the politeness of each call.

mod bad_time;
pub mod long;
pub mod sim;

use curlew_testkit::{faults, memory};
