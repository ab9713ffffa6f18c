//! A stack with rarely used parameters: provisioned tables, which the emulator creates but does not scale, and a log
//! with errors only.

use curlew_tests::Web;
use curlew_tests::aws::emulator::Emulator;
use curlew_tests::aws::stack::Stack;
use serde_json::{Value, json};

/// A site of the bundled web.
const SITE: &str = "http://harbour-lantern.test/";
/// Maximum time for crawling the site.
const CRAWL: std::time::Duration = std::time::Duration::from_secs(300);

#[test]
fn provisioned_tables_are_crawled_into_and_counts_survive_any_log_level() {
    let (web, emulator) = (Web::demo(), Emulator::start());
    let units = [("LogLevel", "ERROR"), ("Capacity", "provisioned"), ("MinReadUnits", "3"), ("MinWriteUnits", "2")];
    let stack = Stack::over(&emulator, "flat", &web, &emulator.url(), &units);
    for table in ["hosts", "sources", "pages"] {
        let told = described(&stack, table);
        assert_eq!(told["BillingModeSummary"]["BillingMode"], "PROVISIONED", "{table}");
        let units = &told["ProvisionedThroughput"];
        assert_eq!([&units["ReadCapacityUnits"], &units["WriteCapacityUnits"]].map(number), [3, 2], "{table}");
    }
    assert_eq!(described(&stack, "parked")["BillingModeSummary"]["BillingMode"], "PAY_PER_REQUEST");
    stack.run(&["crawl", SITE]).ok();
    stack.come_to_rest(CRAWL);
    let accepted = stack.list("pages").iter().filter(|page| page["state"]["state"] == "accepted").count();
    assert!(accepted > 0, "{}", stack.told());
    // The line with the counts is written at any log level.
    let lines = stack.logged("extract");
    let counted: u64 =
        lines.iter().filter(|line| line["Stack"].is_string()).filter_map(|line| line["PagesAccepted"].as_u64()).sum();
    assert_eq!(counted, accepted as u64, "{lines:?}");
    assert!(lines.iter().all(|line| line["level"] != "INFO"), "{lines:?}");
}

fn described(stack: &Stack, table: &str) -> Value {
    stack.api().call("DynamoDB_20120810.DescribeTable", &json!({ "TableName": stack.called(table) }))["Table"].clone()
}

/// Returns a number that CloudFormation may have passed on as a string.
fn number(value: &Value) -> u64 {
    value.as_u64().or_else(|| value.as_str()?.parse().ok()).unwrap_or_default()
}
