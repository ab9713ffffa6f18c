//! WebSub: the real program subscribes to a hub, answers the verification, receives an update, and polls.

use curlew_fixtureweb::Signed;
use curlew_tests::{Server, Steps, Store, Web, request};
use std::time::Duration;

/// A site whose feed names the hub.
const HOST: &str = "tide-table.test";
const FEED: &str = "http://tide-table.test/feed.xml";
/// Maximum time to wait for an event.
const PATIENCE: Duration = Duration::from_secs(90);

fn until(what: &str, holds: impl FnMut() -> bool) {
    curlew_tests::until(PATIENCE, || what.to_owned(), holds);
}

#[test]
fn f11_f12_f13_f14_news_of_a_hub_reach_the_index_by_way_of_a_poll() {
    let web = Web::demo();
    let mut store = Store::brisk(&web);
    let addr = Server::free_address();
    store.configure(&format!(
        "[web]\nbase_url = \"http://{addr}\"\n[rules]\nwebsub_without_tls = true\npoll_floor = \"1s\"\n"
    ));
    let site = web.farm().site(HOST).unwrap().start_url.clone();
    // This command only names the site; the server crawls it.
    store.run(&["crawl", "--until", "0s", "--json", &site]).ok();
    let server = Server::start_at(&store, addr);
    let mut steps = Steps::new();
    let polls = || web.calls().iter().filter(|call| call.host == HOST && call.path == "/feed.xml").count();
    let pages = || store.sql("SELECT CAST(count(*) AS TEXT) FROM pages")[0].clone();

    steps.step("the hub was asked, and has asked back", || {
        until("a subscription", || !web.subscribers().is_empty());
        let known = web.subscribers().remove(0);
        assert!(known.callback.starts_with(&format!("http://{addr}/websub/")) && known.topic == FEED, "{known:?}");
        assert_eq!((known.lease_seconds, known.secret.len()), (864_000, 64));
        let posts: Vec<_> = web.calls().into_iter().filter(|call| call.method == "POST").collect();
        assert!(posts.len() == 1 && posts[0].host == "hub.test", "{posts:?}");
    });
    steps.step("the feed says so", || {
        let shown = store.run(&["feeds", "show", FEED, "--json"]).ok().json();
        assert!(shown["next_poll_because"].as_str().unwrap().contains("subscribed to its hub"), "{shown}");
        assert!(shown["polling"]["subscription"]["until"].is_string(), "{shown}");
    });
    steps.step("who guesses or signs wrongly changes nothing", || {
        let callback = web.subscribers().remove(0).callback;
        let path = callback.strip_prefix(&format!("http://{addr}")).unwrap().to_owned();
        assert_eq!(server.get(&format!("{path}?hub.mode=subscribe&hub.topic={FEED}&hub.challenge=x")).status, 404);
        assert_eq!(request(addr, "POST", &format!("{path}0"), Some("{}")).status, 410);
        let before = polls();
        assert_eq!(web.tell(FEED, b"<rss/>", Signed::Wrongly), [202]);
        assert_eq!(web.tell(FEED, b"<rss/>", Signed::Not), [202]);
        assert_eq!((polls(), store.run(&["parked", "list", "--json"]).ok().stdout.contains(FEED)), (before, false));
    });
    steps.step("news are polled for", || {
        let fresh = web.publish(HOST, 1).remove(0);
        let path = fresh.strip_prefix("http://tide-table.test").unwrap().to_owned();
        assert_eq!(web.tell(FEED, b"<rss>nothing in here is believed</rss>", Signed::Well), [202]);
        until("a visit to the new page", || web.calls().iter().any(|call| call.path == path));
        until("its row", || pages().parse::<u32>().unwrap() >= 5);
    });
    server.stop();
    steps.end();
}
