//! WebSub: subscriptions, verification, and the only content of a delivery that is believed: that there is news.

use crate::test_world::*;
use curlew_crawl::crawler::Crawler;
use curlew_crawl::feeds::subscribe::Subscribe;
use curlew_crawl::feeds::websub::WEB_SECRET;
use curlew_crawl::feeds::websub_delivery::{HubAnswer, HubAsks, HubDelivery, Pushes};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use url::form_urlencoded;

const HUB: &str = "https://hub.example/";

fn announced(items: &str, etag: &str) -> Reply {
    let mut reply = tagged(items, etag);
    reply.headers.links = vec![format!("<{HUB}>; rel=hub, <{FEED}>; rel=self")];
    reply
}

/// A world with a public address, so that hubs can reach it.
pub(crate) struct Listening {
    pub(crate) world: TestWorld,
    subscribe: Subscribe,
    pushes: Pushes,
}

impl Listening {
    async fn new() -> Listening {
        let world = TestWorld::new();
        world.blobs.put(WEB_SECRET, vec![7; 32].into()).await.unwrap();
        let crawler = world.program().crawler.reached_at(Some("https://search.example".into()));
        let Crawler { subscribe, pushes, .. } = crawler;
        world.with_feed(|_| {}).await;
        world.web.keep(FEED, announced("", "\"1\""));
        Listening { world, subscribe, pushes }
    }

    async fn poll(&self) -> Verdict {
        self.world.next_slot().await;
        self.poll_stage().run(&self.poll_job()).await.unwrap()
    }

    fn poll_stage(&self) -> Poll {
        let poll = self.world.poll_stage();
        Poll { intake: Arc::new(poll.intake.listening()), ..poll }
    }

    fn poll_job(&self) -> Envelope<PollJob> {
        Envelope::new(PollJob::new(key(FEED), FEED.into()))
    }

    async fn jobs(&self) -> Vec<Envelope<SubscribeJob>> {
        let mut jobs = vec![];
        for delivery in self.world.jobs.receive(QueueName::Poll, 9, Millis(1), self.world.now()).await.unwrap() {
            self.world.jobs.ack(&delivery.receipt).await.unwrap();
            let job = delivery.job.unwrap();
            if let Work::Subscribe(hub) = &job.work {
                jobs.push(job.with(hub.clone()));
            }
        }
        jobs
    }

    async fn ask(&self) -> Verdict {
        let jobs = self.jobs().await;
        assert_eq!(jobs.len(), 1);
        self.subscribe.run(&jobs[0]).await.unwrap()
    }

    /// Returns the last form that was posted to the hub.
    pub(crate) fn form(&self) -> BTreeMap<String, String> {
        let calls = self.world.calls(CallKind::Hub);
        form_urlencoded::parse(&calls.last().unwrap().post.as_ref().unwrap().body).into_owned().collect()
    }

    fn callback(&self) -> String {
        self.form()["hub.callback"].strip_prefix("https://search.example/websub/").unwrap().to_owned()
    }

    async fn asked(&self, mode: &str) -> HubAnswer {
        let asked = HubAsks { mode, topic: FEED, lease_seconds: Some(864_000) };
        self.pushes.verify_intent(&self.callback(), &asked).await.unwrap()
    }

    async fn subscription(&self) -> Option<Subscription> {
        self.world.feed().await.polling.subscription
    }

    /// Returns a world with an active subscription to the feed's hub.
    pub(crate) async fn subscribed() -> Listening {
        let this = Listening::new().await;
        this.world.web.answer(HUB, Ok(status(202)));
        this.poll().await;
        assert_eq!(this.ask().await, Verdict::Done);
        assert_eq!(this.asked("subscribe").await, HubAnswer::Yes);
        this
    }

    pub(crate) async fn told(&self, body: &[u8], secret: &str) -> HubAnswer {
        let mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap().chain_update(body);
        let digits = hex(&mac.finalize().into_bytes());
        let callback = self.callback();
        match self.pushes.delivers(&callback, Some(&format!("sha256={digits}"))).await.unwrap() {
            HubDelivery::Unknown => HubAnswer::Unknown,
            HubDelivery::Unsigned => panic!("a signed delivery must be read"),
            HubDelivery::Signed(mut signed) => {
                signed.take(body);
                if signed.is_genuine() { self.pushes.delivered(&callback).await.unwrap() } else { HubAnswer::Yes }
            }
        }
    }

    /// Publishes the next post; returns a word that is in no other post.
    pub(crate) fn publish(&self, post: u64) -> String {
        let (url, word) = (format!("https://example.org/p{post}"), format!("posting{post}"));
        let page = html("").replace("On curlews", &format!("On {word}"));
        self.world.web.keep(&url, html_reply(page));
        let item = format!("<item><link>{url}</link></item>");
        self.world.web.keep(FEED, announced(&item, &format!("\"of {post}\"")));
        word
    }

    async fn polls(&self) -> Vec<Timestamp> {
        let queued = self.world.queued(QueueName::Poll).await;
        let polls = queued.into_iter().filter(|(job, _)| matches!(job.work, Work::Poll(_)));
        polls.map(|(_, due)| due).collect()
    }
}

#[tokio::test(start_paused = true)]
async fn f13_u35_a_hub_is_asked_by_one_post_with_all_manners() {
    let this = Listening::new().await;
    this.world.web.serve("https://hub.example/robots.txt", "text/plain", "User-agent: *\nCrawl-delay: 7\n");
    this.world.web.answer(HUB, Ok(status(202)));
    this.poll().await;
    assert_eq!(this.ask().await, Verdict::Done);
    let calls: Vec<_> = this.world.web.calls().into_iter().filter(|call| call.url.starts_with(HUB)).collect();
    assert_eq!(calls.iter().map(|call| call.kind).collect::<Vec<_>>(), [CallKind::Robots, CallKind::Hub]);
    assert!(calls[0].post.is_none(), "robots.txt is a GET");
    let form = this.form();
    assert_eq!((form["hub.mode"].as_str(), form["hub.topic"].as_str()), ("subscribe", FEED));
    assert_eq!((form["hub.lease_seconds"].as_str(), form["hub.secret"].len()), ("864000", 64));
    let state = this.world.host_state("hub.example").await;
    assert!(state.lease.is_none() && state.not_before.since(this.world.now()) >= Millis::from_secs(1));
    assert!(this.subscription().await.unwrap().pending.is_some());
    this.poll().await;
    assert!(this.jobs().await.is_empty(), "a hub is asked at most once a day");
}

#[tokio::test(start_paused = true)]
async fn u35_a_hub_that_points_inward_or_is_held_or_forbids_it_is_not_posted_to() {
    for case in ["inward", "forbidden", "refusing", "redirected", "nobody listens"] {
        let this = Listening::new().await;
        match case {
            "inward" => this.world.web.refuse(HUB),
            "forbidden" => {
                this.world.web.serve("https://hub.example/robots.txt", "text/plain", "User-agent: *\nDisallow: /\n");
            }
            "refusing" => this.world.web.answer(HUB, Ok(status(400))),
            "redirected" => this.world.web.answer(HUB, moved(308, "http://hub.example/")),
            _ => this.world.blobs.delete(WEB_SECRET).await.unwrap(),
        }
        this.poll().await;
        this.ask().await;
        let posts = this.world.calls(CallKind::Hub).len();
        assert_eq!(posts, usize::from(["refusing", "redirected"].contains(&case)), "{case}");
        let known = this.subscription().await.unwrap();
        assert_eq!((known.refusals, known.pending), (u32::from(case != "nobody listens"), None), "{case}");
        assert!(known.not_before.since(this.world.now()) >= Millis::from_hours(23), "{case}");
    }
    let this = Listening::new().await;
    this.world.web.answer(HUB, Ok(status(429)));
    this.poll().await;
    this.ask().await;
    let queued = this.world.queued(QueueName::Poll).await;
    let [(job, due)] = &queued[..] else { panic!("{queued:?}") };
    assert!(job.deferrals == 1 && due.since(this.world.now()).0 >= 72 * HOUR * 1_000, "the hub is held: {due}");
    this.world.web.answer(HUB, Err(FetchError::Network("down".into())));
    assert_eq!(this.world.calls(CallKind::Hub).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn f11_f13_a_subscription_lives_from_the_hub_s_question_to_its_end() {
    let this = Listening::subscribed().await;
    assert_eq!(this.asked("subscribe").await, HubAnswer::No, "a verification counts once");
    assert_eq!(this.asked("unsubscribe").await, HubAnswer::No, "nobody has ended the subscription");
    assert_eq!(this.asked("something").await, HubAnswer::No);
    let made_up = format!("{}0", this.callback());
    let asked = HubAsks { mode: "subscribe", topic: FEED, lease_seconds: None };
    assert_eq!(this.pushes.verify_intent(&made_up, &asked).await.unwrap(), HubAnswer::Unknown);
    let (callback, until) = (this.callback(), this.subscription().await.unwrap().until.unwrap());
    let renewed = loop {
        this.poll().await;
        if let [job] = &this.jobs().await[..] {
            break this.subscribe.run(job).await.unwrap();
        }
        assert!(this.world.now() < until, "the subscription ran out");
    };
    assert_eq!((renewed, this.callback()), (Verdict::Done, callback));
    assert_eq!(this.asked("subscribe").await, HubAnswer::Yes);
    assert!(this.subscription().await.unwrap().until > Some(until));
    assert_eq!(this.asked("denied").await, HubAnswer::Yes);
    assert!(!this.subscription().await.unwrap().is_live(this.world.now()));
    assert_eq!(this.told(b"", &this.form()["hub.secret"]).await, HubAnswer::Unknown);
}

#[tokio::test(start_paused = true)]
async fn f13_a_hub_is_told_when_its_feed_is_retired() {
    let this = Listening::subscribed().await;
    this.world.web.keep(FEED, status(410));
    this.poll().await;
    assert_eq!(this.told(b"news", &this.form()["hub.secret"]).await, HubAnswer::Unknown);
    assert_eq!(this.ask().await, Verdict::Done);
    assert_eq!(this.form()["hub.mode"], "unsubscribe");
    assert_eq!(this.asked("unsubscribe").await, HubAnswer::Yes);
    assert_eq!(this.subscription().await, None);
    assert_eq!(this.asked("unsubscribe").await, HubAnswer::No);
}

#[tokio::test(start_paused = true)]
async fn f13_a_hub_is_told_when_its_feed_is_blocked_by_its_host_key_or_by_its_name() {
    for (url, name) in [(FEED, "example.org"), ("https://blog.example.org/feed", "blog.example.org")] {
        let this = Listening::subscribed().await;
        this.world.change_feed(FEED, |feed| feed.url = url.into()).await;
        this.world.program().desk.blocks.block(name).await.unwrap();
        assert!(matches!(this.poll().await, Verdict::Drop(_)), "{url}");
        assert_eq!(this.world.feed().await.failures, 0, "{url}");
        assert_eq!(this.told(b"news", &this.form()["hub.secret"]).await, HubAnswer::Unknown, "{url}");
        assert_eq!(this.ask().await, Verdict::Done);
        assert_eq!(this.form()["hub.mode"], "unsubscribe");
    }
}

#[tokio::test(start_paused = true)]
async fn f12_f14_only_the_right_signature_sends_one_poll_and_nothing_is_fetched_for_it() {
    let this = Listening::subscribed().await;
    let secret = this.form()["hub.secret"].clone();
    this.world.sleep(Millis::from_hours(2)).await;
    let calls = this.world.web.calls().len();
    assert_eq!(this.told(b"news", "another secret").await, HubAnswer::Yes, "the sender does not learn of it");
    for unsigned in [None, Some("sha256=00"), Some("sha1=effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"), Some("")] {
        let taken = this.pushes.delivers(&this.callback(), unsigned).await.unwrap();
        assert!(matches!(taken, HubDelivery::Unsigned), "the body need not be read: {unsigned:?}");
    }
    assert!(matches!(this.pushes.delivers("made.up.00", None).await.unwrap(), HubDelivery::Unknown));
    assert_eq!(this.polls().await, []);
    for body in [&b"<rss>what it says counts for nothing</rss>"[..], b"more", b""] {
        assert_eq!(this.told(body, &secret).await, HubAnswer::Yes);
    }
    assert_eq!(this.polls().await, [this.world.now()], "one poll must be sent at once");
    assert_eq!(this.world.web.calls().len(), calls);
    let poll = this.poll_stage();
    assert_eq!(poll.run(&this.poll_job()).await.unwrap(), Verdict::Done);
    assert_eq!(this.world.calls(CallKind::Feed).len(), 2);
    assert_eq!(this.subscription().await.unwrap().early, None);
    assert!(this.told(b"again", &secret).await == HubAnswer::Yes && this.polls().await.len() == 2);
    let due = this.polls().await[1];
    assert!(due.since(this.world.now()) >= Millis::from_mins(59), "the floor must be kept: {due}");
}

#[tokio::test(start_paused = true)]
async fn f14_a_feed_whose_hub_tells_of_news_is_polled_once_a_day() {
    let this = Listening::subscribed().await;
    this.poll().await;
    let before = this.world.calls(CallKind::Feed).len();
    let end = this.world.now() + Millis::from_days(4);
    while this.world.now() < end {
        this.poll().await;
    }
    let polls = this.world.calls(CallKind::Feed).len() - before;
    assert!((4..=5).contains(&polls), "{polls}");
    let feed = this.world.feed().await;
    assert_eq!((feed.polling.why, feed.interval), (Why::Pushed, Millis::from_days(1)));
    // The hub never verifies again, so the lease ends and the usual schedule returns.
    while this.world.now() < end + Millis::from_days(8) {
        this.poll().await;
    }
    assert_eq!(this.world.feed().await.polling.why, Why::Usual);
}
