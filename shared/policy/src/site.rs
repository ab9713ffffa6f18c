//! Decisions about sites by operators and owners: exclusions, ownership, suggestions.

pub mod allowance;
pub mod exclusions;
pub mod ownership;
