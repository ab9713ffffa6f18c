//! Tests of content codings, decompression bombs and broken streams.

use super::server::{HTML, PAGE, Server, assert_case_fails, assert_fails, call, ok, page_under};
use crate::HttpFetcher;
use crate::config::Config;
use crate::decode::{Coding, DecodeError, Decoder};
use crate::room::Room;
use async_trait::async_trait;
use curlew_model::Millis;
use curlew_ports::{CallKind, CpuError, CpuPool, CpuTask, FetchError, Reply};
use flate2::{Compression, GzBuilder, write::GzEncoder};
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use zstd::stream::raw::CParameter;

const TEXT: &[u8] = b"<p>The curlew probes gently, and moves on. ";

fn text() -> Vec<u8> {
    TEXT.repeat(500)
}

pub(super) fn gzip(data: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

fn brotli(data: &[u8], large_window: bool) -> Vec<u8> {
    let params = brotli::enc::BrotliEncoderParams {
        large_window,
        quality: 5,
        lgwin: if large_window { 30 } else { 22 },
        ..Default::default()
    };
    let mut out = Vec::new();
    brotli::BrotliCompress(&mut &data[..], &mut out, &params).unwrap();
    out
}

fn zstd(data: &[u8], window_log: u32) -> Vec<u8> {
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 3).unwrap();
    encoder.set_parameter(CParameter::WindowLog(window_log)).unwrap();
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

/// Returns the usual limits with this processor time for a body.
fn timed(decode_time: Millis) -> Config {
    Config { decode_time, ..Config::new("Test/1", "Test/1") }
}

type Encode = fn(&[u8]) -> Vec<u8>;

fn codings() -> [(&'static str, Encode); 3] {
    [("gzip", gzip), ("br", |data| brotli(data, false)), ("zstd", |data| zstd(data, 21))]
}

async fn coded(media: &str, coding: &str, body: &[u8]) -> Server {
    Server::saying(ok(&format!("Content-Type: {media}\r\nContent-Encoding: {coding}\r\n"), body)).await
}

async fn fetch_coded(kind: CallKind, coding: &str, body: &[u8]) -> Result<Reply, FetchError> {
    let media = if kind == CallKind::Page { "text/html" } else { "text/xml" };
    call(&coded(media, coding, body).await.fetcher(), kind, PAGE).await
}

async fn page_coded(coding: &str, body: &[u8]) -> Result<Reply, FetchError> {
    fetch_coded(CallKind::Page, coding, body).await
}

#[tokio::test]
async fn h13_every_coding_that_is_offered_is_decoded() {
    for (name, encode) in codings() {
        let reply = page_coded(name, &encode(&text())).await.unwrap();
        assert!(reply.body == text(), "{name}: {} bytes", reply.body.len());
        let empty = page_coded(name, b"").await.unwrap();
        assert!(empty.body.is_empty(), "{name}");
    }
    let two_members = [gzip(b"one "), gzip(b"two")].concat();
    assert_eq!(&page_coded("gzip", &two_members).await.unwrap().body[..], b"one two");
    let two_frames = [zstd(b"one ", 21), zstd(b"two", 21)].concat();
    assert_eq!(&page_coded("zstd", &two_frames).await.unwrap().body[..], b"one two");
}

#[tokio::test]
async fn a_gzip_body_may_be_announced_with_the_length_of_its_content_if_it_is_whole() {
    let (whole, text) = (gzip(&text()), text());
    for (length, body, is_whole) in [
        (text.len(), &whole[..], true),
        (text.len() + 1, &whole, false),
        (text.len(), &whole[..whole.len() - 1], false),
        (text.len(), &whole[..20], false),
        (whole.len() + 1, &whole, false),
    ] {
        let head = format!("{HTML}Content-Encoding: gzip\r\nContent-Length: {length}\r\n\r\n");
        let reply = Server::saying([head.as_bytes(), body].concat()).await.page().await;
        match is_whole {
            true => assert!(reply.unwrap().body == text),
            false => assert_case_fails(&length.to_string(), &reply, "Cut", "cut short"),
        }
    }
}

#[tokio::test]
async fn r11_the_limit_of_robots_txt_counts_decoded_bytes_and_is_no_error() {
    // The rules hardly repeat, so that no other limit is reached first.
    let rules: String = (0..60_000_u32).map(|n| format!("Disallow: /{:08x}\n", n.wrapping_mul(0x9E37_79B1))).collect();
    for (name, encode) in codings() {
        let coded = encode(rules.as_bytes());
        assert!(coded.len() < 512 << 10, "{name}");
        let reply = fetch_coded(CallKind::Robots, name, &coded).await.unwrap();
        assert!(reply.body == rules.as_bytes()[..512 << 10], "{name}: {} bytes", reply.body.len());
    }
}

#[tokio::test]
async fn c01_c02_bombs_end_by_their_ratio() {
    let zeros = vec![0; 64 << 20];
    for (name, encode) in codings() {
        let bomb = encode(&zeros);
        assert!(bomb.len() < 100_000, "{name}: {} bytes", bomb.len());
        assert_case_fails(name, &fetch_coded(CallKind::Feed, name, &bomb).await, "Limit", "beyond reason");
    }
}

#[tokio::test]
async fn c01_c02_bombs_end_by_their_bytes_where_the_ratio_would_let_them() {
    let zeros = vec![0; 64 << 20];
    for (name, encode) in codings() {
        let server = coded("text/html", name, &encode(&zeros)).await;
        let fetcher = HttpFetcher::new(Config { max_ratio: u64::MAX, ..server.config() }).unwrap();
        assert_case_fails(name, &call(&fetcher, CallKind::Page, PAGE).await, "Limit", "3145728");
        // r04: a robots.txt of the same bytes is read up to its limit.
        let reply = call(&fetcher, CallKind::Robots, "http://site.test/robots.txt").await.unwrap();
        assert_eq!(reply.body.len(), 512 << 10, "{name}");
    }
}

#[tokio::test]
async fn a_ratio_that_documents_have_passes() {
    // 2 MiB of noisy hexadecimal digits compress about twofold, 1 MiB of zeros a thousandfold but stay below the floor.
    let noise = noise(2 << 20);
    for (name, encode) in codings() {
        assert!(page_coded(name, &encode(&noise)).await.unwrap().body == noise, "{name}");
        assert_eq!(page_coded(name, &encode(&vec![0; 1 << 20])).await.unwrap().body.len(), 1 << 20, "{name}");
    }
}

#[tokio::test]
async fn c03_stacked_and_unknown_codings_are_refused() {
    let twice = gzip(&gzip(&text()));
    for coding in [
        "gzip, gzip",
        "gzip,br",
        "identity, gzip, x-gzip",
        "gzip, utf-8, br",
        "deflate",
        "X-Deflate",
        "compress",
        "aws-chunked",
        "aws-chunked, gzip",
        "utf-8, dcz",
    ] {
        assert_case_fails(coding, &page_coded(coding, &twice).await, "Protocol", "coding");
    }
    let two_lines = ok("Content-Type: text/html\r\nContent-Encoding: gzip\r\nContent-Encoding: gzip\r\n", &twice);
    assert_fails(&Server::saying(two_lines).await.page().await, "Protocol", "");
}

#[tokio::test]
async fn c03_a_name_that_is_no_codings_leaves_the_body_as_it_is() {
    let none =
        ["UTF-8", "none", "null", "binary", "8bit", "ISO-8859-1", "text/html; charset=utf-8", "chunked", "-", "\u{e9}"];
    for name in none {
        assert!(page_coded(name, &text()).await.unwrap().body == text(), "{name}");
        for both in [format!("gzip, {name}"), format!("{name}, gzip")] {
            assert!(page_coded(&both, &gzip(&text())).await.unwrap().body == text(), "{both}");
        }
    }
}

#[tokio::test]
async fn c04_names_of_codings_are_case_insensitive_and_x_gzip_is_gzip() {
    for coding in ["GZIP", "x-gzip", "X-GZip", "identity, gzip", " gzip ", "gzip,", "gzip;q=1"] {
        assert!(page_coded(coding, &gzip(&text())).await.unwrap().body == text(), "{coding}");
    }
    assert!(page_coded("BR", &brotli(&text(), false)).await.unwrap().body == text());
    assert!(page_coded("Identity", &text()).await.unwrap().body == text());
}

#[tokio::test]
async fn c05_a_gzip_file_without_a_coding_is_undone_once_under_the_same_limits() {
    let fetch = async |kind, body: Vec<u8>| {
        let media = if kind == CallKind::Image { "image/png" } else { "application/x-gzip" };
        let server = Server::saying(ok(&format!("Content-Type: {media}\r\n"), &body)).await;
        call(&server.fetcher(), kind, "http://site.test/feed.xml.gz").await
    };
    let mut named = GzBuilder::new().filename("feed.xml").write(Vec::new(), Compression::fast());
    named.write_all(&text()).unwrap();
    let named = named.finish().unwrap();
    assert!(fetch(CallKind::Feed, named).await.unwrap().body == text());
    let inner = gzip(&text());
    assert!(fetch(CallKind::Feed, gzip(&inner)).await.unwrap().body == inner);
    assert!(fetch(CallKind::Image, inner.clone()).await.unwrap().body == inner);
    let bomb = fetch(CallKind::Feed, gzip(&vec![0; 64 << 20])).await;
    assert_fails(&bomb, "Limit", "");
    assert_fails(&fetch(CallKind::Feed, inner[..inner.len() - 9].to_vec()).await, "Protocol", "");
    assert!(page_coded("gzip", &gzip(&inner)).await.unwrap().body == inner);
}

#[tokio::test]
async fn c06_truncated_garbled_and_overlong_streams_are_errors() {
    for (name, encode) in codings() {
        let whole = encode(&text());
        let mut broken: Vec<(&str, Vec<u8>)> = vec![
            ("one byte", whole[..1].to_vec()),
            ("half", whole[..whole.len() / 2].to_vec()),
            ("all but the last byte", whole[..whole.len() - 1].to_vec()),
            ("not coded at all", text()),
        ];
        if name != "gzip" {
            broken.push(("trailing garbage", [&whole[..], b"<script>garbage</script>"].concat()));
        } else {
            let mut wrong_sum = whole.clone();
            let crc = whole.len() - 8;
            wrong_sum[crc] ^= 1;
            broken.push(("wrong checksum, then padding", [&wrong_sum[..], &[0; 99]].concat()));
            broken.push(("wrong checksum", wrong_sum));
            broken.push(("a second member that is cut", [&whole[..], &whole[..whole.len() / 2]].concat()));
            // Only the checksum shows that nothing is missing or damaged.
            broken.push(("no trailer", whole[..whole.len() - 8].to_vec()));
        }
        for (fault, body) in broken {
            assert_case_fails(fault, &page_coded(name, &body).await, "Protocol", "");
        }
    }
}

#[tokio::test]
async fn c07_windows_over_8_mib_are_refused() {
    // The data is streamed, so that the frame states its window and not its size.
    assert!(page_coded("zstd", &zstd(&text(), 23)).await.unwrap().body == text());
    assert_fails(&page_coded("zstd", &zstd(&text(), 27)).await, "Protocol", "");
    assert_fails(&page_coded("br", &brotli(&text(), true)).await, "Protocol", "");
}

#[test]
fn t13_empty_pieces_change_nothing() {
    for (coding, (name, encode)) in [Coding::Gzip, Coding::Brotli, Coding::Zstd].into_iter().zip(codings()) {
        let mut decoder = decoder(coding, Millis::from_secs(2), 1 << 20);
        for byte in encode(&text()) {
            decoder.push(&[byte]).unwrap();
            (0..20).for_each(|_| decoder.push(&[]).unwrap());
        }
        assert!(decoder.finish().unwrap().0 == text(), "{name}");
    }
}

#[tokio::test]
async fn c06_bytes_after_a_whole_gzip_member_are_not_the_documents() {
    let after =
        [&[0][..], &[0; 9], &[0; 10], &[0; 4_000], b"\n", b"<!-- cached -->", b"\x1f\x8b", b"\x1f\x8b\x09 and so on"];
    for (document, after) in
        [b"tide".to_vec(), text()].into_iter().flat_map(|document| after.map(|a| (document.clone(), a)))
    {
        let body = [&gzip(&document)[..], after].concat();
        assert!(page_coded("gzip", &body).await.unwrap().body == document, "{after:?}");
        // The result does not depend on where the pieces end.
        let mut decoder = decoder(Coding::Gzip, Millis::from_secs(2), 1 << 20);
        body.iter().for_each(|byte| decoder.push(&[*byte]).unwrap());
        assert!(decoder.finish().unwrap().0 == document, "{after:?}");
    }
}

fn decoder(coding: Coding, decode_time: Millis, max: usize) -> Decoder {
    Decoder::new(coding, max, &timed(decode_time), Room::with_limits(0, 2 * max).share()).unwrap()
}

/// Returns noisy hexadecimal digits, which compress about twofold.
fn noise(length: usize) -> Vec<u8> {
    let mut seed = 1_u32;
    let digits = std::iter::repeat_with(|| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        b"0123456789abcdef"[(seed >> 28) as usize]
    });
    digits.take(length).collect()
}

/// Writes bits, the lowest first.
#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    used: u32,
}

impl Bits {
    fn put_all(&mut self, fields: &[(u32, u32)]) {
        fields.iter().for_each(|(value, width)| self.put(*value, *width));
    }

    fn put(&mut self, value: u32, width: u32) {
        for bit in 0..width {
            if self.used.is_multiple_of(8) {
                self.bytes.push(0);
            }
            *self.bytes.last_mut().unwrap() |= u8::from(value >> bit & 1 == 1) << (self.used % 8);
            self.used += 1;
        }
    }
}

/// Returns brotli (RFC 7932) in which every meta-block yields one letter and describes 512 prefix codes for it: at
/// least `coded` bytes.
fn brotli_tables(coded: usize) -> Vec<u8> {
    let mut bits = Bits::default();
    bits.put(0, 1);
    while bits.bytes.len() < coded {
        // Not the last; four nibbles of length, one byte, compressed; one type of each block; no postfix, one mode.
        bits.put_all(&[(0, 1), (0, 2), (0, 16), (0, 1), (0, 3), (0, 6), (0, 2)]);
        // 256 trees of literals, and of distances, by a map of one zero-length code for all contexts.
        for _map in 0..2 {
            bits.put_all(&[(1, 1), (7, 3), (127, 7), (0, 1), (1, 2), (0, 2), (0, 8), (0, 1)]);
        }
        // Simple codes of one symbol each: 256 letters, one length code, 256 distances.
        (0..256).for_each(|tree| bits.put_all(&[(1, 2), (0, 2), (97 + tree % 26, 8)]));
        bits.put_all(&[(1, 2), (0, 2), (8, 10)]);
        (0..256).for_each(|_| bits.put_all(&[(1, 2), (0, 2), (0, 6)]));
    }
    bits.put(3, 2);
    bits.bytes
}

#[derive(Default)]
struct Counted(AtomicUsize);

#[async_trait]
impl CpuPool for Counted {
    async fn run(&self, _: CpuTask, work: Box<dyn FnOnce() + Send>) -> Result<(), CpuError> {
        self.0.fetch_add(1, Ordering::Relaxed);
        work();
        Ok(())
    }
}

#[tokio::test]
async fn coded_bytes_that_bring_hardly_anything_end_after_a_megabyte_in_every_coding() {
    let stored = [&[0, 0, 0, 0xff, 0xff][..]].concat();
    let gzip_head = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3];
    let zstd_empty = [0x28, 0xb5, 0x2f, 0xfd, 0x20, 0, 1, 0, 0];
    // Skippable frames (RFC 8878 §3.1.2), empty and of 16 KiB.
    let zstd_skipped = [0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0];
    let zstd_skipped_much = [&[0x50, 0x2a, 0x4d, 0x18, 0xf8, 0x3f, 0, 0][..], &[0; 0x3ff8]].concat();
    const LONG: usize = 2 << 20;
    let cases = [
        ("br", Coding::Brotli, brotli_tables(LONG)),
        ("br", Coding::Brotli, [&[12][..], &[6].repeat(LONG), &[3]].concat()),
        ("zstd", Coding::Zstd, zstd_empty.repeat(LONG / 9)),
        ("zstd", Coding::Zstd, zstd_skipped.repeat(LONG / 8)),
        ("zstd", Coding::Zstd, zstd_skipped_much.repeat(LONG >> 14)),
        ("gzip", Coding::Gzip, gzip(b"").repeat(LONG / 20)),
        ("gzip", Coding::Gzip, [&gzip_head[..], &stored.repeat(LONG / 5)].concat()),
    ];
    for (name, coding, body) in cases {
        let mut decoder = decoder(coding, Millis::from_secs(60), 10 << 20);
        let taken = body.chunks(1 << 10).take_while(|piece| decoder.push(piece).is_ok()).count();
        assert_eq!(taken, 1 << 10, "{name}: KiB");
        assert_case_fails(name, &fetch_coded(CallKind::Feed, name, &body).await, "Protocol", "hardly");
    }
}

#[tokio::test]
async fn large_bodies_are_decoded_in_the_pool_and_small_ones_where_they_are_read() {
    let noise = noise(1 << 20);
    for (name, encode) in codings() {
        for (body, is_large) in [(encode(&noise), true), (encode(&noise[..20 << 10]), false), (noise.clone(), false)] {
            let head = if body == noise { String::new() } else { format!("Content-Encoding: {name}\r\n") };
            let server = Server::saying(ok(&format!("Content-Type: text/html\r\n{head}"), &body)).await;
            let pool = Arc::new(Counted::default());
            let fetcher = server.fetcher().decoding_in(pool.clone());
            call(&fetcher, CallKind::Page, PAGE).await.unwrap();
            let (tasks, pieces) = (pool.0.load(Ordering::Relaxed), body.len().div_ceil(64 << 10));
            assert!(if is_large { (1..=pieces).contains(&tasks) } else { tasks == 0 }, "{name}: {tasks} of {pieces}");
        }
    }
    // A gzip file without a content coding is decoded in the pool too.
    let pool = Arc::new(Counted::default());
    let server = Server::saying(ok("Content-Type: application/gzip\r\n", &gzip(&noise))).await;
    call(&server.fetcher().decoding_in(pool.clone()), CallKind::Feed, PAGE).await.unwrap();
    assert_eq!(pool.0.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn the_processor_time_of_a_whole_body_is_limited() {
    for (coding, (name, encode)) in [Coding::Gzip, Coding::Brotli, Coding::Zstd].into_iter().zip(codings()) {
        let mut decoder = decoder(coding, Millis::ZERO, 1 << 20);
        let end = decoder.push(&encode(&text()));
        assert!(matches!(end, Err(DecodeError::Time)), "{name}: {end:?}");
    }
    // The time of all pieces is added up: no single piece takes that long.
    let body = brotli_tables(512 << 10);
    let mut decoder = decoder(Coding::Brotli, Millis(10), 1 << 20);
    assert!(body.chunks(1 << 10).any(|piece| matches!(decoder.push(piece), Err(DecodeError::Time))));
    let server = coded("text/html", "br", &body).await;
    assert_fails(&page_under(Config { decode_time: Millis(10), ..server.config() }).await, "Limit", "too long");
}
