//! Tests of several parts together, and the surroundings for the tests of all parts.

pub(crate) mod events;
pub(crate) mod far;
pub(crate) mod world;
