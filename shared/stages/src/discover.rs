//! Discover: finds the feeds of a site, once. The home page first; the usual addresses only if it names none.

use crate::intake::Intake;
use crate::manners::Opening;
use crate::poll::{parse, update};
use crate::visit::{End, Visit};
use crate::{Manners, Stage, StageError, Verdict};
use curlew_article::{Limits, decode, glance};
use curlew_feed::discover;
use curlew_model::{
    DiscoverJob, FeedSource, Job, PollJob, SiteSource, SiteState, Source, SourceKey, Timestamp, Validators,
};
use curlew_policy::address;
use curlew_policy::admission;
use curlew_ports::{CallKind, Event, Pages, Queue, Reply, Sources, Version};
use std::sync::Arc;
use url::Url;

/// Where feeds usually are, tried in this order if the home page names none.
const GUESSES: [&str; 5] = ["/feed", "/feed/atom", "/rss", "/?feed=rss", "/rss.xml"];

/// The stage that finds feeds.
pub struct Discover {
    intake: Intake,
    sources: Arc<dyn Sources>,
}

/// How far looking at the home page or guessing has come.
enum Step {
    /// These feeds work; the rest could not be tried yet and are left to be polled.
    Found { working: Vec<SourceKey>, untried: Vec<Url> },
    /// There is none.
    None(String),
    /// The site must not be crawled.
    Refused(String),
    /// Not now; when it is, go on with this guess (or with the home page).
    Later { until: Timestamp, held: bool, next_guess: Option<u8> },
}

impl Discover {
    /// Over these ports.
    pub fn new(
        manners: Arc<Manners>,
        sources: Arc<dyn Sources>,
        pages: Arc<dyn Pages>,
        queue: Arc<dyn Queue>,
    ) -> Discover {
        Discover { intake: Intake { manners, pages, queue }, sources }
    }

    fn manners(&self) -> &Manners {
        &self.intake.manners
    }

    async fn look(&self, visit: &mut Visit<'_>, site: &mut SiteSource, job: &DiscoverJob) -> Result<Step, StageError> {
        let Ok(start) = address::parse(&site.url, None) else {
            return Ok(Step::Refused("the start address is not valid".into()));
        };
        if let Some(first) = job.next_guess {
            return self.guess(visit, site, &start, first).await;
        }
        let got = visit.get(&start, CallKind::Home, &Validators::default()).await?;
        let reply = match got.end {
            End::Reply(reply) => reply,
            End::Rejected(why @ (curlew_model::Rejection::Robots | curlew_model::Rejection::Blocked)) => {
                return Ok(Step::Refused(why.to_string()));
            }
            End::Rejected(why) => return Ok(Step::None(why.to_string())),
            End::Later(until) => return Ok(Step::Later { until, held: false, next_guess: None }),
            End::Held(until, _) | End::Elsewhere(until) => {
                return Ok(Step::Later { until, held: true, next_guess: None });
            }
        };
        if matches!(reply.status, 404 | 410) && got.url.path() == "/" {
            // Elsewhere than at its root a missing page says nothing of the host: whoever names a wrong address must
            // not be able to silence it.
            visit.hold_not_found();
        }
        if reply.status != 200 {
            return Ok(Step::None(format!("the home page answered {}", reply.status)));
        }
        if let Ok(feed) = parse(&reply, &got.url) {
            // Somebody named a feed and not a site.
            let key = self.keep(site, &got.url, &feed, &reply).await?;
            return Ok(Step::Found { working: vec![key], untried: vec![] });
        }
        let content_type = reply.headers.content_type.as_deref();
        let html = decode(&reply.body, content_type);
        if let Ok(seen) = glance(&html, &got.url, &Limits::default()) {
            site.image = seen.image.map(String::from);
        }
        let links: Vec<Url> = discover(&reply.body, content_type, &got.url)
            .into_iter()
            .filter_map(|link| address::parse(link.url.as_str(), None).ok())
            .take(self.manners().rules.feeds_per_site)
            .collect();
        match self.try_links(visit, site, links).await? {
            Step::None(_) => self.guess(visit, site, &got.url, 0).await,
            found => Ok(found),
        }
    }

    /// Validates the feeds that the home page names; the first poll and the validation are one call.
    async fn try_links(&self, visit: &mut Visit<'_>, site: &SiteSource, links: Vec<Url>) -> Result<Step, StageError> {
        let mut working = Vec::new();
        for (n, link) in links.iter().enumerate() {
            match self.validate(visit, site, link).await? {
                Ok(Some(key)) => working.push(key),
                Ok(None) => {}
                // Without one feed that works the site is not done: when there is time, it begins anew.
                Err(until) if working.is_empty() => {
                    return Ok(Step::Later { until, held: false, next_guess: None });
                }
                Err(_) => return Ok(Step::Found { working, untried: links[n..].to_vec() }),
            }
        }
        if working.is_empty() {
            return Ok(Step::None("none of the feeds that the home page names works".into()));
        }
        Ok(Step::Found { working, untried: vec![] })
    }

    async fn guess(&self, visit: &mut Visit<'_>, site: &SiteSource, home: &Url, first: u8) -> Result<Step, StageError> {
        for (n, guess) in GUESSES.iter().enumerate().skip(usize::from(first)) {
            let Ok(url) = home.join(guess) else { continue };
            match self.validate(visit, site, &url).await? {
                Ok(Some(key)) => return Ok(Step::Found { working: vec![key], untried: vec![] }),
                Ok(None) => {}
                Err(until) => {
                    let held = visit.state.hold.is_some();
                    return Ok(Step::Later { until, held, next_guess: u8::try_from(n).ok() });
                }
            }
        }
        Ok(Step::None("no feed is named on the home page or found at the usual addresses".into()))
    }

    /// Fetches a candidate and keeps it if it is a feed; the error is the instant to go on at.
    async fn validate(
        &self,
        visit: &mut Visit<'_>,
        site: &SiteSource,
        url: &Url,
    ) -> Result<Result<Option<SourceKey>, Timestamp>, StageError> {
        if self.sources.get(&address::source_key(url)).await?.is_some() {
            // Found by way of another site, or by this job when it ran before.
            return Ok(Ok(Some(address::source_key(url))));
        }
        let got = visit.get(url, CallKind::Feed, &Validators::default()).await?;
        match got.end {
            End::Reply(reply) if reply.status == 200 => match parse(&reply, &got.url) {
                Ok(feed) => Ok(Ok(Some(self.keep(site, url, &feed, &reply).await?))),
                Err(why) => {
                    tracing::debug!(%url, reason = %why, "no feed");
                    Ok(Ok(None))
                }
            },
            End::Reply(_) | End::Rejected(_) => Ok(Ok(None)),
            End::Later(until) | End::Elsewhere(until) | End::Held(until, _) => Ok(Err(until)),
        }
    }

    /// Keeps a working feed and takes in its entries.
    async fn keep(
        &self,
        site: &SiteSource,
        url: &Url,
        parsed: &curlew_feed::Feed,
        reply: &Reply,
    ) -> Result<SourceKey, StageError> {
        let now = self.manners().clock.now();
        let mut feed = new_feed(url, Some(site));
        self.intake.take(&mut feed, parsed).await?;
        update(&mut feed, parsed, reply, &self.manners().rules, now);
        let key = feed.key.clone();
        if self.sources.insert(&Source::Feed(feed)).await? {
            self.manners().events.note(&Event::FeedFound);
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
            let job = Job::Poll(PollJob { feed: feed.key.clone(), url: feed.url.clone(), deferrals: 0 });
            self.sources.insert(&Source::Feed(feed)).await?;
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
        let now = self.manners().clock.now();
        let rules = &self.manners().rules;
        match step {
            Step::Found { mut working, untried } => {
                working.extend(self.leave_to_poll(&site, &untried, now).await?);
                working.dedup();
                site.state = SiteState::Working { feeds: working };
                site.failures = 0;
            }
            Step::None(reason) => {
                self.manners().events.note(&Event::Feedless);
                tracing::info!(site = %site.url, reason = %reason, "no feed was found");
                site.failures = site.failures.saturating_add(1);
                site.not_before =
                    now + rules.hold_not_found.saturating_mul(1 << site.failures.min(4).saturating_sub(1));
                site.state = SiteState::Feedless { reason };
            }
            Step::Refused(reason) => {
                self.manners().events.note(&Event::Feedless);
                site.not_before = now + rules.hold_not_found;
                site.state = SiteState::Feedless { reason };
            }
            Step::Later { until, held, next_guess } => {
                if held && admission::given_up(job.deferrals, rules) {
                    site.state = SiteState::Feedless { reason: "the host stayed held or out of time".into() };
                    site.not_before = until;
                } else {
                    self.manners().events.note(&Event::PutOff);
                    let next = Job::Discover(DiscoverJob { next_guess, ..job.clone() });
                    let next = if held { next.deferred() } else { next };
                    self.intake.queue.send(&[(next, until)]).await?;
                    site.not_before = until;
                }
            }
        }
        self.sources.swap(seen, &Source::Site(site)).await?;
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
        let Some((Source::Site(mut site), seen)) = self.sources.get(&job.site).await? else {
            return Ok(Verdict::Drop("the site is not known".into()));
        };
        if matches!(site.state, SiteState::Working { .. } | SiteState::Refused { .. }) {
            return Ok(Verdict::Drop("the site's feeds are known".into()));
        }
        if self.manners().clock.now() < site.not_before {
            // Another job of this site has been here; it goes on, or the schedule does, when that time has come.
            return Ok(Verdict::Drop("the site was looked at already".into()));
        }
        let Ok(url) = address::parse(&site.url, None) else {
            return self.apply(site, seen, Step::Refused("the start address is not valid".into()), job).await;
        };
        let host = self.manners().key_of(&url).map_err(|e| StageError::Job(e.to_string()))?;
        let mut visit = match self.manners().open(&host, &format!("discover {}", site.key)).await? {
            Opening::Open(visit) => visit,
            Opening::Busy(until) => return Ok(Verdict::Defer(until)),
            Opening::Held(until, why) => {
                let step = Step::Later { until, held: admission::counts(why), next_guess: job.next_guess };
                return self.apply(site, seen, step, job).await;
            }
            Opening::Blocked => return self.apply(site, seen, Step::Refused("the host is blocked".into()), job).await,
        };
        let step = self.look(&mut visit, &mut site, job).await;
        let calls = visit.calls;
        visit.close().await?;
        let step = match step? {
            // What began and did not come further within a visit may never do so, so it counts.
            Step::Later { until, next_guess, .. } if calls > 0 && next_guess == job.next_guess => {
                let again = self.manners().clock.now() + self.manners().rules.again_after(job.deferrals);
                Step::Later { until: until.max(again), held: true, next_guess }
            }
            other => other,
        };
        self.apply(site, seen, step, job).await
    }
}
