//! Mappings of a deployed stack rest while nothing is to be done: the deployed dispatch switches them off, by its own role, and on
//! again when a site is named. The site is crawled then.

use curlew_fixtureweb::{Uniform, judge};
use curlew_model::Stage;
use curlew_tests::aws::emulator::Emulator;
use curlew_tests::aws::stack::Stack;
use curlew_tests::{BRISK, BRISK_PAUSE, Steps, Web};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Number of pages of the site.
const PAGES: usize = 3;
/// Maximum time until all mappings rest, and until the site is crawled.
const LIMIT: Duration = Duration::from_secs(240);
/// Time between two ticks.
const TICK: Duration = Duration::from_secs(2);

#[test]
fn mappings_of_unused_queues_rest_and_wake_for_a_site_that_is_named() {
    let web = Web::uniform(&Uniform { hosts: 1, pages: PAGES, bytes: 8 * 1024, images: false, prefix: "tide".into() });
    let emulator = Emulator::strict();
    let more = [("Watch", "false"), ("FunctionUrl", "false"), ("RestAfter", "3")];
    let stack = Stack::over(&emulator, "restful", &web, &emulator.url(), &more);
    stack.grant_batches();
    stack.set(&BRISK);
    let mut steps = Steps::new();

    steps.step("all rest", || tick_until(&stack, || states(&stack).iter().all(|state| state == "Disabled")));
    steps.step("a site is crawled", || {
        stack.name_sites(&web.starts());
        assert_eq!(states(&stack)[Stage::Discover as usize], "Disabled", "nobody else switches it on");
        tick_until(&stack, || {
            stack.list("pages").iter().filter(|page| page["state"]["state"] == "accepted").count() == PAGES
        });
        assert_eq!(stack.all_dead(), 0, "{}", stack.told());
        let calls = web.calls();
        assert_eq!(judge::closer_than(&calls, judge::registrable, BRISK_PAUSE), []);
    });
    steps.step("all rest again", || tick_until(&stack, || states(&stack).iter().all(|state| state == "Disabled")));
    steps.step("nothing went wrong in dispatch", || {
        let lines = stack.logged("dispatch");
        let wrong: Vec<_> = lines.iter().filter(|line| line["level"] != "INFO" && line["level"] != "DEBUG").collect();
        assert!(wrong.is_empty(), "{wrong:?}");
        // Four at first; then three are woken, and rest again: what discovery finds is not polled at once.
        let switched = |on: &str| lines.iter().filter(|line| line.to_string().contains(on)).count();
        assert!(
            switched("mapping is switched off") >= 7 && switched("mapping is switched on") >= 3,
            "{}",
            stack.told()
        );
    });
    steps.step("paused, nothing is switched", || {
        stack.run(&["config", "pause"]).ok();
        stack.restart();
        stack.map(Stage::Poll, true);
        for _ in 0..4 {
            assert_eq!(stack.invoked("dispatch", &json!({})), json!({ "paused": true }));
            std::thread::sleep(TICK);
        }
        assert_eq!(states(&stack)[Stage::Poll as usize], "Enabled");
    });
    steps.end();
}

/// Has dispatch run until something is so.
///
/// # Panics
/// If that takes longer than [`LIMIT`].
#[track_caller]
fn tick_until(stack: &Stack, is_so: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < LIMIT, "mappings are {:?}: {}", states(stack), stack.told());
        stack.invoked("dispatch", &json!({}));
        std::thread::sleep(TICK);
    }
}

/// Returns the states of the mappings of all queues, in the order of [`Stage::ALL`].
fn states(stack: &Stack) -> Vec<Value> {
    let all = stack.api().lambda("GET", "/2015-03-31/event-source-mappings/", None);
    let all = all["EventSourceMappings"].as_array().expect("a list");
    let of = |stage: Stage| {
        let source = format!(":{}", stack.called(stage.as_str()));
        let mapping =
            all.iter().find(|mapping| mapping["EventSourceArn"].as_str().is_some_and(|arn| arn.ends_with(&source)));
        mapping.expect("a mapping")["State"].clone()
    };
    Stage::ALL.into_iter().map(of).collect()
}
