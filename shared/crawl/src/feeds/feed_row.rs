//! Applies an answer to a feed's row. Nothing is called or stored here.

use crate::parsing::parsed;
use crate::politeness::visit::Fetched;
use curlew_feed::{Entry, Feed, FeedError, too_many};
use curlew_model::{FeedSource, Habit, Millis, PollHints, Timestamp};
use curlew_policy::chance::mix;
use curlew_policy::politeness::http;
use curlew_policy::polling::failure::{self, AfterFailedPoll, Wrong};
use curlew_policy::polling::schedule::{self, Inputs};
use curlew_policy::polling::{conditional, subscription, websub};
use curlew_policy::rules::Rules;
use curlew_ports::stage::Result;
use curlew_ports::{CpuPool, Reply, ReplyHeaders};
use url::Url;

/// Freshness lifetimes that differ by less than one in this many parts count as equal, since `Expires` values vary.
const STEADY: u64 = 8;

/// Parses a response as a feed, or returns why it is not one; a feed that overruns its limit is unreadable.
pub(crate) async fn parse(pool: &dyn CpuPool, reply: &Reply, url: &Url) -> Result<Result<Feed, FeedError>> {
    let (body, media, url) = (reply.body.clone(), reply.headers.content_type.clone(), url.clone());
    let read = move || curlew_feed::parse(&body, media.as_deref(), &url, &curlew_feed::Limits::default());
    let read = parsed(pool, reply.body.len(), read).await?;
    Ok(read.unwrap_or_else(|overrun| Err(FeedError::Unreadable(overrun.to_string()))))
}

/// Returns the entries that a poll processes, in document order: all, or the newest `most` of them.
pub(crate) fn newest(feed: &Feed, most: usize) -> impl Iterator<Item = &Entry> {
    let too_many = too_many(feed.entries.iter().map(|entry| entry.published.or(entry.updated)), most);
    feed.entries.iter().enumerate().filter(move |(place, _)| !too_many.contains(place)).map(|(_, entry)| entry)
}

/// Returns a hash of the keys, titles and dates of a feed's entries, without volatile content. Never zero.
pub(crate) fn content_hash(feed: &Feed, most: usize) -> u64 {
    let mut hash = mix(feed.entries.len() as u64);
    let mut add = |number: u64| hash = mix(hash ^ number);
    for entry in newest(feed, most) {
        add(entry.key());
        add(entry.updated.or(entry.published).map_or(0, |at| at.as_millis().unsigned_abs()));
        for byte in entry.title.as_deref().unwrap_or_default().bytes() {
            add(byte.into());
        }
    }
    hash.max(1)
}

/// Returns a short hash of an entry's title and date, and of its content if no update is dated. Never zero.
pub(crate) fn stamp(entry: &Entry) -> u16 {
    let mut hash = mix(entry.updated.or(entry.published).map_or(0, |at| at.as_millis().unsigned_abs()));
    let content = entry.content.as_deref().or(entry.summary.as_deref()).filter(|_| entry.updated.is_none());
    for text in [entry.title.as_deref(), content] {
        for chunk in text.unwrap_or_default().as_bytes().chunks(8) {
            hash = mix(chunk.iter().fold(hash, |hash, byte| hash.rotate_left(8) ^ u64::from(*byte)));
        }
        hash = mix(hash ^ 1);
    }
    u16::try_from(hash & 0xffff).unwrap_or_default().max(1)
}

pub(crate) struct ReadFeed<'a> {
    pub(crate) parsed: &'a Feed,
    pub(crate) reply: &'a Reply,
    pub(crate) got: &'a Fetched,
    /// Number of arrivals of new entries since the last answer.
    pub(crate) arrivals: u64,
    /// True if the request was unconditional, in order to check the preceding 304s.
    pub(crate) is_check: bool,
}

pub(crate) fn learn(feed: &mut FeedSource, read: &ReadFeed<'_>, rules: &Rules, now: Timestamp) {
    let ReadFeed { parsed, got, arrivals, .. } = *read;
    let headers = &read.reply.headers;
    let content = content_hash(parsed, rules.entries_per_poll);
    feed.polling.trust = conditional::whole(feed, content, &headers.validators, read.is_check, rules, now);
    feed.format = parsed.format.as_str().to_owned();
    feed.title.clone_from(&parsed.title);
    feed.description.clone_from(&parsed.description);
    feed.link.clone_from(&parsed.link);
    feed.language.clone_from(&parsed.language);
    if parsed.image.is_some() {
        feed.image.clone_from(&parsed.image);
    }
    feed.validators = conditional::to_keep(&feed.validators, &headers.validators, &feed.polling.trust);
    feed.validators_of = (got.hops > 0).then(|| got.url.as_str().to_owned());
    let faults = parsed.faults.summary();
    // A fault that only differs in its place or its wrong date is not worth a write.
    if !feed.faults.is_like(&faults) {
        feed.faults = faults;
    }
    feed.polled_at = now;
    let hints = &parsed.hints;
    feed.polling.hub = Url::parse(&feed.url)
        .ok()
        .and_then(|base| websub::discover(&headers.links, hints.hub.as_deref(), hints.self_url.as_deref(), &base));
    // A subscription ends when the feed no longer names its hub: its callback is unknown from here on.
    feed.polling.subscription = subscription::current(feed).copied();
    feed.polling.hints = poll_hints(parsed, headers, &feed.polling.hints, now);
    let dates = parsed.entries.iter().filter_map(|entry| entry.published.or(entry.updated));
    feed.polling.habit = match (feed.polling.habit, schedule::start(dates, now)) {
        (none, told) if none == Habit::default() && told != none => told,
        (habit, _) => schedule::news(habit, arrivals, now),
    };
    well(feed);
    feed.polling.retry_at = retry_at(headers.retry_after.as_deref(), rules, now);
    let made = schedule::plan(&inputs(feed, headers, rules, now), rules, now);
    (feed.interval, feed.not_before, feed.polling.why) = (made.interval, made.not_before, made.why);
}

/// Applies a 304 to a feed's row, which stays the same while the response says nothing new.
pub(crate) fn unchanged(feed: &mut FeedSource, reply: &Reply, rules: &Rules, now: Timestamp) {
    let headers = &reply.headers;
    conditional::unchanged(&mut feed.validators, &mut feed.polling.trust, &headers.validators, now);
    // A 304 repeats Cache-Control and Expires only if they have changed (RFC 9110 §15.4.5).
    if headers.cache_control.is_some() || headers.expires.is_some() {
        feed.polling.hints.fresh_for = fresh_for(headers, feed.polling.hints.fresh_for, now);
    }
    well(feed);
    feed.polling.retry_at = retry_at(headers.retry_after.as_deref(), rules, now);
    let made = schedule::plan(&inputs(feed, headers, rules, now), rules, now);
    let is_same = schedule::same_slots(made.interval, feed.interval, rules) && made.why == feed.polling.why;
    if !is_same || headers.retry_after.is_some() {
        (feed.interval, feed.not_before, feed.polling.why) = (made.interval, made.not_before, made.why);
    }
}

/// Applies a failed poll; returns true if it retires the feed.
pub(crate) fn failed(
    feed: &mut FeedSource,
    wrong: Wrong,
    words: &str,
    retry_after: Option<&str>,
    rules: &Rules,
    now: Timestamp,
    seed: u64,
) -> bool {
    feed.failures = feed.failures.saturating_add(1);
    match failure::judge(feed, wrong, rules, now, seed) {
        AfterFailedPoll::Retired(why) => {
            tracing::info!(feed = %feed.url, reason = why.as_str(), "polling the feed has ended");
            (feed.gone, feed.polled_at) = (true, now);
            feed.trouble = Some(why.as_str().to_owned());
            true
        }
        AfterFailedPoll::Again { streak, wait, why } => {
            tracing::info!(feed = %feed.url, failures = feed.failures, reason = %words, "the feed could not be read");
            feed.polling.streak = streak;
            feed.trouble = Some(words.to_owned());
            feed.polling.retry_at = retry_at(retry_after, rules, now);
            let retry_after = retry_after.and_then(|value| http::retry_after(value, now));
            let inputs = Inputs {
                hints: PollHints { fresh_for: None, ..feed.polling.hints },
                wrong: Some((wait, why)),
                retry_after,
                ..Inputs::default()
            };
            let made = schedule::plan(&inputs, rules, now);
            (feed.not_before, feed.polling.why) = (made.not_before, made.why);
            false
        }
    }
}

fn well(feed: &mut FeedSource) {
    feed.failures = 0;
    feed.trouble = None;
    feed.polling.streak = None;
}

fn retry_at(retry_after: Option<&str>, rules: &Rules, now: Timestamp) -> Option<Timestamp> {
    let at = http::retry_after(retry_after?, now)?.min(now + rules.retry_after_cap);
    (at > now).then_some(at)
}

fn inputs(feed: &FeedSource, headers: &ReplyHeaders, rules: &Rules, now: Timestamp) -> Inputs {
    Inputs {
        hints: feed.polling.hints,
        habit: feed.polling.habit,
        age: http::age(headers.age.as_deref()),
        retry_after: headers.retry_after.as_deref().and_then(|value| http::retry_after(value, now)),
        pushed: subscription::slows(feed, rules, now),
        conditional: !feed.validators.is_empty()
            && !feed.polling.trust.distrusted
            && !conditional::is_blind(&feed.polling.trust),
        ..Inputs::default()
    }
}

fn poll_hints(parsed: &Feed, headers: &ReplyHeaders, before: &PollHints, now: Timestamp) -> PollHints {
    let hints = &parsed.hints;
    let (skip_hours, skip_days) = schedule::skips(&hints.skip_hours, &hints.skip_days);
    PollHints {
        ttl: hints.ttl_minutes.map(|minutes| Millis::from_mins(minutes.into())),
        update_period: hints.update_period,
        fresh_for: fresh_for(headers, before.fresh_for, now),
        crawl_delay: before.crawl_delay,
        skip_hours,
        skip_days,
    }
}

fn fresh_for(headers: &ReplyHeaders, before: Option<Millis>, now: Timestamp) -> Option<Millis> {
    let fresh = http::lifetime(headers.cache_control.as_deref(), headers.expires.as_deref(), now)?;
    Some(before.filter(|before| before.0.abs_diff(fresh.0) < fresh.0 / STEADY).unwrap_or(fresh))
}
