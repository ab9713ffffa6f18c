pub(crate) mod candidate;
pub(crate) mod lines;
pub(crate) mod parts;
pub(crate) mod sums;
mod tails;
