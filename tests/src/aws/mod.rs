//! The stack on an AWS endpoint, looked at from outside: what its calls cost, and what becomes of it when they fail.
//!
//! A proxy stands before the endpoint. It meters what AWS would bill for each call and, if it is told to, makes
//! calls fail the way they do on AWS.

pub mod api;
pub mod bill;
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
pub mod unit;
pub mod waker;
