//! Freshness: the time from the publication of a post until a search finds it, over the real stages in simulated time.
//!
//! Publishing follows `curlew serve`: it happens when there is something new, at most every ten minutes.
#![allow(clippy::print_stdout, reason = "the figures of BENCHMARKS.md")]

use crate::push::Listening;
use crate::test_world::*;
use curlew_policy::chance::mix;
use std::fmt::Write as _;

/// Minimum time between two runs of publishing.
const PUBLISH_EVERY: Millis = Millis::from_mins(10);
/// Interval between two turns of the simulation.
const LOOK: Millis = Millis::from_secs(30);
/// Milliseconds in a minute.
const MINUTE: u64 = 60_000;
/// Number of posts that a feed lists.
const LISTED: usize = 15;
/// Number of days before the start for which a feed has posts.
const PAST: u64 = 8;
/// Number of days after the start whose posts do not count, because the crawler learns the history and makes the first
/// polls.
const LEARNING: u64 = 2;

/// A blog that publishes between 7 and 23 o'clock of its time zone.
struct Blog {
    number: u64,
    /// Publication times of all posts, including those before the start.
    posts: Vec<Timestamp>,
    /// Number of posts that are already on the web.
    shown: usize,
}

impl Blog {
    fn new(number: u64, a_day: u64, days: u64, start: Timestamp) -> Blog {
        let mut posts = vec![];
        for day in 0..PAST + days {
            for post in 0..a_day {
                let luck = mix(number << 32 ^ day << 16 ^ post);
                let minute = (7 * 60 + luck % (16 * 60) + number * 7 * 60) % 1_440;
                posts.push(start - Millis::from_days(PAST) + Millis::from_days(day) + Millis::from_mins(minute));
            }
        }
        posts.sort_unstable();
        Blog { number, posts, shown: 0 }
    }

    fn url(&self, path: &str) -> String {
        format!("https://blog{}.example/{path}", self.number)
    }

    /// Returns a word that occurs in one post only.
    fn word(&self, post: usize) -> String {
        let letters = |mut number: u64| {
            let mut text = String::new();
            for _ in 0..4 {
                text.push(char::from(b'a' + u8::try_from(number % 26).unwrap()));
                number /= 26;
            }
            text
        };
        format!("q{}x{}", letters(self.number), letters(post as u64))
    }

    /// Puts the posts on the web that are due; returns true if there is any.
    fn publish(&mut self, world: &TestWorld) -> bool {
        let now = world.now();
        let shown = self.posts.iter().filter(|at| **at <= now).count();
        for post in self.shown..shown {
            let (word, mut prose) = (self.word(post), String::new());
            for n in 0..160 {
                let luck = mix(self.number << 40 ^ (post as u64) << 16 ^ n);
                let end = if n % 8 == 7 { "." } else { "" };
                let _ = write!(prose, "{}{end} ", made_up_word(luck));
            }
            let body = format!(
                "<html lang=\"en\"><head><title>Note {word}</title></head><body><article><h1>Note {word}</h1>\
                 <p>{prose}.</p></article></body></html>"
            );
            let mut reply = text(body);
            reply.headers.content_type = Some("text/html; charset=utf-8".into());
            world.web.keep(&self.url(&format!("p{post}")), reply);
        }
        if shown == self.shown {
            return false;
        }
        self.shown = shown;
        let mut entries = String::new();
        for post in shown.saturating_sub(LISTED)..shown {
            let (url, at) = (self.url(&format!("p{post}")), self.posts[post]);
            let _ = write!(
                entries,
                "<entry><id>{url}</id><title>Note {post}</title><link href=\"{url}\"/><updated>{at}</updated></entry>"
            );
        }
        let id = self.url("");
        let body = format!(
            "<feed xmlns=\"http://www.w3.org/2005/Atom\"><id>{id}</id><title>Notes</title>\
             <updated>{}</updated>{entries}</feed>",
            self.posts[shown - 1]
        );
        let mut reply = text(body);
        reply.headers.content_type = Some("application/atom+xml".into());
        reply.headers.validators = Validators { etag: Some(format!("\"{shown}\"")), last_modified: None };
        world.web.keep(&self.url("feed"), reply);
        true
    }
}

fn made_up_word(luck: u64) -> String {
    let syllable = |n: u32| {
        let part = luck >> (8 * n);
        [b"bcdfglmnprstv"[(part % 13) as usize], b"aeiou"[(part / 13 % 5) as usize]].map(char::from)
    };
    (0..3).flat_map(syllable).collect()
}

/// State and counts of a simulation.
struct Run<'a> {
    world: &'a TestWorld,
    program: &'a Program,
    published_at: Timestamp,
    /// Number of runs of publishing.
    publishings: usize,
    /// Highest number of splits.
    splits: u64,
}

impl Run<'_> {
    /// Runs the jobs that are due, then publishes if that is due; returns true if it published.
    async fn turn(&mut self) -> bool {
        let (world, program) = (self.world, self.program);
        program.crawler.dispatch.tick().await.unwrap();
        let mailbox = world.mailbox();
        let worker = Worker { stages: program, queue: &mailbox, clock: program.clock.as_ref() };
        loop {
            let mut started = 0;
            for stage in [QueueName::Extract, QueueName::Fetch, QueueName::Poll] {
                for delivery in world.jobs.receive(stage, 9, Millis::from_hours(1), world.now()).await.unwrap() {
                    worker.deliver(stage, vec![delivery]).await.unwrap();
                    started += 1;
                }
            }
            if started == 0 {
                break;
            }
        }
        if world.now() < self.published_at + PUBLISH_EVERY || !program.library.has_unpublished().await.unwrap() {
            return false;
        }
        self.published_at = world.now();
        self.publishings += 1;
        let done = program.publish().await.unwrap();
        self.splits = done.iter().map(|(_, done)| done.splits).max().unwrap_or_default().max(self.splits);
        true
    }

    async fn is_found(&self, word: &str) -> bool {
        self.program.library.finder.find(word, Start::Offset(0), 1).await.unwrap().total > 0
    }
}

fn median(mut waits: Vec<u64>) -> u64 {
    waits.sort_unstable();
    waits.get(waits.len() / 2).copied().unwrap_or(u64::MAX)
}

/// Runs blogs with these numbers of posts per day for some days. Returns for each number the median wait in minutes and
/// the polls per day, and the highest number of splits of the index.
async fn simulate(a_day: &[u64], blogs: u64, days: u64) -> (Vec<(u64, u64, f64)>, u64) {
    let world = TestWorld::new();
    let start = world.now();
    let numbered = |n: u64| (n, a_day[(n % a_day.len() as u64) as usize]);
    let mut all: Vec<Blog> = (0..blogs).map(numbered).map(|(n, a_day)| Blog::new(n, a_day, days, start)).collect();
    for blog in &mut all {
        blog.publish(&world);
        let (url, key) = (blog.url("feed"), key(&blog.url("feed")));
        let (slot, image) = (curlew_policy::address::slot(&key), Some(blog.url("logo.png")));
        let feed = FeedSource { image, ..FeedSource::new(key, slot, &url) };
        assert!(world.sources.insert(&Source::Feed(feed)).await.unwrap());
    }
    let program = world.program();
    let mut run = Run { world: &world, program: &program, published_at: Timestamp::MIN, publishings: 0, splits: 0 };
    let counted_from = start + Millis::from_days(LEARNING);
    let mut waiting: Vec<(usize, usize)> = vec![];
    let mut waits: Vec<Vec<u64>> = vec![vec![]; all.len()];
    while world.now() < start + Millis::from_days(days) {
        for (n, blog) in all.iter_mut().enumerate() {
            let before = blog.shown;
            if blog.publish(&world) {
                waiting.extend((before..blog.shown).filter(|p| blog.posts[*p] >= counted_from).map(|post| (n, post)));
            }
        }
        if run.turn().await {
            let mut still = vec![];
            for (n, post) in waiting {
                if run.is_found(&all[n].word(post)).await {
                    waits[n].push(world.now().since(all[n].posts[post]).0 / MINUTE);
                } else {
                    still.push((n, post));
                }
            }
            waiting = still;
        }
        world.sleep(LOOK).await;
    }
    let state = match waiting.first() {
        Some((n, post)) => world.state(&all[*n].url(&format!("p{post}"))).await,
        None => None,
    };
    let calls = world.calls(CallKind::Feed);
    let of = |a_day: u64| (0..blogs).map(numbered).filter(move |(_, it)| *it == a_day).map(|(n, _)| n);
    let figures = a_day.iter().map(|a_day| {
        let waits: Vec<u64> = of(*a_day).flat_map(|n| waits[n as usize].clone()).collect();
        let expected = of(*a_day).count() as u64 * a_day * (days - LEARNING);
        assert!(waits.len() as u64 * 10 > expected * 9, "{} of {expected} posts were found: {state:?}", waits.len());
        let polls = of(*a_day).map(|n| calls.iter().filter(|call| call.url == all[n as usize].url("feed")).count());
        let polls = polls.sum::<usize>() as f64 / (of(*a_day).count() as u64 * days) as f64;
        (*a_day, median(waits), polls)
    });
    (figures.collect(), run.splits)
}

#[tokio::test(start_paused = true)]
async fn a_post_of_a_lively_feed_is_found_within_seventy_minutes_in_the_median() {
    let (figures, splits) = simulate(&[3, 4, 6, 12], 8, 7).await;
    for (a_day, median, polls) in figures {
        println!("{a_day} posts a day: found after {median} min in the median, {polls:.1} polls a day");
        assert!(median <= 70, "{a_day} posts a day: {median} min");
        assert!(polls <= 24.0, "{a_day} posts a day: {polls} polls");
    }
    assert!(splits <= 30, "{splits} splits");
}

#[tokio::test(start_paused = true)]
async fn a_post_that_a_hub_tells_of_is_found_within_ten_minutes() {
    let listening = Listening::subscribed().await;
    let world = &listening.world;
    let secret = listening.form()["hub.secret"].clone();
    let program = world.program();
    let mut run = Run { world, program: &program, published_at: Timestamp::MIN, publishings: 0, splits: 0 };
    let mut waits = vec![];
    // The blog publishes about three posts a day.
    for post in 0..12_u64 {
        let until = world.now() + Millis::from_hours(7) + Millis::from_mins(mix(post) % 120);
        while world.now() < until {
            run.turn().await;
            world.sleep(LOOK).await;
        }
        let word = listening.publish(post);
        let appeared = world.now();
        listening.told(b"news", &secret).await;
        while !(run.turn().await && run.is_found(&word).await) {
            assert!(world.now() < appeared + Millis::from_hours(2), "post {post} is not found");
            world.sleep(LOOK).await;
        }
        waits.push(world.now().since(appeared).0 / MINUTE);
    }
    println!("with a hub: found after {} min in the median, {:?} at most", median(waits.clone()), waits.iter().max());
    // Only a post within an hour of the daily poll would have to wait for the floor.
    assert!(waits.iter().all(|wait| *wait <= 10), "{waits:?}");
}

#[tokio::test(start_paused = true)]
async fn days_of_publishing_every_ten_minutes_leave_few_splits() {
    let world = TestWorld::new();
    let (mut most, mut rewritten, mut added) = (0, 0, 0);
    for n in 0..2 * 144 {
        crate::index::accept(&world, &format!("n{n}"), "A curlew probes the mud.").await;
        for (_, done) in world.program().publish().await.unwrap() {
            (most, rewritten, added) = (done.splits.max(most), rewritten + done.rewritten, added + done.added);
        }
        world.sleep(PUBLISH_EVERY).await;
    }
    println!("{added} publishings of a page: {most} splits at most, {rewritten} pages rewritten");
    assert_eq!(added, 2 * 144);
    assert!(most <= 20, "{most}");
    assert!(rewritten < 5 * added, "{rewritten}");
    assert_eq!(crate::index::ask(&world, "curlew").await.total, 2 * 144);
}
