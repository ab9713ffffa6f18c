//! Pure decisions: admission, backoff, pace, schedule, robots, directives, preferences, exclusions, sampling.
//!
//! Nothing here reads a clock, a random source, a file or a socket: `now` and `seed` are arguments. A module imports
//! only from those before it in this list: [`page`], [`robots`], [`site`], [`politeness`], [`polling`].

pub mod address;
pub mod chance;
pub mod delivery;
pub mod mapping_rest;
pub mod page;
pub mod politeness;
pub mod polling;
pub mod robots;
pub mod rules;
pub mod site;
pub mod skew;
pub mod trace;
