//! Pure decisions: admission, backoff, pace, schedule, robots, directives, preferences, exclusions, sampling.
//!
//! Nothing here reads a clock, a random source, a file or a socket: `now` and `seed` are arguments.

pub mod address;
pub mod admission;
pub mod allowance;
pub mod chance;
pub mod conditional;
pub mod dates;
pub mod delivery;
pub mod directives;
pub mod exclusions;
pub mod fate;
pub mod http;
pub mod interstitial;
pub mod likeness;
pub mod outage;
pub mod ownership;
pub mod pace;
pub mod preferences;
pub mod publication;
pub mod push;
pub mod redirect;
pub mod robots;
mod rules;
pub mod sampling;
pub mod schedule;
pub mod scope;
mod settle;
pub mod websub;

pub use admission::{Admission, admit};
pub use rules::Rules;
pub use settle::{Asked, Outcome, hold_not_found, settle, url_held, url_held_until};
