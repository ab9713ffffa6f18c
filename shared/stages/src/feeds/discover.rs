//! Discover: finds the feeds of a site, once. The home page first; the usual addresses only if it names none that works.
//!
//! robots.txt is asked before every call, redirects are followed twice at most, and what is one feed under two addresses
//! is kept once. A site that has moved its home to another host key is looked at under the lease of that one. The home
//! page is called once, however often the job is put off: what it named travels with the job.

mod rest;

use crate::feeds::backfill::Backfills;
use crate::feeds::feed_row::{content_hash, learn, parse};
use crate::feeds::intake::{Intake, Taken};
use crate::feeds::relocation::revived;
use crate::parsing::parsed;
use crate::politeness::failures;
use crate::politeness::visit::LeaseOutcome;
use crate::politeness::visit::{CallEnd, Fetched, Visit};
use crate::stage::{Stage, StageError, Verdict};
use curlew_article::{Limits, decode, scan_head};
use curlew_feed::{Feed, discover};
use curlew_model::{
    DiscoverJob, Failure, FeedSource, HoldReason, Job, PollJob, Rejection, SiteSource, SiteState, Source, SourceKey,
    Timestamp, Validators,
};
use curlew_policy::address;
use curlew_policy::politeness::deferral;
use curlew_policy::trace;
use curlew_ports::{CallKind, Event, Reply, Version};
use rest::Rest;
use std::sync::Arc;
use url::Url;

/// Usual addresses of feeds, tried in this order if the home page names none.
const GUESSES: [&str; 5] = ["/feed", "/feed/atom", "/rss", "/?feed=rss", "/rss.xml"];

/// Reason of a site without a feed whose home page names none.
const NONE_NAMED: &str = "no feed is named on the home page or found at the usual addresses";
/// Reason of one whose home page names feeds.
const NONE_WORKS: &str = "none of the feeds that the home page names works, and none is found at the usual addresses";

/// The stage that finds feeds.
pub struct Discover {
    /// The queue of new entries.
    pub intake: Arc<Intake>,
}

/// Progress of looking at the home page or guessing.
enum Step {
    /// These feeds work; the rest could not be tried yet and are left to be polled.
    Found { working: Vec<SourceKey>, untried: Vec<Url> },
    /// There is none.
    None(Failure),
    /// The site must not be crawled.
    Refused(Failure),
    /// Not now; when it is, go on from here.
    Later { until: Timestamp, held: bool, rest: Rest },
    /// The home page is on another host key, whose turn it is.
    Onward(Rest),
}

/// Result of reading the home page.
enum Home {
    /// Its address after redirects, and the feeds that it names.
    Read(Url, Vec<Url>),
    /// It ends the matter.
    Ends(Step),
}

/// Result of trying a candidate.
enum Tried {
    /// A feed that works.
    Works(Working),
    /// No feed.
    Useless,
    /// It has to wait; others need not.
    NotYet(Timestamp),
    /// Nothing can be tried any more in this visit.
    NotNow(Timestamp),
}

/// A working feed with its content.
struct Working {
    key: SourceKey,
    format: String,
    content: u64,
    /// It lists entries, so that its content tells it from others.
    is_telling: bool,
    /// The document, if this visit read it.
    read: Option<Box<Feed>>,
}

impl Working {
    /// Returns true if another feed is this one, under another address or in another dialect.
    fn is_same_as(&self, other: &Working) -> bool {
        let say_the_same = (&self.format, self.content) == (&other.format, other.content);
        let list_the_same = self.read.as_ref().zip(other.read.as_ref()).is_some_and(|(a, b)| a.is_same_as(b));
        (self.is_telling && other.is_telling && say_the_same) || list_the_same
    }
}

impl Discover {
    async fn look(
        &self,
        visit: &mut Visit<'_>,
        site: &mut SiteSource,
        start: &Url,
        mut rest: Rest,
    ) -> Result<Step, StageError> {
        let home = match rest.home.clone() {
            Some(home) => home,
            None => match self.home(visit, site, start).await? {
                Home::Ends(step) => return Ok(step),
                Home::Read(home, links) => {
                    rest = Rest { home: Some(home.clone()), links, next_guess: None };
                    if self.intake.politeness.key_of(&home).is_ok_and(|key| key != visit.state.host) {
                        return Ok(Step::Onward(rest));
                    }
                    home
                }
            },
        };
        if rest.next_guess.is_none() {
            match self.try_links(visit, site, &rest).await? {
                Step::None(_) => rest = Rest { next_guess: Some(0), ..rest },
                step => return Ok(step),
            }
        }
        self.guess(visit, site, &home, rest).await
    }

    /// Calls the home page: the one time in a site's discovery.
    async fn home(&self, visit: &mut Visit<'_>, site: &mut SiteSource, start: &Url) -> Result<Home, StageError> {
        let nothing = Rest { home: None, links: vec![], next_guess: None };
        let got = visit.get(start, CallKind::Home, &Validators::default()).await?;
        let reply = match &got.end {
            CallEnd::Reply(reply) => reply,
            CallEnd::Rejected(why @ (Rejection::Robots | Rejection::Blocked | Rejection::Excluded(_))) => {
                return Ok(Home::Ends(Step::Refused(failures::of_rejection(why))));
            }
            CallEnd::Rejected(why) => return Ok(Home::Ends(Step::None(failures::of_rejection(why)))),
            CallEnd::Later(until) => return Ok(Home::Ends(Step::Later { until: *until, held: false, rest: nothing })),
            CallEnd::Held(until, _) | CallEnd::Elsewhere(until) | CallEnd::Refused(until) => {
                return Ok(Home::Ends(Step::Later { until: *until, held: true, rest: nothing }));
            }
        };
        if matches!(reply.status, 404 | 410)
            && got.url.path() == "/"
            && self.intake.politeness.key_of(&got.url).is_ok_and(|key| key == visit.state.host)
        {
            // Elsewhere than at its root a missing page says nothing of the host: whoever names a wrong address must
            // not be able to silence it.
            visit.hold_not_found();
        }
        if let Some(until) = visit.url_held_until(reply, 0) {
            return Ok(Home::Ends(Step::Later { until, held: true, rest: nothing }));
        }
        if let Some(vendor) = visit.interstitial_in(reply, &got.url).await? {
            let until = visit.hold_interstitial(vendor, &got.url);
            site.failure = Some(failures::held(HoldReason::Interstitial));
            return Ok(Home::Ends(Step::Later { until, held: true, rest: nothing }));
        }
        if reply.status != 200 {
            return Ok(Home::Ends(Step::None(failures::home_answered(reply.status))));
        }
        let pool = self.intake.politeness.pool.as_ref();
        if let Ok(feed) = parse(pool, reply, &got.url).await? {
            // Somebody named a feed and not a site.
            let key = self.keep(visit, site, &got.url, (&feed, reply, &got)).await?;
            return Ok(Home::Ends(Step::Found { working: vec![key], untried: vec![] }));
        }
        let (body, media, url) = (reply.body.clone(), reply.headers.content_type.clone(), got.url.clone());
        let read = move || {
            let seen = scan_head(&decode(&body, media.as_deref()), &url, &Limits::default());
            (seen.map(|seen| seen.image), discover(&body, media.as_deref(), &url))
        };
        let (image, links) = match parsed(pool, reply.body.len(), read).await? {
            Ok(read) => read,
            Err(overrun) => return Ok(Home::Ends(Step::None(failures::unreadable(&overrun)))),
        };
        if let Ok(image) = image {
            site.image = image.map(String::from);
        }
        // Comments are no articles: their feed is taken only where there is no other one.
        let has_articles = links.iter().any(|link| !link.of_comments);
        let links = links
            .into_iter()
            .filter(|link| !has_articles || !link.of_comments)
            .filter_map(|link| address::parse(link.url.as_str(), None).ok())
            .take(self.intake.politeness.rules.feeds_per_site)
            .collect();
        Ok(Home::Read(got.url, links))
    }

    /// Validates the feeds that the home page names; the first poll and the validation are one call.
    async fn try_links(&self, visit: &mut Visit<'_>, site: &SiteSource, rest: &Rest) -> Result<Step, StageError> {
        let mut working: Vec<Working> = Vec::new();
        let mut waiting: Vec<(Timestamp, Url)> = Vec::new();
        for (n, link) in rest.links.iter().enumerate() {
            match self.validate(visit, site, link, &working).await? {
                Tried::Works(found) if working.iter().all(|known| known.key != found.key) => working.push(found),
                Tried::Works(_) | Tried::Useless => {}
                Tried::NotYet(until) => waiting.push((until, link.clone())),
                Tried::NotNow(until) => {
                    waiting.extend(rest.links[n..].iter().map(|link| (until, link.clone())));
                    break;
                }
            }
        }
        let until = waiting.iter().map(|(until, _)| *until).min();
        let untried = waiting.into_iter().map(|(_, link)| link).collect();
        let working: Vec<SourceKey> = working.into_iter().map(|found| found.key).collect();
        Ok(match (working.is_empty(), until) {
            (false, _) => Step::Found { working, untried },
            (true, None) => Step::None(failures::no_feed(NONE_WORKS)),
            // Without one feed that works the site is not done.
            (true, Some(until)) => {
                let held = visit.state.learned.hold.is_some();
                Step::Later { until, held, rest: Rest { links: untried, ..rest.clone() } }
            }
        })
    }

    async fn guess(
        &self,
        visit: &mut Visit<'_>,
        site: &SiteSource,
        home: &Url,
        rest: Rest,
    ) -> Result<Step, StageError> {
        for (n, guess) in GUESSES.iter().enumerate().skip(usize::from(rest.next_guess.unwrap_or(0))) {
            let Ok(url) = home.join(guess) else { continue };
            match self.validate(visit, site, &url, &[]).await? {
                Tried::Works(found) => return Ok(Step::Found { working: vec![found.key], untried: vec![] }),
                Tried::Useless => {}
                Tried::NotYet(until) | Tried::NotNow(until) => {
                    let held = visit.state.learned.hold.is_some();
                    let rest = Rest { next_guess: u8::try_from(n).ok(), ..rest };
                    return Ok(Step::Later { until, held, rest });
                }
            }
        }
        let why = if rest.links.is_empty() { NONE_NAMED } else { NONE_WORKS };
        Ok(Step::None(failures::no_feed(why)))
    }

    /// Fetches a candidate and keeps it if it is a feed that is not known yet.
    async fn validate(
        &self,
        visit: &mut Visit<'_>,
        site: &SiteSource,
        url: &Url,
        found: &[Working],
    ) -> Result<Tried, StageError> {
        if let Some(known) = self.known(url).await? {
            // Found by way of another site, or by this job when it ran before.
            return Ok(Tried::Works(known));
        }
        let got = visit.get(url, CallKind::Feed, &Validators::default()).await?;
        match &got.end {
            CallEnd::Reply(reply) if reply.status == 200 => {
                match parse(self.intake.politeness.pool.as_ref(), reply, &got.url).await? {
                    Ok(feed) => Ok(Tried::Works(self.validated(visit, site, (url, &got, reply), feed, found).await?)),
                    Err(why) => {
                        tracing::debug!(%url, reason = %why, "no feed");
                        Ok(Tried::Useless)
                    }
                }
            }
            // One that is refused is no feed for us; one in trouble may be.
            CallEnd::Reply(reply) if reply.status >= 500 => {
                Ok(visit.url_held_until(reply, 0).map_or(Tried::Useless, Tried::NotYet))
            }
            CallEnd::Reply(_) | CallEnd::Rejected(_) => Ok(Tried::Useless),
            CallEnd::Elsewhere(until) | CallEnd::Refused(until) => Ok(Tried::NotYet(*until)),
            CallEnd::Later(until) | CallEnd::Held(until, _) => Ok(Tried::NotNow(*until)),
        }
    }

    /// A candidate is a feed: the same as one that is known, by where it was found or by what it says, or a new one.
    async fn validated(
        &self,
        visit: &Visit<'_>,
        site: &SiteSource,
        (url, got, reply): (&Url, &Fetched, &Reply),
        feed: Feed,
        found: &[Working],
    ) -> Result<Working, StageError> {
        if got.hops > 0
            && let Some(known) = self.known(&got.url).await?
        {
            return Ok(known);
        }
        // What moved for good before anybody knew of it is kept where it is.
        let url = if got.moved_for_good { &got.url } else { url };
        let content = content_hash(&feed, self.intake.politeness.rules.entries_per_poll);
        let (key, format) = (address::source_key(url), feed.format.as_str().to_owned());
        let this = Working { key, format, content, is_telling: !feed.entries.is_empty(), read: Some(Box::new(feed)) };
        if let Some(known) = found.iter().find(|known| known.is_same_as(&this)) {
            return Ok(Working { key: known.key.clone(), ..this });
        }
        if let Some(feed) = &this.read {
            self.keep(visit, site, url, (feed, reply, got)).await?;
        }
        Ok(this)
    }

    /// The feed that is kept for this address, if it is polled.
    async fn known(&self, url: &Url) -> Result<Option<Working>, StageError> {
        let Some((Source::Feed(mut feed), _)) = self.intake.sources.get(&address::source_key(url)).await? else {
            return Ok(None);
        };
        let heir = feed.moved.as_ref().and_then(|(to, _)| Url::parse(to).ok());
        if let Some(to) = heir.filter(|_| feed.gone) {
            let Some((Source::Feed(heir), _)) = self.intake.sources.get(&address::source_key(&to)).await? else {
                return Ok(None);
            };
            feed = heir;
        }
        let is_telling = !feed.seen.is_empty();
        let content = feed.polling.trust.content;
        Ok((!feed.gone).then_some(Working { key: feed.key, format: feed.format, content, is_telling, read: None }))
    }

    /// Keeps a working feed and takes in its entries. One that was retired and works again is polled again.
    async fn keep(
        &self,
        visit: &Visit<'_>,
        site: &SiteSource,
        url: &Url,
        (parsed, reply, got): (&Feed, &Reply, &Fetched),
    ) -> Result<SourceKey, StageError> {
        let now = self.intake.politeness.clock.now();
        let before = self.intake.sources.get(&address::source_key(url)).await?;
        let (mut feed, seen) = match before {
            Some((Source::Feed(feed), seen)) => (revived(feed), Some(seen)),
            _ => (new_feed(url, Some(site)), None),
        };
        let unvisited = visit.state.is_first().then_some(&visit.state.host);
        let Taken { arrivals, visits } =
            self.intake.take(&mut feed, parsed, unvisited, Some(&trace::of_discovery(&site.key))).await?;
        self.intake.send(visits).await?;
        learn(&mut feed, parsed, (reply, got), (arrivals, false), &self.intake.politeness.rules, now);
        let key = feed.key.clone();
        let for_the_hub = self.intake.for_the_hub(&mut feed, false);
        let is_new = match seen {
            Some(seen) => self.intake.sources.swap(seen, &Source::Feed(feed)).await.map(|_| true)?,
            None => self.intake.sources.insert(&Source::Feed(feed)).await?,
        };
        if is_new {
            self.intake.send_to_hub(for_the_hub).await?;
            self.intake.politeness.events.note(&Event::FeedFound);
        }
        Ok(key)
    }

    /// Feeds that there was no time for become sources of their own and are polled as such.
    async fn leave_to_poll(
        &self,
        site: &SiteSource,
        urls: &[Url],
        at: Timestamp,
    ) -> Result<Vec<SourceKey>, StageError> {
        let mut keys = Vec::new();
        for url in urls {
            let feed = new_feed(url, Some(site));
            keys.push(feed.key.clone());
            let trace = Some(trace::of_discovery(&site.key));
            let job = Job::Poll(PollJob { trace, ..PollJob::new(feed.key.clone(), feed.url.clone()) });
            self.intake.sources.insert(&Source::Feed(feed)).await?;
            self.intake.queue.send(&[(job, at)]).await?;
        }
        Ok(keys)
    }

    async fn apply(
        &self,
        mut site: SiteSource,
        seen: Version,
        step: Step,
        job: &DiscoverJob,
    ) -> Result<Verdict, StageError> {
        let now = self.intake.politeness.clock.now();
        let rules = &self.intake.politeness.rules;
        if matches!(step, Step::Found { .. } | Step::None(_)) {
            // Before the site's row: a job that dies in between is repeated.
            Backfills { intake: self.intake.clone() }.begin_by_rule(&site.key).await?;
        }
        match step {
            Step::Found { mut working, untried } => {
                for key in self.leave_to_poll(&site, &untried, now).await? {
                    if !working.contains(&key) {
                        working.push(key);
                    }
                }
                site.state = SiteState::Working { feeds: working };
                site.failures = 0;
                site.failure = None;
            }
            Step::None(why) => {
                self.intake.politeness.events.note(&Event::Feedless);
                tracing::info!(site = %site.url, reason = %why, "no feed was found");
                site.failures = site.failures.saturating_add(1);
                site.not_before =
                    now + rules.hold_not_found.saturating_mul(1 << site.failures.min(4).saturating_sub(1));
                site.state = SiteState::Feedless { reason: why.to_string() };
                site.failure = Some(why);
            }
            Step::Refused(why) => {
                self.intake.politeness.events.note(&Event::Feedless);
                tracing::info!(site = %site.url, reason = %why, "the site must not be crawled");
                site.not_before = now + rules.hold_not_found;
                site.state = SiteState::Feedless { reason: why.to_string() };
                site.failure = Some(why);
            }
            Step::Onward(rest) => {
                self.intake.queue.send(&[(Job::Discover(rest.job(job)), now)]).await?;
                site.not_before = now;
            }
            Step::Later { until, held, rest } => {
                if held && deferral::is_given_up(job.deferrals, rules) {
                    site.state = SiteState::Feedless { reason: "the host stayed held or out of time".into() };
                    site.not_before = until;
                } else {
                    self.intake.politeness.events.note(&Event::PutOff);
                    let next = Job::Discover(rest.job(job));
                    let next = if held { next.deferred() } else { next };
                    let reason = site.failure.as_ref().map(tracing::field::display);
                    tracing::info!(site = %site.url, reason, %until, "the site is looked at later");
                    self.intake.queue.send(&[(next, until)]).await?;
                    site.not_before = until;
                }
            }
        }
        self.intake.sources.swap(seen, &Source::Site(site)).await?;
        Ok(Verdict::Done)
    }
}

/// A feed of which nothing but its address is known.
pub(crate) fn new_feed(url: &Url, site: Option<&SiteSource>) -> FeedSource {
    let key = address::source_key(url);
    FeedSource {
        site: site.map(|s| s.key.clone()),
        image: site.and_then(|s| s.image.clone()),
        ..FeedSource::new(key.clone(), address::slot(&key), url.as_str())
    }
}

impl Stage for Discover {
    const NAME: &'static str = "discover";
    type Job = DiscoverJob;

    async fn run(&self, job: &DiscoverJob) -> Result<Verdict, StageError> {
        let Some((Source::Site(mut site), seen)) = self.intake.sources.get(&job.site).await? else {
            return Ok(Verdict::Drop("the site is not known".into()));
        };
        match &site.state {
            SiteState::Waiting | SiteState::Feedless { .. } => {}
            SiteState::Working { .. } | SiteState::Refused { .. } => {
                return Ok(Verdict::Drop("the site's feeds are known".into()));
            }
            SiteState::Replaced { by } => return Ok(Verdict::Drop(format!("{by} was named in its place"))),
        }
        if self.intake.politeness.clock.now() < site.not_before {
            // Another job of this site has been here; it goes on, or the schedule does, when that time has come.
            return Ok(Verdict::Drop("the site was looked at already".into()));
        }
        let Ok(start) = address::parse(&site.url, None) else {
            return self.apply(site, seen, Step::Refused(failures::bad_address()), job).await;
        };
        let rest = Rest::of(job);
        let host = self.intake.politeness.key_of(rest.home.as_ref().unwrap_or(&start));
        let host = host.map_err(|e| StageError::Job(e.to_string()))?;
        let mut visit = match self.intake.politeness.open(&host, &format!("discover {}", site.key)).await? {
            LeaseOutcome::Granted(visit) => visit,
            LeaseOutcome::Busy(until) => return Ok(Verdict::Defer(until)),
            LeaseOutcome::Held(until, why) => {
                // What led to the hold may have been told by a call for this very site, and better.
                site.failure.get_or_insert_with(|| failures::held(why));
                let step = Step::Later { until, held: deferral::counts(why), rest };
                return self.apply(site, seen, step, job).await;
            }
            LeaseOutcome::Blocked => {
                return self.apply(site, seen, Step::Refused(failures::of_rejection(&Rejection::Blocked)), job).await;
            }
        };
        let step = self.look(&mut visit, &mut site, &start, rest.clone()).await;
        let calls = visit.state.calls;
        site.failure = visit.failure.take().or(site.failure.take());
        visit.close().await?;
        let step = match step? {
            // What began and did not come further within a visit may never do so, so it counts.
            Step::Later { until, rest: left, .. } if calls > 0 && left == rest => {
                let again = self.intake.politeness.clock.now() + deferral::least_wait(job.deferrals);
                Step::Later { until: until.max(again), held: true, rest }
            }
            other => other,
        };
        self.apply(site, seen, step, job).await
    }
}
