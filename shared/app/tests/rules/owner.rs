//! Owners: proofs and requests of site owners, and messages to the operator. This file is long because each promise to
//! owners has its own test.

mod steps;

use crate::index::{accept, ask, traces};
use crate::test_world::*;
use curlew_crawl::feeds::backfill::{BackfillRequest, key_of};
use curlew_people::block::{BlockedBy, Blocks};
use curlew_people::erasure::StepLimits;
use curlew_people::messages::{About, MESSAGES_A_DAY, MESSAGES_KEPT, Message, MessageOutcome, OpenMessages};
use curlew_people::owner_jobs::Own;
use curlew_people::ownership::{HostView, Owners, RequestOutcome, expire_claims};
use curlew_people::suggest::SuggestError;
use curlew_policy::site::ownership::{CLAIM_LIFE, LOOKS_A_DAY, PROOF_LIFE};
use std::sync::Mutex;

const HOST: &str = "example.org";
const FILE: &str = "https://example.org/.well-known/curlew-challenge.txt";
const TEXT: &str = "The curlew walks along the edge of the water and probes the mud for worms.";

/// An in-memory DNS zone.
#[derive(Default)]
struct Zone(Mutex<BTreeMap<String, Vec<Bytes>>>);

#[async_trait]
impl Names for Zone {
    async fn texts(&self, name: &str) -> Result<Vec<Bytes>, String> {
        Ok(self.0.lock().unwrap().get(name).cloned().unwrap_or_default())
    }
}

struct Town {
    world: TestWorld,
    zone: Arc<Zone>,
    limits: StepLimits,
}

fn challenge(n: u64) -> Challenge {
    Challenge::new(&format!("{n:040x}")).unwrap()
}

impl Town {
    async fn new() -> Town {
        let world = TestWorld::new();
        accept(&world, "a", TEXT).await;
        accept(&world, "b", "A curlew is a curlew.").await;
        world.publish().await;
        Town { world, zone: Arc::default(), limits: StepLimits::default() }
    }

    fn blocks(&self) -> Blocks {
        self.world.program().desk.blocks
    }

    fn owners(&self) -> Owners {
        self.world.program().desk.own.owners
    }

    fn own(&self) -> Own {
        let mut own = self.world.program().desk.looking_up(self.zone.clone()).own;
        own.owners.blocks.limits = self.limits;
        own
    }

    /// Runs the requested jobs when they are due.
    async fn work(&self) {
        let (world, own) = (&self.world, self.own());
        for queue in [QueueName::Discover, QueueName::Remove] {
            while let Some((job, due)) = world.queued(queue).await.into_iter().next() {
                world.sleep_until(due).await;
                world.settle(queue, 1, world.now()).await;
                let Work::Own(request) = &job.work else { break };
                let job = job.with(request.clone());
                while let Verdict::Defer(at) = own.run(&job).await.unwrap() {
                    world.sleep_until(at).await;
                }
            }
        }
    }

    async fn request(&self, n: u64, request: OwnerRequest) -> RequestOutcome {
        let answer = self.owners().request(HOST, &challenge(n), request, true).await.unwrap();
        self.work().await;
        answer
    }

    /// Makes a request, which must be granted, and runs none of its jobs.
    async fn begin(&self, request: OwnerRequest) {
        let outcome = self.owners().request(HOST, &challenge(1), request, true).await.unwrap();
        assert_eq!(outcome, RequestOutcome::Granted, "{request:?}");
    }

    async fn granted(&self, request: OwnerRequest) {
        self.begin(request).await;
        self.work().await;
    }

    async fn pass(&self, time: Millis) {
        self.world.sleep(time).await;
    }

    /// Returns the data that a proven owner sees.
    async fn held(&self) -> HostView {
        self.owners().claimed(HOST, &challenge(1)).await.unwrap().held.unwrap()
    }

    /// Checks for a proof, which must be found neither in the file nor in the home page, for these reasons.
    async fn fails(&self, file: Miss, meta: Miss) {
        let (found, misses) = self.look(1).await;
        assert_eq!((found, &misses[1..]), (None, &[(Way::File, file), (Way::Meta, meta)][..]));
    }

    /// Checks for a proof. Returns the way by which it was found, and the reasons why the other ways failed.
    async fn look(&self, n: u64) -> (Option<Way>, Vec<(Way, Miss)>) {
        self.pass(Millis::from_mins(1)).await;
        assert_eq!(self.request(n, OwnerRequest::Look).await, RequestOutcome::Granted);
        let claim = self.owners().claimed(HOST, &challenge(n)).await.unwrap().claim.unwrap();
        (claim.proof.map(|(way, _)| way), claim.misses)
    }

    fn in_dns(&self, n: u64) {
        let texts = vec![Bytes::from(challenge(n).to_string())];
        self.zone.0.lock().unwrap().insert(format!("_curlew-challenge.{HOST}"), texts);
    }

    async fn proven() -> Town {
        let town = Town::new().await;
        town.in_dns(1);
        assert_eq!(town.look(1).await, (Some(Way::Dns), vec![]));
        town
    }

    async fn found(&self) -> u64 {
        ask(&self.world, "curlew").await.total
    }
}

#[tokio::test(start_paused = true)]
async fn i05_i08_each_of_the_three_ways_proves_and_dns_costs_the_site_no_call() {
    let town = Town::new().await;
    let absent = |ways: &[Way]| ways.iter().map(|way| (*way, Miss::Absent)).collect::<Vec<_>>();
    assert_eq!(town.look(1).await, (None, absent(&Way::ALL)));
    let calls = town.world.web.calls();
    assert_eq!(calls.len(), 3, "robots.txt, the file, the home page: {calls:?}");
    assert!(calls.iter().all(|call| call.url.starts_with(HOME)), "{calls:?}");

    town.in_dns(2);
    let before = town.world.web.calls().len();
    assert_eq!(town.look(2).await, (Some(Way::Dns), vec![]));
    assert_eq!(town.world.web.calls().len(), before);

    town.world.web.serve(FILE, "text/plain", format!("{}\n", challenge(3)));
    assert_eq!(town.look(3).await, (Some(Way::File), vec![(Way::Dns, Miss::Other)]));
    assert_eq!(town.world.calls(CallKind::Home).len(), 1, "the home page must not be called");

    let tag = format!("<html><head><meta name=\"curlew-challenge\" content=\"{}\"></head></html>", challenge(4));
    town.world.web.serve(HOME, "text/html", tag);
    let (found, misses) = town.look(4).await;
    assert_eq!((found, misses), (Some(Way::Meta), vec![(Way::Dns, Miss::Other), (Way::File, Miss::Other)]));
    assert_eq!(town.look(5).await.0, None, "the challenge proves no other claim");
}

#[tokio::test(start_paused = true)]
async fn i05_w06_whoever_uses_up_the_calls_keeps_no_owner_from_a_proof_in_the_dns() {
    let town = Town::new().await;
    for n in 1..=LOOKS_A_DAY as u64 {
        assert_eq!(town.look(n).await.0, None);
    }
    let calls = town.world.web.calls().len();
    assert_eq!(town.request(50, OwnerRequest::Look).await, RequestOutcome::ByDnsOnly);
    let claim = town.owners().claimed(HOST, &challenge(50)).await.unwrap().claim.unwrap();
    assert_eq!((claim.proof, claim.misses), (None, vec![(Way::Dns, Miss::Absent)]), "the other ways are not reported");
    town.in_dns(51);
    assert_eq!(town.request(51, OwnerRequest::Look).await, RequestOutcome::ByDnsOnly);
    assert_eq!(town.request(51, OwnerRequest::Block).await, RequestOutcome::Granted);
    assert_eq!(town.found().await, 0);
    assert_eq!(town.world.web.calls().len(), calls, "the site must not be called");
}

#[tokio::test(start_paused = true)]
async fn w07_what_others_can_write_or_lead_to_is_no_proof() {
    let town = Town::new().await;
    let text = challenge(1).to_string();
    town.world.web.serve("https://elsewhere.example/file", "text/plain", text.clone());
    let tag = format!("<meta name=\"curlew-challenge\" content=\"{text}\">");
    town.world.web.serve("https://elsewhere.example/", "text/html", format!("<head>{tag}</head>"));
    town.world.web.answer(FILE, moved(302, "https://elsewhere.example/file"));
    town.world.web.answer(HOME, moved(302, "https://elsewhere.example/"));
    town.fails(Miss::Redirect, Miss::Redirect).await;
    assert!(town.world.web.calls().iter().all(|call| call.url.starts_with(HOME)), "no other host may be called");

    // One server echoes the requested path, and one answers 200 to everything.
    let town = Town::new().await;
    town.world.web.serve(FILE, "text/html", format!("<html>no {text} here</html>"));
    town.world.web.serve(HOME, "text/html", format!("<html><body><p>{tag}</p><!-- {tag} --></body></html>"));
    town.fails(Miss::Other, Miss::Absent).await;
}

#[tokio::test(start_paused = true)]
async fn a_proof_is_looked_for_with_all_manners() {
    let town = Town::new().await;
    town.world.web.serve(ROBOTS, "text/plain", "User-agent: *\nDisallow: /");
    town.world.web.serve(FILE, "text/plain", challenge(1).to_string());
    town.fails(Miss::Robots, Miss::Robots).await;
    town.in_dns(1);
    assert_eq!(town.look(1).await.0, Some(Way::Dns), "a name server may be asked at any time");

    let town = Town::new().await;
    town.world.web.answer(FILE, Ok(status(429)));
    town.fails(Miss::Held, Miss::Held).await;
    let calls = town.world.web.calls().len();
    town.look(2).await;
    assert_eq!(town.world.web.calls().len(), calls, "a held host is left alone");

    let town = Town::new().await;
    town.blocks().block(HOST).await.unwrap();
    town.fails(Miss::Blocked, Miss::Blocked).await;
    assert!(town.world.web.calls().is_empty());
}

#[tokio::test(start_paused = true)]
async fn i06_w06_without_a_proof_nothing_is_hidden_or_told() {
    let town = Town::new().await;
    town.look(1).await;
    use OwnerRequest::{Block, Forget, HistoryOff, Report, Unblock, Visit};
    for request in [Block, Forget, Report, Visit, Unblock, HistoryOff] {
        assert_eq!(town.request(1, request).await, RequestOutcome::Unproven);
        assert_eq!(town.request(99, request).await, RequestOutcome::Unproven);
    }
    assert_eq!(town.found().await, 2);
    assert!(town.owners().claimed(HOST, &challenge(1)).await.unwrap().held.is_none());
    for typed in ["127.0.0.1", "github.io", "co.uk", "", "https://", "no such\nhost", "*.example.org", "a*.example.org"]
    {
        assert!(town.owners().site_of(typed).is_err(), "{typed}");
    }
    for typed in ["Example.ORG", "https://example.org/some/page?x=1", " example.org ", "http://example.org."] {
        assert_eq!(town.owners().site_of(typed).unwrap(), HOST, "{typed}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_owner_is_told_what_is_kept() {
    let town = Town::proven().await;
    town.world.with_feed(|_| {}).await;
    town.pass(Millis::from_mins(10)).await;
    town.granted(OwnerRequest::Report).await;
    let seen = town.owners().claimed(HOST, &challenge(1)).await.unwrap();
    assert!(seen.proven_until.is_some_and(|until| until > town.world.now()));
    let kept = seen.held.unwrap();
    let report = kept.report.unwrap();
    assert_eq!(report.feeds.iter().map(|feed| feed.url.as_str()).collect::<Vec<_>>(), [FEED]);
    assert!(report.feeds[0].polled_at.is_none() && report.feeds[0].next.is_some());
    assert_eq!(report.counts, BTreeMap::from([(ReportedState::Accepted, 2)]));
    assert_eq!(report.pages.len(), 2);
    assert_eq!((kept.block, kept.hold), (BlockedBy::Nobody, None));
    // Repeating the request at once would read all rows once more.
    assert!(matches!(town.request(1, OwnerRequest::Report).await, RequestOutcome::TooSoon(_)));
}

#[tokio::test(start_paused = true)]
async fn i05_a_block_counts_from_the_next_query_and_call_and_is_taken_back() {
    let town = Town::proven().await;
    assert_eq!(town.found().await, 2);
    town.begin(OwnerRequest::Block).await;
    assert_eq!(town.found().await, 0, "the block counts before any job has run");
    let kept = town.held().await;
    assert_eq!(kept.block, BlockedBy::Owner);
    assert!(matches!(town.world.suggest().offered(HOME).await, Err(SuggestError::Refused(_))));
    town.pass(Millis::from_secs(1)).await;
    town.granted(OwnerRequest::Unblock).await;
    assert_eq!(town.found().await, 2);

    // An owner cannot lift the operator's block.
    town.granted(OwnerRequest::Block).await;
    town.blocks().block(HOST).await.unwrap();
    town.pass(Millis::from_mins(10)).await;
    assert_eq!(town.request(1, OwnerRequest::Unblock).await, RequestOutcome::Refused);
    assert_eq!(town.found().await, 0);
    town.blocks().unblock(HOST).await.unwrap();
    assert_eq!(town.found().await, 2);
}

#[tokio::test(start_paused = true)]
async fn i05_a_job_that_comes_late_does_not_undo_what_was_asked_for_after_it() {
    let town = Town::proven().await;
    let blocked = || async { town.blocks().blocked_by(HOST).await.unwrap() };
    let late =
        async |request| town.own().run(&Envelope::new(OwnJob::new(HOST.into(), challenge(1), request))).await.unwrap();
    town.granted(OwnerRequest::Block).await;
    town.pass(Millis::from_mins(1)).await;
    town.granted(OwnerRequest::Unblock).await;
    town.pass(Millis::from_mins(1)).await;
    town.granted(OwnerRequest::Forget).await;
    // A queue may hand out a job twice.
    assert_eq!(late(OwnerRequest::Unblock).await, Verdict::Done);
    assert_eq!(blocked().await, BlockedBy::Owner);
    assert!(town.world.host_state(HOST).await.is_blocked(HOST));
    town.pass(Millis::from_mins(10)).await;
    town.granted(OwnerRequest::Unblock).await;
    town.pass(Millis::from_mins(1)).await;
    accept(&town.world, "new", TEXT).await;
    assert_eq!(late(OwnerRequest::Forget).await, Verdict::Done);
    assert_eq!(blocked().await, BlockedBy::Nobody);
    assert!(town.world.is_accepted("https://example.org/new").await, "the request does not cover later pages");
}

#[tokio::test(start_paused = true)]
async fn i05_a_request_that_failed_may_be_made_again_at_once() {
    for request in [OwnerRequest::Forget, OwnerRequest::Report, OwnerRequest::Visit, OwnerRequest::Unblock] {
        let town = Town::proven().await;
        let faults = Faults::crash_at(0, town.world.politeness.clock.clone());
        let broken = Owners { queue: Arc::new(Faulty::new(town.world.jobs.clone(), faults)), ..town.owners() };
        broken.request(HOST, &challenge(1), request, true).await.unwrap_err();
        assert_eq!(town.request(1, request).await, RequestOutcome::Granted, "{request:?}");
        assert!(matches!(town.request(1, request).await, RequestOutcome::TooSoon(_)), "{request:?}");
        assert_eq!(town.found().await, if request == OwnerRequest::Forget { 0 } else { 2 });
    }
}

#[tokio::test(start_paused = true)]
async fn i05_what_its_owner_has_forgotten_is_gone() {
    let town = Town::proven().await;
    town.world.with_feed(|feed| feed.title = Some("Of waders".into())).await;
    town.granted(OwnerRequest::Forget).await;
    assert_eq!(town.found().await, 0);
    for url in [A, B] {
        assert_eq!(town.world.gone(url).await, Some(Gone::Blocked), "{url}");
        assert!(town.world.pages.get(&page(url)).await.unwrap().is_some());
    }
    let feed = town.world.feed().await;
    assert!(feed.gone && feed.title.is_none() && feed.seen.is_empty());
    town.world.index().refresh(2026).await.unwrap();
    town.pass(Millis::from_days(2)).await;
    town.world.publish().await;
    assert_eq!(traces(&town.world, &["probe", "worms"]).await, Vec::<String>::new());
    // After the block is lifted, a visit that the owner requests revives the feed.
    town.granted(OwnerRequest::Unblock).await;
    town.granted(OwnerRequest::Visit).await;
    assert!(!town.world.feed().await.gone);
    let polls = town.world.queued(QueueName::Poll).await;
    assert!(matches!(&polls[..], [(Job { work: Work::Poll(poll), .. }, _)] if poll.url == FEED), "{polls:?}");
}

#[tokio::test(start_paused = true)]
async fn i05_what_its_owner_has_forgotten_is_not_kept_raw() {
    let town = Town::proven().await;
    let (world, url) = (&town.world, "https://example.org/raw");
    world.web.keep(url, crate::raw::kept("whimbrel"));
    world.with_feed(|_| {}).await;
    let job = VisitJob { feed: Some(key(FEED)), ..visit(HOST, &[url], &new()) };
    assert_eq!(world.fetch(&job).await, Verdict::Done);
    crate::revision::work(world).await;
    assert_eq!(crate::raw::places(world, "whimbrel").await.len(), 2);
    world.sleep(Millis::from_mins(1)).await;
    town.granted(OwnerRequest::Forget).await;
    assert_eq!(crate::raw::places(world, "whimbrel").await, Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn i05_a_page_that_is_on_its_way_when_its_owner_has_all_forgotten_is_not_stored() {
    let town = Town::proven().await;
    let (world, url) = (&town.world, "https://example.org/late");
    world.serve_page(url, "");
    assert_eq!(world.fetch(&visit(HOST, &[url], &new())).await, Verdict::Done);
    let jobs = world.queued(QueueName::Extract).await;
    let [(job, _)] = &jobs[..] else { panic!("{jobs:?}") };
    let segments = || async { world.keys("segments/").await.len() };
    let before = segments().await;
    town.granted(OwnerRequest::Forget).await;
    assert_eq!(world.program().run(job).await.unwrap(), Verdict::Done);
    assert_eq!(world.rejection(url).await, Some(Rejection::Blocked));
    assert!(segments().await <= before, "the page must not be stored");
}

#[tokio::test(start_paused = true)]
async fn a_visit_that_is_asked_for_keeps_the_manners_of_every_other() {
    let town = Town::proven().await;
    let now = town.world.now();
    town.world.with_feed(|feed| feed.polled_at = now).await;
    town.granted(OwnerRequest::Visit).await;
    let poll = town.world.queued(QueueName::Poll).await;
    assert!(poll.len() == 1 && poll[0].1 >= now + town.world.politeness.rules.poll_floor, "{poll:?}");
    assert_eq!(town.world.only_visit().await.0.items.len(), 2);
    assert!(matches!(town.request(1, OwnerRequest::Visit).await, RequestOutcome::TooSoon(_)));
}

#[tokio::test(start_paused = true)]
async fn claims_are_forgotten_when_their_time_is_over() {
    let town = Town::proven().await;
    let blobs = town.world.blobs.as_ref();
    let there = || async { blobs.list("owners/", None, 10).await.unwrap().len() };
    assert_eq!((expire_claims(blobs, town.world.now()).await.unwrap(), there().await), (0, 1));
    town.pass(PROOF_LIFE + CLAIM_LIFE).await;
    assert_eq!(town.request(1, OwnerRequest::Block).await, RequestOutcome::Unproven);
    assert_eq!((expire_claims(blobs, town.world.now()).await.unwrap(), there().await), (1, 0));
}

fn message(n: usize) -> Message {
    Message { about: About::Abuse, address: HOME.into(), text: format!("message {n}"), reply_to: String::new() }
}

#[tokio::test(start_paused = true)]
async fn i10_messages_are_kept_once_in_bounded_number_and_not_for_long() {
    let world = TestWorld::new();
    let messages = world.program().desk.messages;
    for _ in 0..3 {
        assert_eq!(messages.take(&message(0)).await.unwrap(), MessageOutcome::Taken);
    }
    let oldest = Some(world.now());
    assert_eq!(messages.open().await.unwrap(), OpenMessages { count: 1, oldest });
    let kept = messages.list().await.unwrap();
    assert_eq!((kept.len(), &kept[0].1.message, kept[0].1.at), (1, &message(0), world.now()));
    let key = &world.keys("messages/").await[0];
    let stored = world.blobs.get(key).await.unwrap().unwrap().bytes;
    let fields: serde_json::Map<String, serde_json::Value> = serde_json::from_slice(&stored).unwrap();
    assert_eq!(fields.keys().collect::<Vec<_>>(), ["about", "address", "at", "reply_to", "text"], "no other fields");
    for n in 1..MESSAGES_A_DAY {
        assert_eq!(messages.take(&message(n)).await.unwrap(), MessageOutcome::Taken);
    }
    assert_eq!(messages.take(&message(9_999)).await.unwrap(), MessageOutcome::Full);
    assert_eq!(messages.take(&message(1)).await.unwrap(), MessageOutcome::Taken, "a repeated message is already there");
    assert!(messages.close(&kept[0].0).await.unwrap() && !messages.close(&kept[0].0).await.unwrap());
    world.sleep(MESSAGES_KEPT).await;
    assert_eq!(messages.expire().await.unwrap(), 0);
    world.sleep(Millis::from_days(1)).await;
    assert_eq!(messages.take(&message(1)).await.unwrap(), MessageOutcome::Taken, "a new day has a new allowance");
    let open = messages.open().await.unwrap();
    assert!(open.count == MESSAGES_A_DAY && open.oldest.is_some_and(|at| at < world.now()), "{open:?}");
    assert_eq!(messages.expire().await.unwrap(), MESSAGES_A_DAY - 1);
    assert_eq!(messages.open().await.unwrap(), OpenMessages { count: 1, oldest: Some(world.now()) });
    assert_eq!(messages.list().await.unwrap().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn w03_w04_suggestions_are_written_down_once_and_in_bounded_number() {
    let world = TestWorld::new();
    let suggest = world.suggest();
    let mut taken = 0;
    for n in 0..50 {
        // One address of the host is suggested again and again, and a new one each time.
        suggest.offered("https://example.org/same").await.unwrap();
        taken += usize::from(suggest.offered(&format!("https://sub{n}.example.org/{n}")).await.is_ok());
    }
    assert_eq!(taken, 4, "five with the first suggestion");
    assert!(suggest.offered("https://other.example/").await.is_ok());
    assert!(world.web.calls().is_empty(), "nothing was fetched");
    assert!(world.queued(QueueName::Discover).await.is_empty(), "no discovery is queued at once");
    world.sleep(Millis::from_days(1)).await;
    assert!(suggest.offered("https://example.org/tomorrow").await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn an_owner_turns_the_back_catalogue_off_and_on_and_has_what_is_listed_of_it_erased() {
    let town = Town::proven().await;
    let world = &town.world;
    world.with_feed(|_| {}).await;
    let posts = (0..40).map(|n| format!("<item><link>https://example.org/post-{n}</link></item>")).collect::<String>();
    world.web.serve(FEED, "application/rss+xml", rss(&posts));
    let (backfills, of) = (world.program().crawler.backfills, key(FEED));
    assert!(backfills.begin(&of, BackfillRequest::default()).await.unwrap());
    let key = key_of(&of).unwrap();
    let row = async || match world.sources.get(&key).await.unwrap() {
        Some((Source::Backfill(row), _)) => row,
        other => panic!("{other:?}"),
    };
    let step = async || {
        let before = row().await;
        world.sleep_until(before.due).await;
        let job = BackfillJob { backfill: key.clone(), url: before.url, step: before.step };
        assert_eq!(backfills.run(&job).await.unwrap(), Verdict::Done);
        row().await
    };
    town.granted(OwnerRequest::HistoryOff).await;
    let calls = world.web.calls().len();
    let off = step().await;
    assert_eq!((off.sent, world.web.calls().len(), off.due), (0, calls, world.now() + Millis::from_days(1)));
    assert!(off.note.is_some_and(|note| note.contains("turned it off")));
    assert!(town.held().await.is_without_history);
    assert_eq!(town.found().await, 2, "turning the back catalogue off hides nothing");
    world.sleep(Millis(1)).await;
    town.granted(OwnerRequest::HistoryOn).await;
    assert_eq!(step().await.sent, 20);
    assert_eq!(world.keys("backfill/").await.len(), 1);
    town.request(1, OwnerRequest::Report).await;
    let report = town.held().await.report.unwrap();
    assert_eq!((report.history[0].sent, report.history[0].days), (20, Some(1)));
    town.request(1, OwnerRequest::Forget).await;
    assert!(world.keys("backfill/").await.is_empty());
    let ended = row().await;
    assert!(matches!(ended.state, BackfillState::GivenUp { .. }));
    // A step that was under way meanwhile has written its list. Its job is handed out once more.
    world.blobs.put(&format!("backfill/{key}/1-pages-0-late.json.zst"), Bytes::from_static(b"late")).await.unwrap();
    let job = BackfillJob { backfill: key.clone(), url: ended.url, step: ended.step - 1 };
    assert!(matches!(backfills.run(&job).await.unwrap(), Verdict::Drop(_)));
    assert!(world.keys("backfill/").await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_look_at_a_host_that_is_always_in_use_ends_after_twenty_waits() {
    let town = Town::new().await;
    let world = &town.world;
    town.begin(OwnerRequest::Look).await;
    let program = world.program().with_desk(|desk| desk.looking_up(town.zone.clone()));
    let clock = world.politeness.clock.clone();
    let mailbox = world.mailbox();
    let worker = Worker { stages: &program, queue: &mailbox, clock: clock.as_ref() };
    let mut runs = 0;
    while let Some((_, due)) = world.queued(QueueName::Discover).await.into_iter().next() {
        // Another worker holds the host's lease each time.
        let other = TestWorld::sharing(world);
        let _visit = other.politeness.open(&host(HOST), "another").await.unwrap();
        clock.sleep(due.since(world.now())).await;
        let deliveries = world.jobs.receive(QueueName::Discover, 1, Millis::from_hours(1), world.now()).await.unwrap();
        worker.deliver(QueueName::Discover, deliveries).await.unwrap();
        runs += 1;
        assert!(runs <= 100, "the job waits without end");
    }
    assert_eq!(runs, 21);
    let job = town.world.queued(QueueName::Remove).await;
    let [(Job { work: Work::Own(OwnJob { looked: Some(looked), .. }), .. }, _)] = &job[..] else { panic!("{job:?}") };
    assert_eq!(looked.misses[1..], [(Way::File, Miss::Held), (Way::Meta, Miss::Held)]);
}
