//! Dispatch after a stop: it catches up, however long the stop was and wherever its ticks end.

use crate::test_world::{TestWorld, key};
use async_trait::async_trait;
use curlew_model::{FeedSource, Job, Millis, Slot, Source, SourceKey, Stage as QueueName, Timestamp};
use curlew_policy::address;
use curlew_policy::polling::schedule::slots_due;
use curlew_ports::{Inbox, Marks, PortError, Queue, Sources, Version};
use curlew_stages::feeds::dispatch::{Dispatch, TickLimits};
use curlew_testkit::faults::{Faults, Faulty};
use curlew_testkit::memory::MemoryMarks;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// Feeds of a stack, with the marks of its dispatch.
struct Stack {
    world: TestWorld,
    marks: Arc<MemoryMarks>,
    slots: BTreeMap<SourceKey, Slot>,
}

impl Stack {
    async fn with(feeds: impl IntoIterator<Item = SourceKey>) -> Stack {
        let world = TestWorld::new();
        let mut slots = BTreeMap::new();
        for key in feeds {
            let slot = address::slot(&key);
            let feed = FeedSource::new(key.clone(), slot, format!("https://example.org/{key}"));
            assert!(world.sources.insert(&Source::Feed(feed)).await.unwrap());
            slots.insert(key, slot);
        }
        Stack { world, marks: Arc::default(), slots }
    }

    fn dispatch(&self) -> Dispatch {
        Dispatch { marks: self.marks.clone(), ..self.world.dispatch_stage() }
    }

    /// The same stage in a process that ends just before a call.
    fn dispatch_that_ends(&self, at_call: u64) -> Dispatch {
        let faults = Faults::crash_at(at_call, self.world.politeness.clock.clone());
        Dispatch {
            marks: Arc::new(Faulty::new(self.marks.clone(), faults.clone())),
            sources: Arc::new(Faulty::new(self.world.sources.clone(), faults.clone())),
            queue: Arc::new(Faulty::new(self.world.jobs.clone(), faults)),
            ..self.world.dispatch_stage()
        }
    }

    /// Returns the number of polls that were sent for each feed since the last call.
    async fn polls(&self) -> BTreeMap<SourceKey, u32> {
        let mut polls = BTreeMap::new();
        for delivery in self.world.jobs.receive(QueueName::Poll, usize::MAX, Millis(1), self.world.now()).await.unwrap()
        {
            let Ok(Job::Poll(job)) = delivery.job else { panic!("no poll") };
            *polls.entry(job.feed).or_default() += 1;
            self.world.jobs.ack(&delivery.receipt).await.unwrap();
        }
        polls
    }

    async fn wait(&self, time: Millis) {
        self.world.politeness.clock.sleep(time).await;
    }
}

fn hashed(n: u64) -> SourceKey {
    key(&format!("https://h{n}.example/feed"))
}

/// Returns a key of slot 0 that begins with this number, or one a little below it.
fn in_slot_0(number: u64, n: u64) -> SourceKey {
    SourceKey::new(&format!("{:016x}{n:016x}", number - number % u64::from(Slot::COUNT))).unwrap()
}

#[tokio::test(start_paused = true)]
async fn dispatch_catches_up_after_any_stop_though_each_tick_is_cut_off() {
    let stack = Stack::with((0..12_000).map(hashed)).await;
    stack.dispatch().tick().await.unwrap();
    stack.polls().await;
    for (stop, is_late) in [(Millis::from_mins(1), false), (Millis::from_mins(170), true), (Millis::from_days(3), true)]
    {
        stack.wait(stop).await;
        let stopped = (stack.marks.load("dispatch").await.unwrap().0, stack.world.now());
        let (mut polls, mut ticks) = (BTreeMap::<SourceKey, u32>::new(), 0);
        // Each of these ticks ends after a quarter of all slots.
        while stack.dispatch_that_ends(250).tick().await.is_err() {
            ticks += 1;
            assert!(ticks < 40, "dispatch does not come on");
            stack.wait(Millis::from_mins(1)).await;
            stack.polls().await.into_iter().for_each(|(feed, n)| *polls.entry(feed).or_default() += n);
        }
        assert_eq!(ticks > 0, is_late);
        stack.polls().await.into_iter().for_each(|(feed, n)| *polls.entry(feed).or_default() += n);
        let due = slots_due(stopped.0, None, stopped.1);
        for (feed, _) in stack.slots.iter().filter(|(_, slot)| due.iter().any(|due| due.slot == **slot)) {
            assert!(polls.contains_key(feed), "{feed} was not polled after {stop:?}");
        }
        let twice: u32 = polls.values().map(|n| n - 1).sum();
        assert!(twice <= ticks * 3_000, "{twice} polls were sent again in {ticks} ticks");
    }
}

#[tokio::test(start_paused = true)]
async fn a_slot_with_more_rows_than_a_tick_may_read_is_gone_through_part_by_part() {
    let spread = (0..6_000_u64).map(|n| in_slot_0(n.wrapping_mul(0x9E37_79B9_7F4A_7C15), n));
    // Somebody has searched for URLs whose keys all begin alike.
    let alike = (0..2_000_u64).map(|n| in_slot_0(1 << 63, n));
    let stack = Stack::with(spread.chain(alike)).await;
    // An older program left a mark in the middle of a minute; the slot comes in the next minute.
    let midnight = stack.world.now();
    assert_eq!(midnight.minute() % i64::from(Slot::COUNT), 0);
    stack.marks.swap("dispatch", Version::ABSENT, Timestamp::from_millis(midnight.as_millis() - 1)).await.unwrap();
    let (mut polls, mut ticks, mut most) = (BTreeMap::<SourceKey, u32>::new(), 0, 0);
    loop {
        // Nothing more is read after the first list of rows.
        let limits = TickLimits { rows: 1, until: Millis::ZERO };
        let sent = stack.dispatch().tick_within(limits).await.unwrap();
        most = most.max(sent.rows);
        stack.polls().await.into_iter().for_each(|(feed, n)| *polls.entry(feed).or_default() += n);
        if !sent.is_behind {
            break;
        }
        ticks += 1;
        assert!(ticks < 40, "dispatch does not come on");
        stack.wait(Millis::from_mins(1)).await;
    }
    assert_eq!(polls.len(), 8_000);
    assert!(ticks >= 10 && most <= 3_000, "{ticks} ticks of at most {most} rows");
    let twice: u32 = polls.values().map(|n| n - 1).sum();
    // A tick ends within the keys that begin alike, and the next one reads that part of them again.
    assert!(twice <= 500 + 3 * ticks, "{twice} polls were sent again: more than those at the edge of a tick");
    let (mark, _) = stack.marks.load("dispatch").await.unwrap();
    assert_eq!(mark, Some(stack.world.now()), "it is an instant as ever");
}

#[tokio::test(start_paused = true)]
async fn a_tick_that_is_on_time_moves_the_mark_once_and_sends_its_jobs_together() {
    let stack = Stack::with((0..48_000).map(|n| in_slot_0(n * 480 * 7_919 * 1_000_003, n)).take(150)).await;
    stack.dispatch().tick().await.unwrap();
    stack.polls().await;
    stack.wait(Millis::from_mins(479)).await;
    stack.dispatch().tick().await.unwrap();
    let before = stack.marks.load("dispatch").await.unwrap().1;
    stack.wait(Millis::from_mins(1)).await;
    // One mark is read, rows are listed twice, and jobs are sent once: the mark is the fifth call.
    assert!(stack.dispatch_that_ends(4).tick().await.is_err());
    assert_eq!(stack.marks.load("dispatch").await.unwrap().1, before);
    assert_eq!(stack.polls().await.len(), 150);
    let sent = stack.dispatch_that_ends(5).tick().await.unwrap();
    assert_eq!((sent.slots, sent.rows, sent.polls, sent.is_behind), (1, 150, 150, false));
    assert!(stack.marks.load("dispatch").await.unwrap().1 != before);
}

/// A million feeds, each a host of its own: rows that are made when they are read, since nothing else of them is needed.
struct Million;

/// Number of feeds in each slot.
const IN_SLOT: u64 = 1_000_000 / Slot::COUNT as u64;

impl Million {
    fn feed(slot: Slot, number: u64) -> FeedSource {
        // Ascending within a slot, and spread over all groups.
        let key = SourceKey::new(&format!("{:016x}{:016x}", number << 52, slot.index())).unwrap();
        FeedSource::new(key, slot, format!("https://s{}n{number}.example/feed", slot.index()))
    }

    /// The number of a feed among all of them.
    fn number(key: &SourceKey) -> usize {
        let half = |range| u64::from_str_radix(&key.as_str()[range], 16).unwrap();
        usize::try_from(half(16..32) * IN_SLOT + (half(0..16) >> 52)).unwrap()
    }
}

#[async_trait]
impl Sources for Million {
    async fn get(&self, _: &SourceKey) -> Result<Option<(Source, Version)>, PortError> {
        unreachable!("dispatch reads feeds by their slot")
    }

    async fn insert(&self, _: &Source) -> Result<bool, PortError> {
        unreachable!("dispatch writes no feeds")
    }

    async fn swap(&self, _: Version, _: &Source) -> Result<Version, PortError> {
        unreachable!("dispatch writes no feeds")
    }

    async fn in_slot(&self, slot: Slot, after: Option<&SourceKey>, most: usize) -> Result<Vec<Source>, PortError> {
        let first = after.map_or(0, |after| {
            let number = u64::from_str_radix(&after.as_str()[..16], 16).unwrap() >> 52;
            number + u64::from(Million::feed(slot, number).key <= *after)
        });
        let feeds = (first..IN_SLOT).take(most).map(|number| Source::Feed(Million::feed(slot, number)));
        Ok(feeds.collect())
    }

    async fn list(&self, _: Option<&SourceKey>, _: usize) -> Result<Vec<Source>, PortError> {
        unreachable!("dispatch reads feeds by their slot")
    }
}

/// Counts the polls of each feed that fall due until a time.
struct Counted {
    until: Timestamp,
    counts: Mutex<Vec<u8>>,
}

#[async_trait]
impl Queue for Counted {
    async fn send(&self, jobs: &[(Job, Timestamp)]) -> Result<(), PortError> {
        let mut counts = self.counts.lock().unwrap();
        for (job, _) in jobs {
            let Job::Polls(job) = job else { panic!("{job:?}") };
            let in_time = job.polls().filter(|poll| poll.due.unwrap() <= self.until);
            in_time.for_each(|poll| counts[Million::number(&poll.feed)] += 1);
        }
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn after_a_day_without_ticks_a_million_feeds_are_sent_within_an_hour() {
    let world = TestWorld::new();
    let stop = Millis::from_hours(24);
    let counts = Mutex::new(vec![0; usize::from(Slot::COUNT) * IN_SLOT as usize]);
    // Not those that fall due while the tick catches up.
    let counted = Arc::new(Counted { until: world.now() + stop, counts });
    let dispatch =
        Dispatch { sources: Arc::new(Million), queue: counted.clone(), groups_polls: true, ..world.dispatch_stage() };
    dispatch.tick().await.unwrap();
    counted.counts.lock().unwrap().fill(0);
    let clock = &world.politeness.clock;
    clock.sleep(stop).await;
    let began = world.now();
    // As the function of a stack is called: every three minutes, each time for no more rows than a tick may read.
    let mut ticks = 1;
    while dispatch.tick_within(TickLimits::until(Millis(u64::MAX))).await.unwrap().is_behind {
        clock.sleep(Millis::from_mins(3)).await;
        ticks += 1;
    }
    assert!(world.now().since(began) < Millis::from_hours(1));
    let counts = counted.counts.lock().unwrap();
    let wrong = counts.iter().filter(|count| **count != 1).count();
    // A tick begins at the last feed of the one before it. The poll itself is made once, since the feed's row tells of it.
    let again = counts.iter().filter(|count| **count == 2).count();
    assert_eq!(wrong, again, "of {} feeds, {} were sent never or often", counts.len(), wrong - again);
    assert!(again < ticks, "{again} in {ticks} ticks");
}
