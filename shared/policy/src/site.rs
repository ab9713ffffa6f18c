//! What operators and owners say of a site: exclusions, ownership, suggestions.

pub mod allowance;
pub mod exclusions;
pub mod ownership;
