//! Records and the index over them: segments, publishing, search, removal.

pub mod export;
pub mod find;
pub mod frames;
pub mod hidden;
pub mod index;
pub mod indexed_years;
pub mod library;
pub mod listing;
pub(crate) mod live_index;
pub mod manifest;
pub mod object;
pub mod raw;
pub(crate) mod remembered;
pub mod removal;
pub mod results;
pub mod segment;
pub(crate) mod splits;
pub mod thumbnails;
