//! Fuzz target of WARC files.

use curlew_warc::http;
use curlew_warc::reader::WarcReader;

/// Maximum length of a block in bytes, so small that inputs reach it.
const MAX_BLOCK: u64 = 1_024;

/// Reads a file to its end, and parses each block as a response. No block may be longer than the input.
pub(crate) fn warc(data: &[u8]) {
    let mut reader = WarcReader::new(data, MAX_BLOCK);
    while let Ok(Some(record)) = reader.next_record(|_| true) {
        let Some(block) = record.block else { continue };
        assert_eq!(block.len() as u64, record.length);
        assert!(block.len() <= data.len());
        if let Some(response) = http::response(&block)
            && let Ok(body) = response.unchunked()
        {
            assert!(body.len() <= block.len());
        }
    }
}
