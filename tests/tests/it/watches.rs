//! Watches: the real program posts new matches to a webhook.

use curlew_tests::{Receiver, Server, Steps, Store, Web};
use std::process::Command;
use std::time::Duration;

/// A site that publishes news.
const HOST: &str = "tide-table.test";
/// Maximum time to wait for an event.
const PATIENCE: Duration = Duration::from_secs(180);

fn until(what: &str, holds: impl FnMut() -> bool) {
    curlew_tests::until(PATIENCE, || what.to_owned(), holds);
}

/// Has the site's feed polled. The request is repeated while it is refused because the last poll was a moment ago.
fn poll(store: &Store) {
    until("a poll that is sent", || {
        let answer = store.run(&["poll", HOST, "--json"]).ok().json();
        answer["requested"].as_array().unwrap().iter().any(|one| one["outcome"] == "sent")
    });
}

/// Returns the HMAC-SHA256 of a text by an independent implementation. The key and the result are in base64.
fn hmac(key: &str, text: &[u8]) -> String {
    const SCRIPT: &str = "import base64, hmac, sys
key, text = base64.b64decode(sys.argv[1]), bytes.fromhex(sys.argv[2])
print(base64.b64encode(hmac.new(key, text, 'sha256').digest()).decode())";
    let text: String = text.iter().map(|byte| format!("{byte:02x}")).collect();
    let ran = Command::new("python3").args(["-c", SCRIPT, key, &text]).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).unwrap().trim().to_owned()
}

#[test]
fn new_pages_reach_a_webhook() {
    let web = Web::demo();
    let mut store = Store::brisk(&web);
    let receiver = Receiver::start();
    store.configure(&format!(
        "publish_every = \"1m\"\n[rules]\nadaptive = false\npoll_on_request = \"1s\"\n\
         [network]\nallow_net = [\"127.0.0.0/8\"]\nports = [80, 443, {}]\n",
        receiver.addr().port()
    ));
    store.crawl(&[web.farm().site(HOST).unwrap().start_url.clone()]);
    let server = Server::start(&store);
    let mut steps = Steps::new();
    let query = format!("site:{HOST}");
    let hook = format!("http://{}/hook", receiver.addr());
    let watches = || store.run(&["watch", "--json"]).ok().rows();

    let added = store.run(&["watch", "add", &query, "--to", &hook, "--json"]).ok().json();
    let secret = added["secret"].as_str().unwrap().strip_prefix("whsec_").unwrap().to_owned();
    steps.step("a watch is added beside the server, and its secret is shown once", || {
        assert!(watches()[0]["secret"].is_null() && watches()[0]["to"] == hook.as_str());
        assert_eq!(store.run(&["watch", "add", &query, "--to", "ftp://example.org/"]).code(), 2);
    });
    receiver.refuse(true);
    let fresh = web.publish(HOST, 1).remove(0);
    steps.step("a receiver that fails is tried again", || {
        poll(&store);
        until("a POST", || receiver.posts("/hook").len() == 1);
        until("a failure in the list", || watches().iter().any(|w| w["receiver"]["error"] == "it answered 500"));
        receiver.refuse(false);
    });
    steps.step("the new page comes, signed", || {
        until("two deliveries", || receiver.posts("/hook").len() >= 2);
        let posts = receiver.posts("/hook");
        let (first, last) = (&posts[0], posts.last().unwrap());
        let header = |name: &str| last.header(name).unwrap().to_owned();
        assert_eq!(first.header("webhook-id"), last.header("webhook-id"), "both posts are the same delivery");
        let signed =
            [format!("{}.{}.", header("webhook-id"), header("webhook-timestamp")).as_bytes(), &last.body].concat();
        assert_eq!(header("webhook-signature"), format!("v1,{}", hmac(&secret, &signed)));
        let body: serde_json::Value = serde_json::from_slice(&last.body).unwrap();
        let urls: Vec<&str> = body["matches"].as_array().unwrap().iter().map(|m| m["url"].as_str().unwrap()).collect();
        assert_eq!(urls, [fresh.as_str()], "the post names only the new page");
        until("a clean record", || watches().iter().all(|w| w["receiver"]["delivered"] == 1));
    });
    steps.step("a watch that is removed is forgotten", || {
        let name = watches()[0]["name"].as_str().unwrap().to_owned();
        store.run(&["watch", "remove", &name]).ok();
        assert_eq!(store.run(&["watch", "remove", &name]).code(), 1);
        assert_eq!(watches(), Vec::<serde_json::Value>::new());
    });
    server.stop();
    steps.end();
}

#[test]
fn a_run_without_a_server_tells_the_receivers_of_what_it_found_before_it_ends() {
    let web = Web::demo();
    let mut store = Store::brisk(&web);
    let receiver = Receiver::start();
    store.configure(&format!(
        "[rules]\nadaptive = false\npoll_on_request = \"1s\"\n[network]\nallow_net = [\"127.0.0.0/8\"]\nports = [80, 443, {}]\n",
        receiver.addr().port()
    ));
    store.crawl(&[web.farm().site(HOST).unwrap().start_url.clone()]);
    let hook = format!("http://{}/hook", receiver.addr());
    store.run(&["watch", "add", &format!("site:{HOST}"), "--to", &hook]).ok();
    let fresh = web.publish(HOST, 1).remove(0);
    poll(&store);
    let posts = receiver.posts("/hook");
    assert_eq!(posts.len(), 1);
    assert!(String::from_utf8_lossy(&posts[0].body).contains(&fresh));
}
