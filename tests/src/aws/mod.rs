//! Observes a stack on an AWS endpoint from outside: the costs of its calls, and the consequences of their failures.
//!
//! A proxy in front of the endpoint meters the bill of each call and, by a plan, makes calls fail as they do on AWS.

pub mod api;
pub mod bill;
pub mod calibration;
pub mod call;
mod charge;
pub mod door;
mod dynamodb;
pub mod emulator;
pub mod faults;
mod item;
pub mod lambda;
pub mod mapping;
pub mod meter;
pub mod prices;
pub mod proxy;
pub mod random;
mod refusal;
mod s3;
pub mod sqs;
pub mod stack;
pub mod stand;
pub mod steady;
pub mod unit;
pub mod waits;
pub mod waker;
