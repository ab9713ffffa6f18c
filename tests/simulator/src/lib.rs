//! The stages that ship, run in simulated time over stores in memory: [`sim`] searches for races by drawing faults and
//! schedules from a seed, [`long`] runs thousands of sites through weeks and judges politeness from the calls.

mod bad_time;
pub mod long;
pub mod sim;

use curlew_testkit::{faults, memory};
