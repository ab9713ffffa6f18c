//! Fuzz targets of queries, and of splits that were damaged in transit.

use crate::input::{edited, unfolded};
use bytes::Bytes;
use curlew_model::{MAX_QUERY_TERMS, PageId, Record, Timestamp};
use curlew_search::{BuildBudget, Hidden, Query, Request, Results, SearchError, Split, build_split, search};
use std::sync::LazyLock;

/// Maximum number of bytes at the end of a split from which a split is opened cold.
const TAIL_BYTES: usize = 64 * 1024;

fn record(name: u8, title: &str, text: &str) -> Record {
    Record {
        host: "example.org".into(),
        title: title.into(),
        text: text.into(),
        language: Some("en".into()),
        author: Some("Ann Example".into()),
        ..Record::new(
            PageId::new(&format!("{name:032x}")).expect("32 hexadecimal digits are an id"),
            format!("https://example.org/{name}"),
            Timestamp::EPOCH,
        )
    }
}

static SPLIT: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let records = (0..40).map(|name| {
        let text = format!("Rain fell on the hills, page {name} of them, and the library stayed open. L'albero. 12:30");
        record(name, &format!("The library of the north, {name}"), &text)
    });
    build_split(records, &BuildBudget::default()).expect("pages of our own make a split").bytes
});

fn ask(split: &Split, query: &Query) -> Result<Results, SearchError> {
    search(&[split], &Hidden::default(), &Request::new(query.clone(), 10, Timestamp::EPOCH))
}

/// Parses a query and runs it.
pub(crate) fn query(data: &[u8]) {
    static OPENED: LazyLock<Split> = LazyLock::new(|| Split::open(SPLIT.clone().into()).expect("a whole split opens"));
    let typed = unfolded(data);
    let typed = String::from_utf8_lossy(&typed);
    let (query, left_out) = Query::read(&typed);
    assert!(!query.is_empty() || !left_out.is_empty(), "what finds nothing says why");
    assert!(query.wanted.len() + query.unwanted.len() <= MAX_QUERY_TERMS);
    for clause in query.wanted.iter().chain(&query.unwanted) {
        assert!(typed.get(clause.at.clone()).is_some(), "a clause stands in the query");
    }
    for why in &left_out {
        assert!(!why.to_string().is_empty());
    }
    let found = ask(&OPENED, &query).expect("a whole split is searched");
    assert!(found.hits.len() <= 10 && found.hits.len() as u64 <= found.total + found.partial);
}

/// Opens a split with some bytes changed or its end cut off. The split must be refused, or answer as before.
pub(crate) fn split(data: &[u8]) {
    let damaged = Bytes::from(edited(&SPLIT, data));
    let is_whole = damaged.as_ref() == SPLIT.as_slice();
    let (query, _) = Query::read("library rain");
    if let Ok(split) = Split::open(damaged.clone()) {
        assert!(is_whole, "a damaged split was opened");
        assert!(ask(&split, &query).is_ok_and(|found| found.total == 40));
    }
    let tail = damaged.slice(damaged.len().saturating_sub(TAIL_BYTES)..);
    let Ok(split) = Split::open_cold(tail, damaged.len() as u64) else { return };
    loop {
        let answer = ask(&split, &query);
        let wanted = split.wanted();
        if wanted.is_empty() {
            // Each chunk is verified when it arrives, and a search requests only the chunks that it needs.
            if let Ok(found) = answer {
                assert_eq!(found.total, 40);
            }
            return;
        }
        for range in wanted {
            let Some(bytes) =
                (range.end <= damaged.len() as u64).then(|| damaged.slice(range.start as usize..range.end as usize))
            else {
                return;
            };
            if split.supply(range.start, &bytes).is_err() {
                return;
            }
        }
    }
}
