//! Fuzz target of content codings.

use crate::input::{unfolded, within};
use curlew_fetcher::stored_page;
use curlew_warc::inflate::inflate;
use rustix::time::{ClockId, clock_gettime};
use std::io::{Cursor, Read};

/// Values of `Content-Encoding`; the first byte of an input chooses one.
const CODINGS: [&str; 4] = ["identity", "gzip", "br", "zstd"];
/// Maximum length of a document in bytes.
const MAX_BYTES: usize = 3 << 20;
/// Length in bytes up to which a document may be more than [`MAX_RATIO`] times as long as its coded form.
const RATIO_FLOOR: usize = 1 << 20;
/// Maximum ratio of a document to its coded form.
const MAX_RATIO: usize = 200;
/// Maximum processor time in microseconds: for an empty body, and for each byte of a body. The decoders count no
/// steps. So the limit is far above the time that they usually take, but below that of quadratic work.
const MICROSECONDS: (u64, u64) = (400_000, 8);

/// Decodes an input as the body of a page and as a file of an archive. Its first byte chooses the coding of the page.
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

/// Returns the processor time of this thread so far, in microseconds.
fn processor_time() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec.unsigned_abs() * 1_000_000 + time.tv_nsec.unsigned_abs() / 1_000
}
