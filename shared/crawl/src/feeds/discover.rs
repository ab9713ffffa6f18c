//! Discover: finds the feeds of a site: those that the home page names, or else one at the usual addresses. If the home
//! page has moved to another host key, its feeds are searched under that key's lease. The home page is called once,
//! however often the job is put off: the job stores the feeds that it names.

mod feed_search;

use crate::feeds::backfill::Backfills;
use crate::feeds::first_pages::FirstPages;
use crate::feeds::intake::Intake;
use crate::pages::fetch::Fetch;
use crate::politeness::failures;
use crate::politeness::visit::LeaseOutcome;
use curlew_model::{
    DiscoverJob, Envelope, Failure, FailureCause, FeedSource, Job, Millis, PollJob, Rejection, SiteSource, SiteState,
    Source,
};
use curlew_policy::politeness::admission::NotNow;
use curlew_policy::politeness::deferral;
use curlew_policy::skew::unless_ahead;
use curlew_policy::{address, trace};
use curlew_ports::stage::{Result, StageError, Verdict, with_causes};
use curlew_ports::{Event, Version};
use feed_search::{FeedSearch, Rest, Step};
use std::sync::Arc;
use url::Url;

/// The stage that finds feeds.
pub struct Discover {
    /// Processes the entries of feeds.
    pub intake: Arc<Intake>,
    /// Fetches the first new pages at once; without it, all are sent as visits.
    pub fetch: Option<Arc<Fetch>>,
}

impl Discover {
    /// Runs the job, which may have run before.
    pub async fn run(&self, job: &Envelope<DiscoverJob>) -> Result<Verdict> {
        let Some((Source::Site(mut site), seen)) = self.intake.sources.get(&job.work.site).await? else {
            return Ok(Verdict::Drop("the site is not known".into()));
        };
        match &site.state {
            SiteState::Waiting | SiteState::Feedless { .. } => {}
            SiteState::Working { .. } | SiteState::Refused { .. } => {
                return Ok(Verdict::Drop("the site's feeds are known".into()));
            }
            SiteState::Replaced { by } => return Ok(Verdict::Drop(format!("{by} was named in its place"))),
        }
        let now = self.intake.politeness.clock.now();
        site.not_before = unless_ahead(site.not_before, &self.intake.politeness.rules, now);
        if now < site.not_before {
            // Another job of this site has run; that job or the schedule continues when the time has come.
            return Ok(Verdict::Drop("the site was looked at already".into()));
        }
        let Ok(start) = address::parse(&site.url, None) else {
            let why = Failure::new(FailureCause::Address, "the start address is not valid");
            return self.apply(site, seen, Step::Refused(why), job).await;
        };
        let rest = Rest::new(&job.work);
        let host = self.intake.politeness.key_of(rest.home.as_ref().unwrap_or(&start));
        let host = host.map_err(|e| StageError::Job(e.to_string()))?;
        let mut visit = match self.intake.politeness.open(&host, &format!("discover {}", site.key)).await? {
            LeaseOutcome::Granted(visit) => visit,
            LeaseOutcome::NotNow(NotNow { until, why: None }) => return Ok(Verdict::Defer(until)),
            LeaseOutcome::NotNow(NotNow { until, why: Some(why) }) => {
                // If a call for this site has led to the hold, its failure says more.
                site.failure.get_or_insert_with(|| failures::held(why));
                let step = Step::Later { until, held: deferral::counts(why), rest };
                return self.apply(site, seen, step, job).await;
            }
            LeaseOutcome::Blocked => {
                return self.apply(site, seen, Step::Refused(failures::of_rejection(&Rejection::Blocked)), job).await;
            }
        };
        let (step, mut found) = FeedSearch::new(&self.intake, &mut visit, &mut site).run(&start, rest.clone()).await;
        let calls = visit.state.calls;
        site.failure = visit.failure.take().or(site.failure.take());
        let visits = found.iter_mut().flat_map(|found| std::mem::take(&mut found.visits)).collect();
        let fetch = self.fetch.as_deref().filter(|_| !job.is_again && step.is_ok());
        let pages = FirstPages::fetched(fetch, &mut visit, visits).await;
        // The lease is given back first, since the visits that are sent need it.
        visit.give_back().await;
        // Feeds that were found before an error are kept, so that the next run need not call them again.
        let kept = async {
            pages.send(fetch, &self.intake).await?;
            for feed in found {
                feed.write(&self.intake).await?;
            }
            Ok(())
        };
        let kept = kept.await;
        if let (Err(_), Err(error)) = (&step, &kept) {
            let error = with_causes(error);
            tracing::warn!(error, site = %site.url, "what a discovery had found before it failed could not be kept");
        }
        let step = match step.and_then(|step| kept.map(|()| step))? {
            // A search that makes calls without progress may never end, so the deferral counts.
            Step::Later { until, rest: left, .. } if calls > 0 && left == rest => {
                let again = self.intake.politeness.clock.now() + deferral::least_wait(job.deferrals);
                Step::Later { until: until.max(again), held: true, rest }
            }
            other => other,
        };
        self.apply(site, seen, step, job).await
    }

    async fn apply(
        &self,
        mut site: SiteSource,
        seen: Version,
        step: Step,
        job: &Envelope<DiscoverJob>,
    ) -> Result<Verdict> {
        let now = self.intake.politeness.clock.now();
        let rules = &self.intake.politeness.rules;
        // The backfill begins before the site's row is written, so that a job that dies in between is repeated.
        let backfills = Backfills { intake: self.intake.clone() };
        match &step {
            Step::None(why) if why.cause == FailureCause::NoFeed => backfills.read_sitemaps(&site.key).await?,
            Step::Found { .. } | Step::None(_) => backfills.begin_by_rule(&site.key).await?,
            _ => {}
        }
        let feedless = |site: &mut SiteSource, why: Failure, wait: Millis| {
            self.intake.politeness.events.note(&Event::Feedless);
            site.not_before = now + wait;
            site.state = SiteState::Feedless { reason: why.to_string() };
            site.failure = Some(why);
        };
        match step {
            Step::Found { mut working, untried } => {
                // Untried feeds get rows of their own and are polled.
                for url in &untried {
                    let feed = new_feed(url, Some(&site));
                    let key = feed.key.clone();
                    let poll = PollJob::new(key.clone(), feed.url.clone());
                    let job = Job::new(poll).traced(Some(trace::of_discovery(&site.key)));
                    self.intake.sources.insert(&Source::Feed(feed)).await?;
                    self.intake.queue.send(&[(job, now)]).await?;
                    if !working.contains(&key) {
                        working.push(key);
                    }
                }
                site.state = SiteState::Working { feeds: working };
                site.failures = 0;
                site.failure = None;
            }
            Step::None(why) => {
                tracing::info!(site = %site.url, reason = %why, "no feed was found");
                site.failures = site.failures.saturating_add(1);
                let longer = 1 << site.failures.min(4).saturating_sub(1);
                feedless(&mut site, why, rules.hold_not_found.saturating_mul(longer));
            }
            Step::Refused(why) => {
                tracing::info!(site = %site.url, reason = %why, "the site must not be crawled");
                feedless(&mut site, why, rules.hold_not_found);
            }
            Step::Onward(rest) => {
                self.intake.queue.send(&[(job.with(rest.job(&job.work)).into_job(), now)]).await?;
                site.not_before = now;
            }
            Step::Later { until, held, rest } => {
                if held && deferral::is_given_up(job.deferrals, rules) {
                    site.state = SiteState::Feedless { reason: "the host stayed held or out of time".into() };
                    site.not_before = until;
                } else {
                    self.intake.politeness.events.note(&Event::PutOff);
                    let next = job.with(rest.job(&job.work));
                    let next = if held { next.deferred() } else { next };
                    let reason = site.failure.as_ref().map(tracing::field::display);
                    tracing::info!(site = %site.url, reason, %until, "the site is looked at later");
                    self.intake.queue.send(&[(next.into_job(), until)]).await?;
                    site.not_before = until;
                }
            }
        }
        self.intake.sources.swap(seen, &Source::Site(site)).await?;
        Ok(Verdict::Done)
    }
}

/// Returns the row of a feed of which only the address is known.
pub fn new_feed(url: &Url, site: Option<&SiteSource>) -> FeedSource {
    let key = address::source_key(url);
    FeedSource {
        site: site.map(|s| s.key.clone()),
        image: site.and_then(|s| s.image.clone()),
        ..FeedSource::new(key.clone(), address::slot(&key), url.as_str())
    }
}
