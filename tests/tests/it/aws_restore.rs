//! Recovery from a bad release, as far as the emulator supports it: tables are restored to an earlier time, while the
//! bucket stays as it is.

use curlew_tests::Web;
use curlew_tests::aws::emulator::Emulator;
use curlew_tests::aws::stack::Stack;
use serde_json::{Value, json};
use std::time::Duration;

/// A site that is crawled before the time to which the tables are restored, and one that is crawled after it.
const SITES: [&str; 2] = ["harbour-lantern.test", "bird-ledger.test"];
/// Maximum time for crawling one of the sites.
const CRAWL: Duration = Duration::from_secs(300);
/// The tables of a stack, each with the attributes of its key.
const TABLES: [(&str, &[&str]); 4] =
    [("hosts", &["k"]), ("sources", &["slot", "k"]), ("pages", &["k"]), ("parked", &["due", "id"])];

#[test]
fn tables_of_yesterday_beside_a_bucket_of_today_are_mended_by_fsck() {
    let (web, emulator) = (Web::demo(), Emulator::start());
    let stack = Stack::over(&emulator, "back", &web, &emulator.url(), &[("Watch", "false")]);
    let [early, late] = SITES;
    crawl(&stack, early);
    let before = TABLES.map(|(table, _)| stack.items(table));
    crawl(&stack, late);
    let found = |site: &str| stack.found(&format!("site:{site}")).len();
    let (of_early, of_late) = (found(early), found(late));
    assert!(of_early > 0 && of_late > 0, "{of_early}, {of_late}");
    stack.run(&["fsck"]).ok();

    stack.run(&["config", "pause"]).ok();
    for ((table, key), items) in TABLES.iter().zip(&before) {
        set_back(&stack, table, key, items);
    }
    // The index has pages without a row.
    stack.run(&["fsck"]).refused(1, &["missing or damaged"]);
    stack.run(&["fsck", "--repair"]).ok();
    stack.run(&["fsck"]).ok();
    stack.restart();
    assert_eq!((found(early), found(late)), (of_early, 0), "{}", stack.told());

    // Pages that were accepted after that time are accepted again.
    stack.run(&["config", "resume"]).ok();
    stack.restart();
    crawl(&stack, late);
    assert_eq!((found(early), found(late)), (of_early, of_late), "{}", stack.told());
    stack.run(&["fsck"]).ok();
}

/// Crawls a site and publishes its pages.
fn crawl(stack: &Stack, site: &str) {
    stack.run(&["crawl", &format!("http://{site}/")]).ok();
    stack.come_to_rest(CRAWL);
    stack.run(&["index"]).ok();
    stack.restart();
}

/// Gives a table exactly these items, as restoring the table to an earlier time would.
fn set_back(stack: &Stack, table: &str, key: &[&str], items: &[Value]) {
    let name = stack.called(table);
    for item in stack.items(table) {
        let of_key = key.iter().map(|name| ((*name).to_owned(), item[*name].clone()));
        let key: serde_json::Map<String, Value> = of_key.collect();
        stack.api().call("DynamoDB_20120810.DeleteItem", &json!({ "TableName": name, "Key": key }));
    }
    for item in items {
        stack.api().call("DynamoDB_20120810.PutItem", &json!({ "TableName": name, "Item": item }));
    }
}
