//! Reads and writes WARC files (WARC/1.1, ISO 28500:2017). Pure. Untrusted files are read one record at a time. No
//! stated length causes an allocation, and a wrong one ends the reading with an error that contains the position.

pub mod http;
pub mod inflate;
pub mod reader;
pub mod writer;
