//! WARC files (WARC/1.1, ISO 28500:2017), read and written. Pure. A stranger's file is read one record at a time:
//! nothing is allocated by a length that it states, and each lie ends the reading with an error that says where.

pub mod http;
pub mod inflate;
pub mod reader;
pub mod writer;
