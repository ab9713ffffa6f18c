//! `curlew export bulk`: an engine that accepts the `_bulk` format follows what is published and removed.

use curlew_fixtureweb::Uniform;
use curlew_tests::{Store, Web, named, request};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

/// An in-memory server that speaks the protocol of OpenSearch. It ends when its standard input is closed.
struct OpenSearch {
    process: Child,
    addr: SocketAddr,
}

impl OpenSearch {
    fn start() -> OpenSearch {
        let mut command = Command::new(named("CURLEW_OSMEM", ".tools/osmem-server/osmem-server"));
        command.args(["-addr", "127.0.0.1:0", "-no-ja"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let ready: Value = serde_json::from_str(&line).unwrap();
        let addr = ready["url"].as_str().unwrap().strip_prefix("http://").unwrap().parse().unwrap();
        OpenSearch { process, addr }
    }

    fn url(&self) -> String {
        format!("http://{}", self.addr)
    }

    /// Returns the URLs of the pages that a query finds in an index.
    fn found(&self, index: &str, query: &Value) -> Vec<String> {
        let search = json!({ "size": 1_000, "query": query }).to_string();
        let answer = request(self.addr, "POST", &format!("/{index}/_search"), Some(&search));
        let answer: Value = serde_json::from_str(&answer.text()).unwrap();
        let hits = answer["hits"]["hits"].as_array().unwrap_or_else(|| panic!("{answer}"));
        let mut urls: Vec<String> = hits.iter().map(|hit| hit["_source"]["url"].as_str().unwrap().into()).collect();
        urls.sort();
        urls
    }
}

impl Drop for OpenSearch {
    fn drop(&mut self) {
        let _ended = self.process.kill().and_then(|()| self.process.wait());
    }
}

fn urls(store: &Store) -> Vec<String> {
    let mut urls: Vec<String> = store.records().iter().map(|r| r["url"].as_str().unwrap().to_owned()).collect();
    urls.sort();
    urls
}

#[test]
fn an_engine_follows_what_is_published_and_removed() {
    let web = Web::uniform(&Uniform { hosts: 3, pages: 4, bytes: 4096, images: false, prefix: "bulk".into() });
    let store = Store::crawled(&web);
    let engine = OpenSearch::start();
    let all = json!({ "match_all": {} });
    let export =
        || store.run(&["export", "bulk", "--to", &engine.url(), "--index", "pages", "--cursor", "cursor.json"]);

    assert_eq!(export().ok().stdout, "12 actions taken, 0 refused\n");
    let every = urls(&store);
    assert_eq!((every.len(), engine.found("pages", &all)), (12, every.clone()));
    let record = &store.records()[0];
    let title = record["title"].as_str().unwrap();
    let titled = engine.found("pages", &json!({ "match_phrase": { "title": title } }));
    assert!(titled.iter().any(|url| *url == record["url"]), "{titled:?}");
    assert_eq!(export().ok().stdout, "0 actions taken, 0 refused\n");

    let host = record["host"].as_str().unwrap();
    store.run(&["block", host]).ok();
    assert_eq!(export().ok().stdout, "4 actions taken, 0 refused\n");
    assert_eq!(engine.found("pages", &all), urls(&store));
    assert_eq!(engine.found("pages", &all).len(), 8);
    store.run(&["unblock", host]).ok();
    assert_eq!(export().ok().stdout, "4 actions taken, 0 refused\n");
    assert_eq!(engine.found("pages", &all), every);

    store.run(&["override", "deny", &every[3], "--note", "a test"]).ok();
    store.crawl(&[]);
    export().ok();
    assert_eq!(engine.found("pages", &all), urls(&store));
    assert_eq!(engine.found("pages", &all).len(), 11);

    // The same export is written to a file and posted with another program.
    store.run(&["export", "bulk", "--index", "copy", "--output", "all.ndjson", "--cursor", "copy.json"]).ok();
    let body = std::fs::read_to_string(store.around().join("all.ndjson")).unwrap();
    assert!(body.ends_with("}\n"), "the format requires a final newline");
    let mut curl = Command::new("curl");
    curl.args(["-sS", "-H", "content-type: application/x-ndjson", "--data-binary", "@all.ndjson"]);
    let answer = curl.arg(format!("{}/_bulk", engine.url())).current_dir(store.around()).output().unwrap();
    let answer: Value = serde_json::from_slice(&answer.stdout).unwrap();
    assert_eq!(answer["errors"], false, "{answer}");
    assert_eq!(engine.found("copy", &all), urls(&store));
}

#[test]
fn a_document_that_the_engine_refuses_and_an_engine_that_is_not_there_are_reported() {
    let web = Web::uniform(&Uniform { hosts: 1, pages: 3, bytes: 2048, images: false, prefix: "refused".into() });
    let store = Store::crawled(&web);
    let engine = OpenSearch::start();
    // This index accepts only years as dates.
    let mapping = json!({ "mappings": { "properties": { "fetched_at": { "type": "date", "format": "yyyy" } } } });
    let made = request(engine.addr, "PUT", "/pages", Some(&mapping.to_string()));
    assert_eq!(made.status, 200, "{}", made.text());
    let export = ["export", "bulk", "--to", &engine.url(), "--index", "pages", "--cursor", "cursor.json"];
    store.run(&export).refused(1, &["takes none of 3 documents", "mapper_parsing_exception"]);
    assert!(!store.around().join("cursor.json").exists(), "the next run tries again");
    let gone = engine.url();
    drop(engine);
    store.run(&["export", "bulk", "--to", &format!("{gone}/?a=b"), "--index", "pages"]).refused(1, &["busy 6 times"]);
    store.run(&["export", "bulk", "--to", "http://a:b@127.0.0.1:9/"]).refused(1, &["user name or a password"]);
}
