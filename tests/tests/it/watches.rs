//! Watches: the real program posts new matches to a webhook and to a feed reader that has subscribed to a search.

use curlew_fixtureweb::Farm;
use curlew_tests::{Receiver, Server, Steps, Store, Web, post_form};
use std::process::Command;
use std::time::{Duration, Instant};

/// The site that has news.
const HOST: &str = "tide-table.test";
/// Maximum time for everything that is waited for.
const PATIENCE: Duration = Duration::from_secs(180);

fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < PATIENCE, "{what}: not within {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Has the site's feed polled; a request is put off where the last poll was a moment ago.
fn poll(store: &Store) {
    until("a poll that is sent", || {
        let answer = store.run(&["poll", HOST, "--json"]).ok().json();
        answer["requested"].as_array().unwrap().iter().any(|one| one["outcome"] == "sent")
    });
}

/// Returns an HMAC-SHA256 by another implementation: of a text by a key in base64, as base64, or by a text, as hexadecimal digits.
fn hmac(key: &str, text: &[u8], form: &str) -> String {
    const SCRIPT: &str = "import base64, hmac, sys
key, text, form = sys.argv[1], bytes.fromhex(sys.argv[2]), sys.argv[3]
key = base64.b64decode(key) if form == 'base64' else key.encode()
mac = hmac.new(key, text, 'sha256')
print(base64.b64encode(mac.digest()).decode() if form == 'base64' else mac.hexdigest())";
    let text: String = text.iter().map(|byte| format!("{byte:02x}")).collect();
    let ran = Command::new("python3").args(["-c", SCRIPT, key, &text, form]).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).unwrap().trim().to_owned()
}

#[test]
fn new_pages_reach_a_webhook_and_a_subscribed_reader() {
    let web = Web::of(Farm::demo());
    let mut store = Store::brisk(&web);
    let (addr, receiver) = (Server::free_address(), Receiver::start());
    store.configure(&format!(
        "publish_every = \"1m\"\n[web]\nbase_url = \"http://{addr}\"\n[rules]\nadaptive = false\npoll_on_request = \"1s\"\n\
         [network]\nallow_net = [\"127.0.0.0/8\"]\nports = [80, 443, {}]\n",
        receiver.addr().port()
    ));
    store.crawl(&[web.farm().site(HOST).unwrap().start_url.clone()]);
    let server = Server::start_at(&store, addr);
    let mut steps = Steps::new();
    let query = format!("site:{HOST}");
    let topic = format!("http://{addr}/feed/atom?q=site%3A{HOST}");
    let hook = format!("http://{}/hook", receiver.addr());
    let watches = || store.run(&["watch", "--json"]).ok().rows();

    let added = store.run(&["watch", "add", &query, "--to", &hook, "--json"]).ok().json();
    let secret = added["secret"].as_str().unwrap().strip_prefix("whsec_").unwrap().to_owned();
    steps.step("a watch is added beside the server, and its secret is shown once", || {
        assert!(watches()[0]["secret"].is_null() && watches()[0]["to"] == hook.as_str());
        assert_eq!(store.run(&["watch", "add", &query, "--to", "ftp://example.org/"]).code(), 2);
    });
    steps.step("a reader finds the hub, subscribes, and confirms", || {
        let feed = server.get(&format!("/feed/atom?q=site%3A{HOST}"));
        let hub = format!("http://{addr}/hub");
        assert!(feed.headers.contains(&("link".into(), format!("<{hub}>; rel=\"hub\""))), "{:?}", feed.headers);
        assert!(feed.text().contains(&format!("<link rel=\"hub\" href=\"{hub}\"/>")), "{}", feed.text());
        let callback = format!("http://{}/callback", receiver.addr());
        for (topic, status) in [("http://example.org/feed", 400), (topic.as_str(), 202)] {
            let fields = [("mode", "subscribe"), ("topic", topic), ("callback", &callback), ("secret", "between us")];
            let form: Vec<String> =
                fields.iter().map(|(name, value)| format!("hub.{name}={}", encoded(value))).collect();
            assert_eq!(post_form(addr, "/hub", &form.join("&")).status, status, "{topic}");
        }
        until("a confirmed subscription", || watches().iter().any(|w| w["subscription"]["until"].is_string()));
        assert!(receiver.requests().iter().any(|told| told.path.contains("hub.challenge=")));
    });
    receiver.refuse(true);
    let fresh = web.publish(HOST, 1).remove(0);
    steps.step("a receiver that fails is tried again", || {
        poll(&store);
        until("a POST", || receiver.posts("/hook").len() == 1);
        until("a failure in the list", || watches().iter().any(|w| w["receiver"]["error"] == "it answered 500"));
        receiver.refuse(false);
    });
    steps.step("the new page comes to both, signed", || {
        until("two deliveries", || receiver.posts("/hook").len() >= 2 && !receiver.posts("/callback").is_empty());
        let posts = receiver.posts("/hook");
        let (first, last) = (&posts[0], posts.last().unwrap());
        let header = |name: &str| last.header(name).unwrap().to_owned();
        assert_eq!(first.header("webhook-id"), last.header("webhook-id"), "the same delivery");
        let signed =
            [format!("{}.{}.", header("webhook-id"), header("webhook-timestamp")).as_bytes(), &last.body].concat();
        assert_eq!(header("webhook-signature"), format!("v1,{}", hmac(&secret, &signed, "base64")));
        let body: serde_json::Value = serde_json::from_slice(&last.body).unwrap();
        let urls: Vec<&str> = body["matches"].as_array().unwrap().iter().map(|m| m["url"].as_str().unwrap()).collect();
        assert_eq!(urls, [fresh.as_str()], "the new page alone");
        let told = receiver.posts("/callback").pop().unwrap();
        assert_eq!(
            told.header("x-hub-signature").unwrap(),
            format!("sha256={}", hmac("between us", &told.body, "hex"))
        );
        assert!(told.header("content-type").unwrap().starts_with("application/atom+xml"));
        assert!(told.header("link").unwrap().contains(&format!("<{topic}>; rel=\"self\"")));
        let text = String::from_utf8(told.body.clone()).unwrap();
        assert!(text.contains(&format!("<id>{fresh}</id>")) && text.matches("<entry>").count() == 1, "{text}");
        until("a clean record", || watches().iter().all(|w| w["receiver"]["delivered"] == 1));
    });
    steps.step("a watch that is removed is silent", || {
        let name = watches().iter().find(|w| w["subscription"].is_null()).unwrap()["name"].as_str().unwrap().to_owned();
        store.run(&["watch", "remove", &name]).ok();
        assert_eq!(store.run(&["watch", "remove", &name]).code(), 1);
        let (posts, told) = (receiver.posts("/hook").len(), receiver.posts("/callback").len());
        web.publish(HOST, 1);
        poll(&store);
        until("the reader is told", || receiver.posts("/callback").len() > told);
        assert_eq!(receiver.posts("/hook").len(), posts);
    });
    server.stop();
    steps.end();
}

#[test]
fn a_run_without_a_server_tells_the_receivers_of_what_it_found_before_it_ends() {
    let web = Web::of(Farm::demo());
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

fn encoded(text: &str) -> String {
    text.bytes()
        .map(|b| if b.is_ascii_alphanumeric() { (b as char).to_string() } else { format!("%{b:02X}") })
        .collect()
}
