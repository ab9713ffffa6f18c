//! Content codings, bombs and broken streams.

use super::server::{Server, call, ok};
use crate::HttpFetcher;
use crate::decode::{Coding, Decoder};
use crate::room::Room;
use curlew_ports::{CallKind, FetchError, Reply};
use flate2::{Compression, GzBuilder, write::GzEncoder};
use std::io::Write;
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

type Encode = fn(&[u8]) -> Vec<u8>;

/// Every coding that is offered, with its encoder.
fn codings() -> [(&'static str, Encode); 3] {
    [("gzip", gzip), ("br", |data| brotli(data, false)), ("zstd", |data| zstd(data, 21))]
}

async fn fetch_coded(kind: CallKind, coding: &str, body: &[u8]) -> Result<Reply, FetchError> {
    let media = if kind == CallKind::Page { "text/html" } else { "text/xml" };
    let server = Server::saying(ok(&format!("Content-Type: {media}\r\nContent-Encoding: {coding}\r\n"), body)).await;
    call(&server.fetcher(), kind, "http://site.test/").await
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
async fn r11_the_limit_of_robots_txt_counts_decoded_bytes_and_is_no_error() {
    // Rules that hardly repeat, so that no other limit is met first.
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
        let result = fetch_coded(CallKind::Feed, name, &bomb).await;
        assert!(matches!(&result, Err(FetchError::Limit(why)) if why.contains("beyond reason")), "{name}: {result:?}");
    }
}

#[tokio::test]
async fn c01_c02_bombs_end_by_their_bytes_where_the_ratio_would_let_them() {
    let zeros = vec![0; 64 << 20];
    for (name, encode) in codings() {
        let server =
            Server::saying(ok(&format!("Content-Type: text/html\r\nContent-Encoding: {name}\r\n"), &encode(&zeros)))
                .await;
        let mut config = server.config();
        config.max_ratio = u64::MAX;
        let fetcher = HttpFetcher::new(config).unwrap();
        let result = call(&fetcher, CallKind::Page, "http://site.test/").await;
        assert!(matches!(&result, Err(FetchError::Limit(why)) if why.contains("3145728")), "{name}: {result:?}");
        // r04: the same as robots.txt is read up to its limit.
        let reply = call(&fetcher, CallKind::Robots, "http://site.test/robots.txt").await.unwrap();
        assert_eq!(reply.body.len(), 512 << 10, "{name}");
    }
}

#[tokio::test]
async fn a_ratio_that_documents_have_passes() {
    // 2 MiB of noisy hexadecimal digits compress about twofold, 1 MiB of zeros a thousandfold but stay below the floor.
    let mut seed = 1_u32;
    let noise: Vec<u8> = std::iter::repeat_with(|| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        b"0123456789abcdef"[(seed >> 28) as usize]
    })
    .take(2 << 20)
    .collect();
    for (name, encode) in codings() {
        assert!(page_coded(name, &encode(&noise)).await.unwrap().body == noise, "{name}");
        assert_eq!(page_coded(name, &encode(&vec![0; 1 << 20])).await.unwrap().body.len(), 1 << 20, "{name}");
    }
}

#[tokio::test]
async fn c03_stacked_and_unknown_codings_are_refused() {
    let twice = gzip(&gzip(&text()));
    for coding in ["gzip, gzip", "gzip,br", "identity, gzip, x-gzip", "deflate", "compress", "gzip;q=1", "utf-8"] {
        let result = page_coded(coding, &twice).await;
        assert!(matches!(&result, Err(FetchError::Protocol(why)) if why.contains("coding")), "{coding}: {result:?}");
    }
    let two_lines = ok("Content-Type: text/html\r\nContent-Encoding: gzip\r\nContent-Encoding: gzip\r\n", &twice);
    assert!(matches!(Server::saying(two_lines).await.page().await, Err(FetchError::Protocol(_))));
}

#[tokio::test]
async fn c04_names_of_codings_are_case_insensitive_and_x_gzip_is_gzip() {
    for coding in ["GZIP", "x-gzip", "X-GZip", "identity, gzip", " gzip ", "gzip,"] {
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
    assert!(matches!(bomb, Err(FetchError::Limit(_))), "{bomb:?}");
    let cut = fetch(CallKind::Feed, inner[..inner.len() - 9].to_vec()).await;
    assert!(matches!(cut, Err(FetchError::Protocol(_))), "{cut:?}");
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
            ("trailing garbage", [&whole[..], b"<script>garbage</script>"].concat()),
            ("not coded at all", text()),
        ];
        if name == "gzip" {
            let mut wrong_sum = whole.clone();
            let crc = whole.len() - 8;
            wrong_sum[crc] ^= 1;
            broken.push(("wrong checksum", wrong_sum));
            broken.push(("no trailer", whole[..whole.len() - 8].to_vec()));
        }
        for (fault, body) in broken {
            let result = page_coded(name, &body).await;
            assert!(matches!(&result, Err(FetchError::Protocol(_))), "{name}, {fault}: {result:?}");
        }
    }
}

#[tokio::test]
async fn c07_windows_over_8_mib_are_refused() {
    // Streamed, so that the frame states its window and not its size.
    assert!(page_coded("zstd", &zstd(&text(), 23)).await.unwrap().body == text());
    let result = page_coded("zstd", &zstd(&text(), 27)).await;
    assert!(matches!(&result, Err(FetchError::Protocol(_))), "{result:?}");
    let result = page_coded("br", &brotli(&text(), true)).await;
    assert!(matches!(&result, Err(FetchError::Protocol(_))), "{result:?}");
}

#[test]
fn t13_empty_pieces_change_nothing() {
    for (coding, (name, encode)) in [Coding::Gzip, Coding::Brotli, Coding::Zstd].into_iter().zip(codings()) {
        let share = Room::of(0, 1 << 20).share();
        let mut decoder = Decoder::new(coding, 1 << 20, 200, share).unwrap();
        for byte in encode(&text()) {
            decoder.push(&[byte]).unwrap();
            (0..20).for_each(|_| decoder.push(&[]).unwrap());
        }
        assert!(decoder.finish().unwrap().0 == text(), "{name}");
    }
}

#[tokio::test]
async fn coded_bytes_that_decode_to_nothing_are_limited_too() {
    // Skippable frames of zstd (RFC 8878 §3.1.2), 4 MiB of them.
    let frame = [&[0x50, 0x2a, 0x4d, 0x18, 0xf8, 0x3f, 0, 0][..], &[0; 0x3ff8]].concat();
    let head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: zstd\r\n\r\n".to_vec();
    let result = Server::saying([head, frame.repeat(256)].concat()).await.page().await;
    assert!(matches!(&result, Err(FetchError::Limit(_))), "{result:?}");
}
