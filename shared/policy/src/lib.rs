//! Pure decisions: admission, backoff, pace, schedule, robots, directives, sampling.
//!
//! Nothing here reads a clock, a random source, a file or a socket: `now` and `seed` are arguments.

pub mod directives;
pub mod robots;
