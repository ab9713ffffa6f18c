//! Dispatch catches up after a stop, however long the stop was and wherever its ticks end.

use crate::test_world::*;
use curlew_crawl::feeds::dispatch::TickLimits;
use curlew_policy::polling::schedule::slots_due;
use std::sync::Mutex;

/// A world with feeds and the marks of its dispatch.
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

    /// Returns the same stage in a process that ends just before a call.
    fn dispatch_that_ends(&self, at_call: u64) -> Dispatch {
        let faults = Faults::crash_at(at_call, self.world.politeness.clock.clone());
        Dispatch {
            marks: Arc::new(Faulty::new(self.marks.clone(), faults.clone())),
            sources: Arc::new(Faulty::new(self.world.sources.clone(), faults.clone())),
            queue: Arc::new(Faulty::new(self.world.jobs.clone(), faults)),
            ..self.world.dispatch_stage()
        }
    }

    /// Returns the number of polls that were sent for each feed since the last call of this function.
    async fn polls(&self) -> BTreeMap<SourceKey, u32> {
        let mut polls = BTreeMap::new();
        for delivery in self.world.jobs.receive(QueueName::Poll, usize::MAX, Millis(1), self.world.now()).await.unwrap()
        {
            let Ok(Job { work: Work::Poll(job), .. }) = delivery.job else { panic!("no poll") };
            *polls.entry(job.feed).or_default() += 1;
            self.world.jobs.ack(&delivery.receipt).await.unwrap();
        }
        polls
    }

    async fn wait(&self, time: Millis) {
        self.world.sleep(time).await;
    }
}

fn hashed(n: u64) -> SourceKey {
    key(&format!("https://h{n}.example/feed"))
}

/// Returns a key of slot 0 that starts with this number, or with one slightly below it.
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
            assert!(ticks < 40, "dispatch does not progress");
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
    // Somebody has searched for URLs whose keys all start alike.
    let alike = (0..2_000_u64).map(|n| in_slot_0(1 << 63, n));
    let stack = Stack::with(spread.chain(alike)).await;
    // An older program left a mark in the middle of a minute. The slot is due in the next minute.
    let midnight = stack.world.now();
    assert_eq!(midnight.minute() % i64::from(Slot::COUNT), 0);
    stack.marks.swap("dispatch", Version::ABSENT, Timestamp::from_millis(midnight.as_millis() - 1)).await.unwrap();
    let (mut polls, mut ticks, mut most) = (BTreeMap::<SourceKey, u32>::new(), 0, 0);
    loop {
        // These limits end a tick after the first list of rows.
        let limits = TickLimits { rows: 1, until: Millis::ZERO };
        let sent = stack.dispatch().tick_within(limits).await.unwrap();
        most = most.max(sent.rows);
        stack.polls().await.into_iter().for_each(|(feed, n)| *polls.entry(feed).or_default() += n);
        if !sent.is_behind {
            break;
        }
        ticks += 1;
        assert!(ticks < 40, "dispatch does not progress");
        stack.wait(Millis::from_mins(1)).await;
    }
    assert_eq!(polls.len(), 8_000);
    assert!(ticks >= 10 && most <= 3_000, "{ticks} ticks of at most {most} rows");
    let twice: u32 = polls.values().map(|n| n - 1).sum();
    // A tick ends among the keys that start alike, and the next one reads that part of them again.
    assert!(twice <= 500 + 3 * ticks, "{twice} polls were sent again: more than the last rows of each tick");
    let (mark, _) = stack.marks.load("dispatch").await.unwrap();
    assert_eq!(mark, Some(stack.world.now()), "the mark is a plain instant again");
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
    // One mark is read, rows are listed twice, and jobs are sent once, so the mark's write is the fifth call.
    assert!(stack.dispatch_that_ends(4).tick().await.is_err());
    assert_eq!(stack.marks.load("dispatch").await.unwrap().1, before);
    assert_eq!(stack.polls().await.len(), 150);
    let sent = stack.dispatch_that_ends(5).tick().await.unwrap();
    assert_eq!((sent.slots, sent.rows, sent.polls, sent.is_behind), (1, 150, 150, false));
    assert!(stack.marks.load("dispatch").await.unwrap().1 != before);
}

#[tokio::test(start_paused = true)]
async fn polls_of_long_addresses_are_several_jobs_each_of_which_a_message_holds() {
    let stack = Stack::with([]).await;
    for n in 0..900 {
        let key = in_slot_0(n * 480 * 7_919 * 1_000_003, n);
        let url = format!("https://h{n}.example/?{}", "\\".repeat(2_000));
        let feed = FeedSource::new(key, Slot::from_hash(0), url);
        assert!(stack.world.sources.insert(&Source::Feed(feed)).await.unwrap());
    }
    let dispatch = Dispatch { sends_together: true, ..stack.dispatch() };
    assert_eq!(dispatch.tick().await.unwrap().polls, 900);
    let sent = stack.world.jobs.receive(QueueName::Poll, 100, Millis(1), stack.world.now()).await.unwrap();
    let lengths: Vec<usize> = sent.iter().map(|sent| sent.job.as_ref().unwrap().to_message().unwrap().len()).collect();
    assert!(lengths.iter().all(|length| *length < 1 << 20), "{lengths:?}");
    let polls = sent
        .iter()
        .map(|sent| if let Ok(Job { work: Work::Polls(polls), .. }) = &sent.job { polls.polls.len() } else { 0 });
    assert_eq!(polls.sum::<usize>(), 900);
}

/// A million feeds, each on a host of its own; some are also listed under an extra slot. Rows are made when they are
/// read.
struct Million {
    clock: Arc<dyn Clock>,
}

/// Number of feeds in each slot.
const IN_SLOT: u64 = 1_000_000 / Slot::COUNT as u64;
/// Number of feeds.
const FEEDS: usize = Slot::COUNT as usize * IN_SLOT as usize;
/// One of this many feeds is polled twice a cycle.
const TWICE: u64 = 4;
/// Time that a read of the store takes.
const READ: Millis = Millis(5);
/// Time that a stack's function allows for a tick.
const TICK: Millis = Millis::from_secs(47);

impl Million {
    fn feed(slot: Slot, number: u64) -> FeedSource {
        // Keys ascend within a slot.
        let key = Million::key(number << 52, slot);
        let interval = Millis::from_hours(if number.is_multiple_of(TWICE) { 4 } else { 8 });
        FeedSource {
            interval,
            ..FeedSource::new(key, slot, format!("https://s{}n{number}.example/feed", slot.index()))
        }
    }

    fn key(first_half: u64, slot: Slot) -> SourceKey {
        SourceKey::new(&format!("{first_half:016x}{:016x}", slot.index())).unwrap()
    }

    /// Returns the slot of a feed, and its number in the slot.
    fn place(key: &SourceKey) -> (Slot, u64) {
        let half = |range| u64::from_str_radix(&key.as_str()[range], 16).unwrap();
        (Slot::from_hash(half(16..32)), half(0..16) >> 52)
    }

    /// Returns the rows of a slot with this number, in the order of their keys: a feed, and the extra row of another
    /// feed.
    fn rows(slot: Slot, number: u64) -> impl Iterator<Item = Source> {
        let own = Source::Feed(Million::feed(slot, number));
        let further = number.is_multiple_of(TWICE).then(|| {
            let half_a_cycle_before = Slot::from_hash(u64::from(slot.index() + Slot::COUNT / 2));
            let FeedSource { key: feed, url, .. } = Million::feed(half_a_cycle_before, number);
            Source::Extra(ExtraSlot { key: Million::key((number << 52) + 1, slot), slot, feed, url })
        });
        [Some(own), further].into_iter().flatten()
    }
}

#[async_trait]
impl Sources for Million {
    async fn get(&self, key: &SourceKey) -> Result<Option<(Source, Version)>, PortError> {
        self.clock.sleep(READ).await;
        let (slot, number) = Million::place(key);
        Ok(Some((Source::Feed(Million::feed(slot, number)), Version(1))))
    }

    async fn insert(&self, _: &Source) -> Result<bool, PortError> {
        unreachable!("dispatch writes no feeds")
    }

    async fn swap(&self, _: Version, _: &Source) -> Result<Version, PortError> {
        unreachable!("dispatch writes no feeds")
    }

    async fn in_slot(&self, slot: Slot, after: Option<&SourceKey>, most: usize) -> Result<Vec<Source>, PortError> {
        self.clock.sleep(READ).await;
        let first = after.map_or(0, |after| Million::place(after).1);
        let rows = (first..IN_SLOT).flat_map(|number| Million::rows(slot, number));
        Ok(rows.skip_while(|row| after.is_some_and(|after| row.key() <= after)).take(most).collect())
    }

    async fn list(&self, _: Option<&SourceKey>, _: usize) -> Result<Vec<Source>, PortError> {
        unreachable!("dispatch reads feeds by their slot")
    }
}

/// A queue that counts the polls of each row that are due by `until`.
struct Counted {
    clock: Arc<dyn Clock>,
    until: Timestamp,
    /// Number of polls of each feed sent by its own slot, followed by the numbers sent by its extra slot.
    counts: Mutex<Vec<u8>>,
    /// Parked polls that have fallen due.
    parked: Mutex<Vec<PollJob>>,
}

impl Counted {
    /// Sends the parked polls and returns their number.
    async fn release(&self) -> usize {
        self.clock.sleep(READ).await;
        std::mem::take(&mut *self.parked.lock().unwrap()).len()
    }

    /// Returns the index of a poll among the counts.
    fn place(poll: &PollJob) -> usize {
        let (slot, number) = Million::place(&poll.feed);
        let came = Slot::from_hash(poll.due.unwrap().minute().unsigned_abs());
        let feed = usize::from(slot.index()) * IN_SLOT as usize + usize::try_from(number).unwrap();
        if came == slot { feed } else { FEEDS + feed }
    }

    /// Returns the number of times that the row with this index is sent in a cycle.
    fn expected(place: usize) -> u8 {
        u8::from(place < FEEDS || (place as u64 % IN_SLOT).is_multiple_of(TWICE))
    }
}

#[async_trait]
impl Queue for Counted {
    async fn send(&self, jobs: &[(Job, Timestamp)]) -> Result<(), PortError> {
        assert!(self.parked.lock().unwrap().is_empty(), "parked polls must be sent first");
        let mut counts = self.counts.lock().unwrap();
        for (job, _) in jobs {
            let Job { work: Work::Polls(job), .. } = job else { panic!("{job:?}") };
            assert!(job.polls.is_sorted_by_key(|poll| (poll.due, Million::place(&poll.feed).1)), "{job:?}");
            let in_time = job.polls.iter().filter(|poll| poll.due.unwrap() <= self.until);
            in_time.for_each(|poll| counts[Counted::place(poll)] += 1);
        }
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn after_a_day_without_ticks_a_million_feeds_are_sent_within_an_hour() {
    let world = TestWorld::new();
    let (clock, stop) = (world.politeness.clock.clone(), Millis::from_hours(24));
    // These polls were parked before the stop.
    let put_back = |slot: u16| {
        let feed = Million::feed(Slot::from_hash(slot.into()), 1);
        PollJob::new(feed.key, feed.url)
    };
    let counted = Arc::new(Counted {
        clock: clock.clone(),
        // Polls that fall due while the tick catches up do not count.
        until: world.now() + stop,
        counts: Mutex::new(vec![0; 2 * FEEDS]),
        parked: Mutex::new((0..Slot::COUNT).map(put_back).collect()),
    });
    let sources = Arc::new(Million { clock: clock.clone() });
    let dispatch = Dispatch { sources, queue: counted.clone(), sends_together: true, ..world.dispatch_stage() };
    dispatch.marks.swap("dispatch", Version::ABSENT, world.now()).await.unwrap();
    clock.sleep(stop).await;
    let began = world.now();
    let (mut ticks, mut released) = (0, 0);
    // Dispatch is called as in a stack's function: every few minutes, with the limits of a tick on rows and time.
    loop {
        ticks += 1;
        let limits = TickLimits::until(clock.monotonic() + TICK);
        let (parked, sent) = dispatch.tick_after(counted.release(), limits).await;
        released += parked;
        if !sent.unwrap().is_behind {
            break;
        }
        clock.sleep(Millis::from_mins(3)).await;
    }
    assert!(world.now().since(began) < Millis::from_hours(1), "{ticks} ticks");
    assert_eq!(released, usize::from(Slot::COUNT));
    let counts = counted.counts.lock().unwrap();
    let sent =
        |times: u8| counts.iter().enumerate().filter(move |(at, count)| **count == times * Counted::expected(*at));
    let (once, again) = (sent(1).count(), sent(2).filter(|(at, _)| Counted::expected(*at) > 0).count());
    assert_eq!(once + again, counts.len(), "{} rows were sent never or more than twice", counts.len() - once - again);
    // A tick begins at the last rows of the previous one, which are a feed and an extra slot with nearly the same key.
    // The feed is polled only once, since its row records the poll.
    assert!(again < 2 * ticks, "{again} in {ticks} ticks");
}
