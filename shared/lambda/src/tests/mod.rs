//! Tests of several parts together, and the world in which the tests of all parts run.

pub(crate) mod events;
pub(crate) mod far;
pub(crate) mod world;
