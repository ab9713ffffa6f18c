//! What a page says of itself and of how it may be used, and when it is looked at again.

pub mod dates;
pub mod directives;
pub mod preferences;
pub mod publication;
pub mod sampling;
pub mod soft404;
