//! Content codings.

use crate::input::{unfolded, within};
use curlew_fetcher::stored_page;
use curlew_warc::inflate::inflate;
use rustix::time::{ClockId, clock_gettime};
use std::io::{Cursor, Read};

/// Values of `Content-Encoding`; the first byte of an input chooses one.
const CODINGS: [&str; 4] = ["identity", "gzip", "br", "zstd"];
/// Maximum length of a document in bytes.
const MAX_BYTES: usize = 3 << 20;
/// Length in bytes from which on a document may not be more than [`MAX_RATIO`] times as long as its coded form.
const RATIO_FLOOR: usize = 1 << 20;
/// Maximum ratio of a document to its coded form.
const MAX_RATIO: usize = 200;
/// Processor time in microseconds that may be taken by an empty body, and by each byte more. The decoders count no
/// steps, so this is far above what they take, and below what quadratic work would.
const MICROSECONDS: (u64, u64) = (400_000, 8);

/// The first byte is the coding, the rest the body of a page, and a file of an archive.
pub(crate) fn coding(data: &[u8]) {
    let Some((first, body)) = data.split_first() else { return };
    let (coding, body) = (CODINGS[usize::from(*first) % CODINGS.len()], unfolded(body));
    let began = processor_time();
    let decode = || stored_page(Some("text/html"), [coding].into_iter(), &body, MAX_BYTES);
    if let Ok(Some(page)) = decode() {
        let most = RATIO_FLOOR.max(MAX_RATIO * body.len()).min(MAX_BYTES);
        assert!(page.len() <= most, "{} bytes of {}, where {most} are the most", page.len(), body.len());
        assert_eq!(decode().ok().flatten(), Some(page), "the same twice");
    }
    if let Ok(file) = inflate(Cursor::new(body.clone())) {
        let _ = std::io::copy(&mut file.take(MAX_BYTES as u64), &mut std::io::sink());
    }
    within(processor_time() - began, MICROSECONDS.0, MICROSECONDS.1, body.len());
}

/// Processor time of this thread so far, in microseconds.
fn processor_time() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec.unsigned_abs() * 1_000_000 + time.tv_nsec.unsigned_abs() / 1_000
}
