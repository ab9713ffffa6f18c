//! Feeds: the first line of the input is the `Content-Type`, the rest is the document.
#![no_main]

use curlew_feed::{Limits, parse, parse_counted};
use libfuzzer_sys::fuzz_target;
use url::Url;

/// Steps that a byte of a document may cost: the work grows with the length and no faster.
const STEPS_A_BYTE: u64 = 300;

fuzz_target!(|data: &[u8]| {
    let (head, body) = data.iter().position(|b| *b == b'\n').map_or((&[][..], data), |n| (&data[..n], &data[n + 1..]));
    let content_type = String::from_utf8_lossy(head);
    let Ok(url) = Url::parse("https://feeds.example/all") else { return };
    let limits = Limits { entries: 8, title_chars: 40, text_chars: 200, url_bytes: 120, faults: 6, ..Limits::default() };
    let (read, steps) = parse_counted(body, Some(&content_type), &url, &limits);
    assert!(steps <= STEPS_A_BYTE * (body.len() as u64 + 1_000), "{steps} steps for {} bytes", body.len());
    let Ok(feed) = read else { return };
    assert_eq!(Ok(&feed), parse(body, Some(&content_type), &url, &limits).as_ref(), "the same twice");
    assert!(feed.entries.len() <= limits.entries && feed.deleted.len() <= limits.entries);
    assert!(feed.faults.first.len() <= limits.faults && feed.faults.first.len() <= feed.faults.count as usize);
    for fault in &feed.faults.first {
        assert!(fault.line >= 1 && fault.column >= 1 && !fault.to_string().is_empty());
    }
    for entry in &feed.entries {
        assert!(!entry.id.is_empty());
        assert!(feed.deleted.iter().all(|deleted| deleted.id != entry.id), "an entry is there or deleted");
        if let Some(link) = &entry.link {
            assert!(link.len() <= limits.url_bytes);
            assert!(Url::parse(link).is_ok_and(|link| matches!(link.scheme(), "http" | "https") && link.username().is_empty()));
        }
        for (text, most) in [(&entry.title, limits.title_chars), (&entry.summary, limits.text_chars)] {
            assert!(text.as_ref().is_none_or(|text| !text.is_empty() && text.chars().count() <= most));
        }
    }
});
