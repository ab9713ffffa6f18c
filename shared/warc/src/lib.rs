//! WARC files (WARC/1.1, ISO 28500:2017), read and written. Pure: readers and writers are the caller's, and no clock is
//! read.
//!
//! A file that a stranger wrote is read one record at a time. Nothing is allocated by a length that the file states,
//! and each of its lies ends the reading with an error that says where: see [`reader`]. Compressed files are read
//! through [`inflate`], which knows gzip and zstd and refuses bombs.

pub mod http;
pub mod inflate;
pub mod reader;
pub mod writer;
