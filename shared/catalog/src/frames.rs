//! Frames of zstd. Each thread reuses one context, since creating one clears tables of some hundred kilobytes.

use curlew_ports::stage::{Result, StageError};
use std::cell::RefCell;
use zstd::bulk::Compressor;

/// Compression level: fast, but not the fastest, since messages and stored objects are billed by the byte.
const LEVEL: i32 = 3;

thread_local! {
    static COMPRESSOR: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
}

/// Returns a frame of these bytes with their checksum; the same bytes always give the same frame.
pub fn compressed(bytes: &[u8]) -> Result<Vec<u8>> {
    let failed = |e: std::io::Error| StageError::Job(format!("cannot compress: {e}"));
    COMPRESSOR.with_borrow_mut(|compressor| {
        let compressor = match compressor {
            Some(compressor) => compressor,
            none => {
                let mut new = Compressor::new(LEVEL).map_err(failed)?;
                new.include_checksum(true).map_err(failed)?;
                none.insert(new)
            }
        };
        compressor.compress(bytes).map_err(failed)
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use curlew_policy::chance::mix;

    #[test]
    fn a_frame_depends_on_its_bytes_alone() {
        let noise = |seed: u64, length: u64| (0..length).map(|n| (mix(seed + n / 3) % 23) as u8).collect::<Vec<u8>>();
        for (n, length) in [0, 1, 70_000, 300, 2_000_000, 4_000, 4_000, 90_000, 15].into_iter().enumerate() {
            let bytes = noise(n as u64, length);
            let frame = compressed(&bytes).unwrap();
            let mut alone = Compressor::new(LEVEL).unwrap();
            alone.include_checksum(true).unwrap();
            assert_eq!(frame, alone.compress(&bytes).unwrap(), "{length} bytes after others");
            assert_eq!(zstd::bulk::decompress(&frame, bytes.len()).unwrap(), bytes);
        }
    }

    #[test]
    fn no_flipped_bit_gives_other_bytes() {
        let text = b"Behind the town the road bends to the river, and the mill still grinds on market days.".repeat(3);
        let frame = compressed(&text).unwrap();
        for bit in 0..8 * frame.len() {
            let mut flipped = frame.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            let read = zstd::bulk::decompress(&flipped, 2 * text.len());
            assert!(read.as_ref().map_or(true, |read| *read == text), "bit {bit}");
        }
    }
}
