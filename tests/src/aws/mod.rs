//! The stack on an AWS endpoint, looked at from outside: what its calls cost, and what becomes of it when they fail.
//!
//! A proxy stands before the endpoint. It meters what AWS would bill for each call and, if it is told to, makes
//! calls fail the way they do on AWS.

pub mod prices;
pub mod unit;
