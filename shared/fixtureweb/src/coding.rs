//! Content codings (RFC 9110 §8.4.1) of the bundled web. gzip compresses; brotli and zstd are written as stored blocks,
//! which are valid, need no compressor, and still exercise a reader's framing.

use bytes::Bytes;
use flate2::{Compression, write::GzEncoder};
use std::io::Write as _;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coding {
    Gzip,
    Brotli,
    Zstd,
}

impl Coding {
    pub(crate) const fn token(self) -> &'static str {
        match self {
            Coding::Gzip => "gzip",
            Coding::Brotli => "br",
            Coding::Zstd => "zstd",
        }
    }

    /// True if the value of `Accept-Encoding` offers this coding.
    pub(crate) fn is_offered(self, accept: &str) -> bool {
        accept.split(',').any(|item| {
            let (name, weight) = item.split_once(';').unwrap_or((item, ""));
            name.trim().eq_ignore_ascii_case(self.token()) && !matches!(weight.trim(), "q=0" | "q=0.0")
        })
    }

    pub(crate) fn encode(self, plain: &[u8]) -> Bytes {
        match self {
            Coding::Gzip => gzip(plain),
            Coding::Brotli => brotli(plain),
            Coding::Zstd => zstd(plain),
        }
    }
}

fn gzip(plain: &[u8]) -> Bytes {
    let mut out = GzEncoder::new(Vec::with_capacity(plain.len() / 3), Compression::fast());
    // Writing to memory does not fail; an empty body would reveal it.
    if out.write_all(plain).is_err() {
        return Bytes::new();
    }
    out.finish().map(Bytes::from).unwrap_or_default()
}

/// Returns the gzip of an HTML page of `mebibytes` MiB; the compressed size is about a thousandth of that.
pub(crate) fn gzip_bomb(mebibytes: usize) -> Bytes {
    let mut out = GzEncoder::new(Vec::new(), Compression::default());
    let filler = vec![b' '; 1 << 20];
    let head = b"<!doctype html><html><head><title>Bomb shelter</title></head><body><p>";
    if out.write_all(head).is_err() || (0..mebibytes).any(|_| out.write_all(&filler).is_err()) {
        return Bytes::new();
    }
    out.finish().map(Bytes::from).unwrap_or_default()
}

/// Encodes as brotli with uncompressed meta-blocks in a window of 2^16 (RFC 7932 §9).
fn brotli(plain: &[u8]) -> Bytes {
    let mut out = Vec::with_capacity(plain.len() + 16);
    for (i, block) in plain.chunks(1 << 16).enumerate() {
        // Only the first meta-block follows the stream header (one 0 bit: WBITS 16).
        let header_bits = u32::from(i == 0);
        // ISLAST 0, MNIBBLES 00 (four), MLEN - 1 in 16 bits, ISUNCOMPRESSED 1; then padded to a byte.
        let bits = (((block.len() as u32 - 1) << 3) | (1 << 19)) << header_bits;
        out.extend_from_slice(&bits.to_le_bytes()[..3]);
        out.extend_from_slice(block);
    }
    // ISLAST 1, ISLASTEMPTY 1; an empty stream still needs its header bit.
    out.push(if plain.is_empty() { 0b110 } else { 0b11 });
    Bytes::from(out)
}

/// Encodes as zstd: one frame of raw blocks, content size known, no checksum (RFC 8878 §3.1).
fn zstd(plain: &[u8]) -> Bytes {
    const BLOCK: usize = 1 << 17;
    let mut out = Vec::with_capacity(plain.len() + 32);
    out.extend_from_slice(&[0x28, 0xb5, 0x2f, 0xfd]);
    // Frame_Content_Size in 4 bytes, Single_Segment_flag set.
    out.push(0b1010_0000);
    out.extend_from_slice(&(plain.len() as u32).to_le_bytes());
    let mut blocks = plain.chunks(BLOCK).peekable();
    if blocks.peek().is_none() {
        out.extend_from_slice(&[1, 0, 0]);
    }
    while let Some(block) = blocks.next() {
        let header = (block.len() as u32) << 3 | u32::from(blocks.peek().is_none());
        out.extend_from_slice(&header.to_le_bytes()[..3]);
        out.extend_from_slice(block);
    }
    Bytes::from(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;

    #[test]
    fn an_offer_is_read() {
        assert!(Coding::Brotli.is_offered("gzip, br;q=0.9"));
        assert!(Coding::Gzip.is_offered("GZIP"));
        assert!(!Coding::Gzip.is_offered("gzip;q=0, br"));
        assert!(!Coding::Zstd.is_offered(""));
    }

    fn decode(coding: Coding, coded: &[u8]) -> std::io::Result<Vec<u8>> {
        let mut plain = Vec::new();
        match coding {
            Coding::Gzip => flate2::read::GzDecoder::new(coded).read_to_end(&mut plain)?,
            Coding::Brotli => brotli_decompressor::Decompressor::new(coded, 4_096).read_to_end(&mut plain)?,
            Coding::Zstd => zstd::Decoder::new(coded)?.read_to_end(&mut plain)?,
        };
        Ok(plain)
    }

    #[test]
    fn what_is_coded_can_be_decoded() -> std::io::Result<()> {
        let long: Vec<u8> = (0..300_000_u32).flat_map(u32::to_le_bytes).collect();
        for plain in [b"".as_slice(), b"a", b"two words", &long[..1 << 16], &long[..1 << 17], &long] {
            for coding in [Coding::Gzip, Coding::Brotli, Coding::Zstd] {
                let decoded = decode(coding, &coding.encode(plain))?;
                assert!(decoded == plain, "{coding:?} of {} bytes gives {}", plain.len(), decoded.len());
            }
        }
        Ok(())
    }

    #[test]
    fn a_bomb_is_small_on_the_wire() -> std::io::Result<()> {
        let bomb = gzip_bomb(8);
        assert!(bomb.len() < 20_000, "{}", bomb.len());
        assert!(decode(Coding::Gzip, &bomb)?.len() > 8 << 20);
        Ok(())
    }
}
