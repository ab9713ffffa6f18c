//! The judged queries, asked of the function's own leaves: they find what one process finds.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use crate::far::keep;
use crate::leaves::{leaf_event, leaf_request};
use crate::test_world::TestWorld;
use crate::web::answer_as_leaf;
use async_trait::async_trait;
use bytes::Bytes;
use curlew_fixtureweb::{Text, texts};
use curlew_model::{Millis, PageId, Record, Stage};
use curlew_ports::PortError;
use curlew_stages::catalog::find::Finder;
use curlew_stages::catalog::index::Index;
use curlew_stages::catalog::leaves::Leaves;
use curlew_stages::catalog::results::Start;
use curlew_stages::program::Program;
use serde_json::Value;
use std::sync::Arc;

/// Queries that people have judged, one a line.
const JUDGED: [&str; 2] =
    [include_str!("../../search/examples/judged.jsonl"), include_str!("../../search/examples/habits.jsonl")];
/// Articles that the judged queries are asked of, and how many of them are in one split.
const ARTICLES: usize = 3_200;
const IN_A_SPLIT: usize = 250;
/// Hosts of the articles.
const HOSTS: usize = 40;
/// Filters and sort orders, added to the queries in turn.
const FILTERS: [&str; 5] =
    [" site:host3.example", " after:2026-05-01", " before:2026-03-10 lang:en", " sort:date", " -site:host7.example"];
/// Number of leaves.
const LEAVES: usize = 4;

/// Instances of the function, each of which answers as a leaf.
struct Instances(Vec<Arc<Finder>>);

#[async_trait]
impl Leaves for Instances {
    fn count(&self) -> usize {
        self.0.len()
    }

    async fn ask(&self, leaf: usize, request: Bytes) -> Result<Bytes, PortError> {
        let event: Value = serde_json::from_slice(&leaf_event(&request)).unwrap();
        let answer = answer_as_leaf(&self.0[leaf], leaf_request(&event).unwrap()).await;
        Ok(serde_json::to_vec(&answer.unwrap_or_else(|e| panic!("{e}"))).unwrap().into())
    }
}

/// A program with the articles of the judged queries in several splits.
async fn published() -> Program {
    let world = TestWorld::new(Stage::Fetch);
    let program = world.program();
    let now = program.clock.now();
    for (n, Text { language, title, text, .. }) in texts(ARTICLES).enumerate() {
        let host = format!("host{}.example", n % HOSTS);
        let url = format!("https://{host}/{n}");
        let record = Record {
            host,
            title,
            text,
            language: Some(language.into()),
            published: Some(now - Millis::from_days(n as u64 * 7 % 320)),
            ..Record::new(PageId::new(&format!("{n:032x}")).unwrap(), url, now)
        };
        keep(&program, record).await;
    }
    let index = Index { pages_per_split: IN_A_SPLIT, ..world.program().index };
    index.publish(2026).await.unwrap();
    assert!(program.ports.blobs.list("splits/", None, 99).await.unwrap().len() > LEAVES);
    program
}

#[tokio::test(start_paused = true)]
async fn judged_queries_find_the_same_by_leaves() {
    let program = published().await;
    let finder = || {
        let finder = Finder::new(program.ports.blobs.clone(), program.clock.clone());
        finder.sign_cursors([7; 32]);
        finder
    };
    let instances = Instances((0..LEAVES).map(|_| Arc::new(finder())).collect());
    let (one, many) = (finder(), finder().with_leaves(Arc::new(instances), 2));
    let lines = JUDGED.iter().flat_map(|lines| lines.lines());
    let queries = lines.map(|line| serde_json::from_str::<Value>(line).unwrap()["query"].as_str().unwrap().to_owned());
    let (mut asked, mut hits, mut suggested, mut followed) = (0, 0, 0, 0);
    for (n, query) in queries.enumerate() {
        for filter in ["", FILTERS[n % FILTERS.len()]] {
            let query = format!("{query}{filter}");
            let here = one.find(&query, Start::Offset(0), 10).await.unwrap();
            let there = many.find(&query, Start::Offset(0), 10).await.unwrap();
            assert_eq!(there, here, "{query}");
            asked += 1;
            hits += here.hits.len();
            suggested += usize::from(here.suggestion.is_some());
            // Two more pages of some results.
            let mut next = here.next.filter(|_| n % 8 == 0);
            for _ in 0..2 {
                let Some(cursor) = next else { break };
                let here = one.find(&query, Start::After(&cursor), 10).await.unwrap();
                let there = many.find(&query, Start::After(&cursor), 10).await.unwrap();
                assert_eq!(there, here, "{query}, after {}", here.before);
                followed += 1;
                next = here.next;
            }
        }
    }
    assert!(asked == 548 && hits > 3_000 && suggested > 20 && followed > 50, "{asked} {hits} {suggested} {followed}");
}
