#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout, clippy::disallowed_methods)]
use curlew_model::*;
use curlew_search::*;
use std::time::Instant;
fn rss() -> String {
    let s = std::fs::read_to_string("/proc/self/status").unwrap();
    s.lines()
        .filter(|l| l.starts_with("VmRSS") || l.starts_with("VmHWM") || l.starts_with("Threads"))
        .map(|l| l.replace(['\t', ' '], ""))
        .collect::<Vec<_>>()
        .join(" ")
}
fn main() {
    let paras: Vec<String> = serde_json::from_slice(&std::fs::read("/tmp/search_paras.json").unwrap()).unwrap();
    let n: usize = std::env::args().nth(1).unwrap().parse().unwrap();
    let parts: usize = std::env::args().nth(2).unwrap().parse().unwrap();
    let mut seed = 1u64;
    let mut rnd = move |m: u64| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) % m
    };
    let mut chars = 0usize;
    let mut record = |i: usize| {
        let mut text = String::new();
        for _ in 0..10 {
            text.push_str(&paras[rnd(paras.len() as u64) as usize]);
            text.push_str("\n\n");
        }
        for _ in 0..20 {
            let mut w = rnd(1 << 22) + 1000;
            let mut s = String::new();
            while w > 0 {
                s.push((b'a' + (w % 20) as u8) as char);
                w /= 20;
            }
            text.push_str(&s);
            text.push(' ');
        }
        let title: String = paras[rnd(paras.len() as u64) as usize].chars().take(60).collect();
        chars += text.len();
        let h = format!("h{}.example.org", rnd(500));
        Record {
            id: PageId::new(&format!("{:032x}", (i as u128 + 1).wrapping_mul(0x9E3779B97F4A7C15F39CC0605CEDC835)))
                .unwrap(),
            url: format!("https://{h}/2026/{i}/some-longer-slug-of-the-page"),
            host: h,
            feed: Some("https://x.example.org/feed".into()),
            site_name: Some("Site".into()),
            title,
            text,
            image: Some("https://x.example.org/image.jpg".into()),
            thumbnail: None,
            language: Some(if i % 3 == 0 { "it" } else { "en" }.into()),
            published: Some(Timestamp::from_millis(1_770_000_000_000 + rnd(20_000_000) as i64 * 1000)),
            modified: None,
            author: None,
            fetched_at: Timestamp::from_millis(1_790_000_000_000),
            snippet_limit: SnippetLimit(None),
            no_archive: false,
            unavailable_after: None,
        }
    };
    println!("start {}", rss());
    let t = Instant::now();
    let blobs: Vec<SplitBuilt> = (0..parts)
        .map(|p| build_split((0..n / parts).map(|i| record(p * (n / parts) + i)), &BuildBudget::default()).unwrap())
        .collect();
    println!(
        "build {n} in {parts}: {:?}, text {} MB, blobs {:?} KB {}",
        t.elapsed(),
        chars / 1000000,
        blobs.iter().map(|b| b.bytes.len() / 1000).collect::<Vec<_>>(),
        rss()
    );
    let t = Instant::now();
    {
        let b = &blobs[0].bytes;
        let n = b.len();
        let len = u64::from_le_bytes(b[n - 52..n - 44].try_into().unwrap()) as usize;
        println!("{}", String::from_utf8_lossy(&b[n - 52 - len..n - 52]));
    }
    let bytes: Vec<bytes::Bytes> = blobs.into_iter().map(|b| b.bytes.into()).collect();
    let splits: Vec<Split> = bytes.iter().map(|b| Split::open(b.clone()).unwrap()).collect();
    println!("open {:?} {}", t.elapsed(), rss());
    let splits: Vec<&Split> = splits.iter().collect();
    let now = Timestamp::from_millis(1_795_000_000_000);
    let ids: Vec<PageId> = splits.iter().flat_map(|s| s.ids()).map(Result::unwrap).collect();
    for tomb in [0usize, 1000, 20_000] {
        let hidden = Hidden {
            tombstones: std::sync::Arc::new(
                ids.iter().step_by((ids.len() / tomb.max(1)).max(1)).take(tomb).cloned().collect(),
            ),
            ..Default::default()
        };
        for q in [
            "podcast",
            "the",
            "podcast equipment",
            "\"of the\"",
            "the of and to in a",
            "curlewz",
            "site:h1.example.org",
            "the sort:date",
            "podcast -equipment lang:en after:2026-06-01",
        ] {
            let query = Query::parse(q).unwrap();
            let req = Request { query: &query, limit: 10, offset: 0, now };
            let first = Instant::now();
            let r = search(&splits, &hidden, req).unwrap();
            let first = first.elapsed();
            let t = Instant::now();
            for _ in 0..5 {
                search(&splits, &hidden, req).unwrap();
            }
            println!("tombstones {tomb} {q:45} total {:6} first {:?} then {:?}", r.total, first, t.elapsed() / 5);
        }
    }
    println!("searched {}", rss());
    let t = Instant::now();
    let m =
        merge_splits(&splits, &ids.iter().step_by(50).cloned().collect(), &BuildBudget::default()).unwrap().unwrap();
    println!("merge {:?} {m:?} {}", t.elapsed(), rss());
}
