//! Judges whether each call was allowed. The rules are written here a second time, from the promises to site owners
//! instead of from the policy's code.

use super::story::{Story, day};
use super::web::{DAY, Web, is_private};
use super::{LongRun, MISSES_TOLD, Report, TOLD};
use crate::bad_time::Moment;
use curlew_model::HostState;
use curlew_ports::{Call, CallKind, FetchError, Reply};
use std::collections::{BTreeMap, VecDeque};
use url::Url;

const SECOND: Moment = 1_000;
const HOUR: Moment = 3_600 * SECOND;
/// A poll counts as missed when it is later than this: a cycle of eight hours and two hours of tolerance.
const CYCLE: Moment = 10 * HOUR;
/// Longest time between two polls where the interval follows the feed's history, with the same tolerance.
const LONGEST_CYCLE: Moment = 7 * DAY + 10 * HOUR;
/// A feed must not be polled again within this time, whatever the feed says (rule H07).
const FLOOR: Moment = HOUR;
/// A host key has broken connections when this many of its pages are cut short within a day.
const MANY_CUT: usize = 3;
/// Time for which a copy of robots.txt may be used: a day, and the rest of the visit that read it.
const ROBOTS_AGE: Moment = DAY + 300 * SECOND;
const REST: Moment = HOUR;
const WINDOW: Moment = 8 * HOUR;
const CALL: Moment = 30 * SECOND;
/// Time after an outage of our own network in which the crawler may still attribute unreachable hosts to the outage.
const OUTAGE_KNOWN: Moment = HOUR;
/// Path of home pages. Discovery is not needed here, since feeds are named: a home page is called only to compare
/// another page with it.
const HOME: &str = "/";
const RETRY_AFTER_CAP: Moment = 7 * DAY;

#[derive(Clone, Debug, Default)]
struct PlaceHistory {
    busy: bool,
    last_end: Option<Moment>,
    robots_at: BTreeMap<String, Moment>,
    /// Time until which the crawler may leave this place alone because many of its pages were cut short.
    may_rest: Moment,
    quiet: Option<(Moment, &'static str)>,
    /// Visits by the token of their lease, with the start of the first call and the end of the last one.
    visits: VecDeque<(u64, Moment, Moment)>,
    /// When the home page was last called, to compare another page with it.
    home_at: Option<Moment>,
    /// URLs that must not be called before a moment, with the status that they answered.
    urls: BTreeMap<String, (Moment, u16)>,
    /// Number of consecutive calls that did not reach this place.
    failures: u32,
    blocked_at: Option<Moment>,
    story: Story,
}

#[derive(Clone, Copy, Debug, Default)]
struct FeedHistory {
    /// When the poll that was given out and is not made yet fell due.
    due: Option<Moment>,
    last: Option<Moment>,
    /// When the host last answered a poll. A call that reached nobody is no burden on a host.
    answered: Option<Moment>,
    /// True if the last poll was unconditional.
    unconditionally: bool,
    status: Option<u16>,
}

pub(super) struct Judge {
    places: Vec<PlaceHistory>,
    feeds: Vec<FeedHistory>,
    lateness: (u64, u64),
    /// Sum of the ages of entries when their pages were called, and the number of these entries.
    ages: (u64, u64),
    /// Maximum time between two polls of a feed.
    cycle: Moment,
    /// Time that visits may spend on a host key in a window.
    hour: Moment,
    /// Missed polls whose report does not include the feed's row yet: the feed, and the index of the miss in the
    /// report.
    unexplained: Vec<(usize, usize)>,
    pub(super) calling: u64,
    pub(super) report: Report,
}

impl Judge {
    pub(super) fn new(web: &Web, plan: &LongRun) -> Judge {
        Judge {
            places: vec![PlaceHistory::default(); web.places.len()],
            feeds: vec![FeedHistory::default(); web.feeds.len()],
            lateness: (0, 0),
            ages: (0, 0),
            cycle: if plan.adaptive { LONGEST_CYCLE } else { CYCLE },
            hour: plan.hour.0,
            unexplained: vec![],
            calling: 0,
            report: Report { feeds: web.feeds.len(), ..Report::default() },
        }
    }

    pub(super) fn block(&mut self, place: usize, now: Moment) {
        self.places[place].blocked_at = Some(now);
    }

    /// Records that a poll of a feed is given out for the moment `due`. The first poll and the feed's own slot may lie
    /// close together. One call then serves both: a poll that falls due within the floor after an answer must not be
    /// made.
    pub(super) fn give_out(&mut self, web: &Web, feed: usize, due: Moment, now: Moment) {
        if self.feeds[feed].answered.is_some_and(|at| due < at + FLOOR) {
            return;
        }
        let since = *self.feeds[feed].due.get_or_insert(due);
        if now.saturating_sub(since) > CYCLE {
            self.feeds[feed].due = Some(due);
            self.not_made(web, feed, since, now);
        }
    }

    /// Records that a poll was due at `since` and is not made by `now`.
    fn not_made(&mut self, web: &Web, feed: usize, since: Moment, now: Moment) {
        if self.is_excused(web, web.feeds[feed].place, since, now) {
            self.report.excused += 1;
            return;
        }
        self.report.missed += 1;
        if self.report.misses.len() < MISSES_TOLD {
            self.unexplained.push((feed, self.report.misses.len()));
            let miss = self.miss(web, feed, since, now);
            self.report.misses.push(miss);
        }
    }

    /// Returns true if a poll that was due at `since` need not have been made by `now`: our own network was down, the
    /// place was in trouble or is blocked, or so many of its pages were cut short that it was left alone.
    fn is_excused(&self, web: &Web, place: usize, since: Moment, now: Moment) -> bool {
        let seen = &self.places[place];
        let ours = web.outage.0 < now && since < web.outage.1 + 2 * HOUR;
        let rests = since < seen.may_rest && now < seen.may_rest + CYCLE;
        !web.is_well(place) || ours || seen.blocked_at.is_some() || rests
    }

    /// Describes a missed poll, with everything known about the feed and its place.
    fn miss(&self, web: &Web, feed: usize, since: Moment, now: Moment) -> String {
        let (url, story) = (&web.feeds[feed].url, &self.places[web.feeds[feed].place].story);
        let seen = &self.feeds[feed];
        let how = if seen.unconditionally { "unconditionally" } else { "conditionally" };
        let last = seen.last.map_or("never called before".to_owned(), |last| {
            format!("called last on {} {how}, answer {}", day(last), seen.status.unwrap_or(0))
        });
        format!("{url}: no poll from {} ({since} ms) to {}; {last}; its host: {story}", day(since), day(now))
    }

    /// Takes the missed polls whose report does not include the feed's row yet: the feed, and the index that
    /// [`Judge::explain`] expects.
    pub(super) fn unexplained(&mut self) -> Vec<(usize, usize)> {
        std::mem::take(&mut self.unexplained)
    }

    /// Adds the feed's row to the report of a missed poll.
    pub(super) fn explain(&mut self, miss: usize, row: &str) {
        if let Some(line) = self.report.misses.get_mut(miss) {
            *line += &format!("; its row: {row}");
        }
    }

    pub(super) fn held(&mut self, place: usize, why: &str, now: Moment) {
        self.places[place].story.add(now, format!("held: {why}"));
    }

    fn tell(&mut self, what: impl FnOnce() -> String) {
        if self.report.first.len() < TOLD {
            self.report.first.push(what());
        }
    }

    /// Judges a call as it begins; `state` is the ledger's row of the host key.
    pub(super) fn begin(&mut self, web: &Web, place: usize, call: &Call, url: &Url, state: &HostState, now: Moment) {
        self.report.calls += 1;
        for why in self.faults(web, place, call, url, state, now) {
            self.report.violations += 1;
            self.tell(|| format!("{} at {now} ms: {why}", call.url));
        }
        let seen = &mut self.places[place];
        seen.busy = true;
        seen.began(state.last_token, now);
        if call.kind == CallKind::Robots {
            seen.robots_at.insert(url.host_str().unwrap_or_default().to_owned(), now);
        }
        match call.kind {
            CallKind::Feed => {
                if let Some(feed) = web.feed_of(url.as_str()) {
                    self.polled(web, feed, now);
                    self.feeds[feed].unconditionally = call.validators.is_empty();
                }
            }
            CallKind::Page => {
                self.ages.0 += web.age_of(url, now).unwrap_or(0);
                self.ages.1 += 1;
            }
            _ => {}
        }
    }

    fn polled(&mut self, web: &Web, feed: usize, now: Moment) {
        self.report.polls += 1;
        let seen = self.feeds[feed];
        if let Some(due) = seen.due.filter(|due| now < web.outage.0 || *due > web.outage.1) {
            let late = now.saturating_sub(due);
            self.lateness = (self.lateness.0 + late, self.lateness.1 + 1);
            if late > self.report.worst_lateness && !self.is_excused(web, web.feeds[feed].place, due, now) {
                self.report.worst_lateness = late;
                self.report.worst = format!("{} due on {}, called on {}", web.feeds[feed].url, day(due), day(now));
            }
        }
        if let Some(last) = seen.last.filter(|last| now - last > self.cycle) {
            self.not_made(web, feed, last, now);
        }
        self.feeds[feed] = FeedHistory { due: None, last: Some(now), ..seen };
    }

    fn faults(
        &self,
        web: &Web,
        place: usize,
        call: &Call,
        url: &Url,
        state: &HostState,
        now: Moment,
    ) -> Vec<&'static str> {
        let seen = &self.places[place];
        let mut faults = vec![];
        let mut forbid = |is: bool, why: &'static str| faults.extend(is.then_some(why));
        let is_robots = call.kind == CallKind::Robots;
        let delay = if is_robots { 0 } else { web.places[place].delay.0 };
        forbid(seen.busy, "another call is under way");
        forbid(seen.last_end.is_some_and(|end| now < end + SECOND), "less than a second has passed");
        forbid(seen.last_end.is_some_and(|end| now < end + delay.min(60 * SECOND)), "the Crawl-delay has not passed");
        forbid(state.lease.is_none(), "there is no lease");
        forbid(!web.is_platform(place) && seen.time_within(now) > self.hour + CALL, "its hour is used up");
        let looked = seen.home_at.filter(|_| url.path() == HOME);
        forbid(looked.is_some_and(|at| now < at + DAY), "its home page was looked at within a day");
        forbid(seen.blocked_at.is_some_and(|at| now > at + SECOND), "it is blocked");
        if let Some((until, why)) = seen.quiet {
            forbid(now < until, why);
        }
        let early = seen.urls.get(url.as_str()).is_some_and(|(until, _)| now < *until);
        forbid(early && !is_robots, "this URL is left alone");
        forbid(is_private(url), "robots.txt forbids it");
        let feed = web.feed_of(url.as_str()).filter(|_| call.kind == CallKind::Feed);
        let polled = feed.and_then(|feed| self.feeds[feed].answered);
        forbid(polled.is_some_and(|at| now < at + FLOOR), "it was polled less than an hour ago");
        let asked = seen.robots_at.get(url.host_str().unwrap_or_default());
        forbid(!is_robots && asked.is_none_or(|at| now > at + ROBOTS_AGE), "robots.txt was not asked");
        faults
    }

    pub(super) fn end(
        &mut self,
        web: &Web,
        place: usize,
        url: &Url,
        answer: &Result<Reply, FetchError>,
        (began, now): (Moment, Moment),
    ) {
        self.calling += now - began;
        let seen = &mut self.places[place];
        seen.busy = false;
        seen.last_end = Some(now);
        if let Some((.., end)) = seen.visits.back_mut() {
            *end = now;
        }
        seen.story.answered(url.path(), answer, began);
        let feed = web.feed_of(url.as_str());
        if let Some(feed) = feed {
            self.feeds[feed].status = answer.as_ref().ok().map(|reply| reply.status);
        }
        let asked = answer.as_ref().ok().and_then(|reply| reply.headers.retry_after.as_deref());
        let asked = asked.and_then(|text| text.parse::<u64>().ok()).map_or(0, |s| (s * SECOND).min(RETRY_AFTER_CAP));
        if matches!(answer, Err(FetchError::Network(_))) {
            // No host may be blamed for an outage of our own network, nor until the outage is known to be over.
            let is_ours = web.outage.0 <= began && began < web.outage.1 + OUTAGE_KNOWN;
            seen.failures += u32::from(!is_ours);
            if seen.failures >= 3 && !is_ours {
                seen.quiet = Some((now + 24 * HOUR, "it was out of reach three times within a day"));
            }
            return;
        }
        seen.failures = 0;
        if url.path() == HOME {
            seen.home_at = Some(now);
        }
        if let Some(feed) = feed {
            // This call also serves a poll that was given out during it.
            self.feeds[feed] = FeedHistory { due: None, answered: Some(now), ..self.feeds[feed] };
        }
        if matches!(answer, Ok(Reply { status: 202 | 402 | 403 | 451 | 500.., .. })) && url.path() != "/robots.txt" {
            seen.leave_alone(now + REST, "a URL of it was refused, or failed, less than an hour ago");
        }
        match answer.as_ref().map(|reply| reply.status) {
            Ok(429) => seen.leave_alone(now + (72 * HOUR).max(asked), "it answered 429 within three days"),
            Ok(503) => seen.leave_alone(now + (48 * HOUR).max(asked), "it answered 503 within two days"),
            Ok(code @ 403) => seen.url(url, (now, 72 * HOUR), code, "it answered 403 at two URLs within three days"),
            Ok(code @ 500..) => seen.url(url, (now, 48 * HOUR), code, "it answered 5xx at two URLs within two days"),
            Ok(_) => drop(seen.urls.remove(url.as_str())),
            Err(_) => {
                seen.urls.insert(url.as_str().to_owned(), (now + 24 * HOUR, 0));
                if seen.urls.values().filter(|(until, what)| *until > now && *what == 0).count() >= MANY_CUT {
                    // A repeated hold lasts twice as long.
                    seen.may_rest = now + 2 * DAY;
                }
            }
        }
    }

    /// Ends the run: polls that are still overdue are missed.
    pub(super) fn stop(&mut self, web: &Web, now: Moment) {
        for feed in 0..self.feeds.len() {
            if let Some(due) = self.feeds[feed].due.filter(|due| due + CYCLE < now) {
                self.not_made(web, feed, due, now);
            }
        }
    }

    pub(super) fn close(mut self) -> Report {
        self.report.hosts = self.places.iter().filter(|seen| seen.last_end.is_some()).count();
        self.report.mean_lateness = self.lateness.0 / self.lateness.1.max(1);
        self.report.mean_age = self.ages.0 / self.ages.1.max(1);
        self.report
    }
}

impl PlaceHistory {
    /// Forbids calls before `until`, unless they are already forbidden for longer.
    fn leave_alone(&mut self, until: Moment, why: &'static str) {
        if self.quiet.is_none_or(|(known, _)| until > known) {
            self.quiet = Some((until, why));
        }
    }

    /// Records the start of a call under the lease with this token.
    fn began(&mut self, token: u64, now: Moment) {
        if self.visits.back().is_none_or(|(last, ..)| *last != token) {
            self.visits.push_back((token, now, now));
        }
        self.visits.retain(|(.., end)| *end + WINDOW > now);
    }

    /// Returns the time from the first call to the last one of each visit, summed over the window that ends now.
    fn time_within(&self, now: Moment) -> Moment {
        let from = now.saturating_sub(WINDOW);
        self.visits.iter().map(|(_, began, end)| end.saturating_sub(from.max(*began))).sum()
    }

    fn url(&mut self, url: &Url, (now, time): (Moment, Moment), code: u16, why: &'static str) {
        self.urls.insert(url.as_str().to_owned(), (now + time, code));
        if self.urls.values().filter(|(until, what)| *until > now && *what == code).count() >= 2 {
            self.quiet = Some((now + time, why));
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot be set up has to fail")]
mod tests {
    use super::super::web::make;
    use super::*;

    /// The row of a feed is written at the end of a visit, so the feed's slot may come while the first pages are
    /// fetched.
    #[test]
    fn a_poll_given_out_soon_after_an_answer_is_not_late_and_a_later_one_is() {
        let web = make(1, 0, 1, 4);
        let (place, url) = (web.feeds[0].place, Url::parse(&web.feeds[0].url).unwrap());
        assert!(web.is_well(place));
        let mut judge = Judge::new(&web, &LongRun::new(1, 1, 4));
        let call = |judge: &mut Judge, at: Moment, given_out_within: Option<Moment>| {
            judge.polled(&web, 0, at);
            given_out_within.into_iter().for_each(|due| judge.give_out(&web, 0, due, due));
            let answer = Ok(Reply { status: 200, ..Reply::default() });
            judge.end(&web, place, &url, &answer, (at, at + 3 * SECOND));
        };
        judge.give_out(&web, 0, 0, 0);
        call(&mut judge, 45 * SECOND, Some(46 * SECOND));
        judge.give_out(&web, 0, 60 * SECOND, 60 * SECOND);
        call(&mut judge, WINDOW + 60 * SECOND, None);
        assert_eq!(judge.report.worst_lateness, 45 * SECOND, "{}", judge.report.worst);
        judge.give_out(&web, 0, 2 * WINDOW, 2 * WINDOW);
        call(&mut judge, 2 * WINDOW + HOUR, None);
        assert_eq!(judge.report.worst_lateness, HOUR, "{}", judge.report.worst);
    }
}
