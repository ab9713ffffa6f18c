//! Jobs that carry out owners' requests. Searches for proofs use the `discover` queue; all other jobs use the `remove`
//! queue, whose stage reads nothing from sites.
//!
//! A request that needs all rows of pages and sources runs in steps. A step is a job with the counts so far; it sends
//! the next step at its end, and the last step writes the report. A step delivered twice starts a second series with
//! the same counts, since already erased pages count too; when one series is done, the other ends.

use crate::erasure::{Erasure, StepLimits, is_indexed_on};
use crate::ownership::{Owners, change_claims, load_claims, settle_claims};
use crate::suggest::{Suggest, SuggestError};
use curlew_article::{decode, head_metas};
use curlew_catalog::hidden::is_on;
use curlew_catalog::listing::{choose_from, pages_from, sources_from};
use curlew_catalog::removal::Removal;
use curlew_crawl::bulk::Bulk;
use curlew_crawl::feeds::backfill::Backfills;
use curlew_crawl::feeds::relocation::revived;
use curlew_crawl::pages::sample::Sample;
use curlew_crawl::parsing::parsed;
use curlew_crawl::politeness::visit::{CallEnd, LeaseOutcome, Visit};
use curlew_model::{
    Challenge, Envelope, FeedLine, FeedSource, HostReport, Job, LookResult, Miss, OwnJob, OwnProgress, OwnerRequest,
    Ownership, Page, PageLine, PageState, PollJob, Rejection, ReportedState, Source, SourceKey, Timestamp, Validators,
    Way,
};
use curlew_policy::politeness::admission::NotNow;
use curlew_policy::politeness::redirect::{Chain, is_redirect};
use curlew_policy::polling::backfill::line;
use curlew_policy::polling::schedule::{may_poll_from, next_poll};
use curlew_policy::site::ownership::{self, META};
use curlew_policy::trace;
use curlew_ports::stage::{Result, StageError, Verdict};
use curlew_ports::{CallKind, Names, swapped};
use std::sync::Arc;

/// Maximum number of pages that a report lists; further pages are only counted.
const PAGES_NAMED: usize = 200;
const FEEDS_NAMED: usize = 50;
/// Maximum number of waits for another worker's visit before the host counts as held.
const MAX_WAITS: u8 = 20;

/// The stage that carries out owners' requests.
pub struct Own {
    /// Accepts the requests. Its stores, queue and limits of a step are also those of the jobs.
    pub owners: Owners,
    /// Looks up TXT records.
    pub(crate) names: Arc<dyn Names>,
    /// Stores sites that have no known feed; reads the rows of feeds and sites.
    pub(crate) suggest: Suggest,
    pub(crate) removal: Removal,
    pub(crate) backfills: Backfills,
    /// Sends re-checks.
    pub(crate) sample: Sample,
}

impl Own {
    /// Runs a job of an owner's request; the job may run more than once.
    pub async fn run(&self, job: &Envelope<OwnJob>) -> Result<Verdict> {
        let (waits, job) = (job.waits, &job.work);
        let (host, request, now) = (job.host.as_str(), job.request, self.owners.politeness.clock.now());
        let all = load_claims(self.owners.politeness.blobs.as_ref(), host).await?;
        let Some(claim) = ownership::claim(&all, &job.challenge) else {
            return Ok(Verdict::Drop("the claim is not known".into()));
        };
        if job.needs_look() {
            return self.look(job, waits).await;
        }
        let is_look = request == OwnerRequest::Look;
        // The proof may have expired since the request was granted, or since the previous step.
        if (!is_look || job.progress.is_some()) && ownership::proven_until(claim, now).is_none() {
            return Ok(Verdict::Drop("the claim is not proven any more".into()));
        }
        let mut progress = match &job.progress {
            Some(progress) if !is_look && ownership::is_done(claim, request, progress.asked) => {
                return Ok(Verdict::Drop("a step was delivered twice, and the request is done".into()));
            }
            Some(progress) => progress.clone(),
            None => OwnProgress { asked: claim.asked.get(&request).copied().unwrap_or(now), ..OwnProgress::default() },
        };
        self.step(job, &all, &mut progress).await?;
        if progress.is_under_way() {
            self.owners.queue.send(&[(Job::new(OwnJob { progress: Some(progress), ..job.clone() }), now)]).await?;
            tracing::info!(%host, ?request, "a step of an owner's request is done");
            return Ok(Verdict::Done);
        }
        if !is_look {
            let done = |all| (ownership::done(all, &job.challenge, request, progress.asked, now), ());
            change_claims(self.owners.politeness.blobs.as_ref(), host, done).await?;
            tracing::info!(%host, ?request, "an owner's request is done");
        }
        Ok(Verdict::Done)
    }

    /// Carries out one step of a request. It is the last step if `progress` names no row to continue after.
    async fn step(&self, job: &OwnJob, all: &Ownership, progress: &mut OwnProgress) -> Result<()> {
        let (host, is_first) = (job.host.as_str(), job.progress.is_none());
        match job.request {
            OwnerRequest::Look => {
                let Some(look) = &job.looked else { return Ok(()) };
                if is_first {
                    let looked = |all| (ownership::looked(all, &job.challenge, look.clone()), ());
                    change_claims(self.owners.politeness.blobs.as_ref(), host, looked).await?;
                    tracing::info!(%host, found = ?look.found, "a proof was looked for");
                }
                if look.found.is_some() {
                    self.report(host, progress).await?;
                }
            }
            OwnerRequest::Report => self.report(host, progress).await?,
            OwnerRequest::Block | OwnerRequest::Unblock => self.settle(host).await?,
            OwnerRequest::Visit => {
                if is_first || progress.after_source.is_some() {
                    self.poll_feeds(host, progress).await?;
                }
                if progress.after_source.is_none() {
                    self.recheck(host, progress).await?;
                }
            }
            OwnerRequest::HistoryOff | OwnerRequest::HistoryOn => {
                let off = ownership::is_history_off(all);
                self.owners.blocks.turn_history(host, off).await?;
            }
            OwnerRequest::Forget => {
                if is_first {
                    self.settle(host).await?;
                }
                // If the owner has taken the request back, later pages are kept from this step on.
                let until = if ownership::is_to_be_blocked(all) { Timestamp::MAX } else { progress.asked };
                self.forget(host, until, progress).await?;
            }
        }
        Ok(())
    }

    /// Searches for the challenge, and sends the result in another job: a job that reads a site writes no claim.
    async fn look(&self, job: &OwnJob, waits: u8) -> Result<Verdict> {
        let mut look = LookResult { at: Timestamp::MIN, found: None, misses: vec![] };
        note(&mut look, Way::Dns, self.in_dns(&job.host, &job.challenge).await);
        if look.found.is_none()
            && !job.dns_only
            && let Some(until) = self.by_calls(job, waits, &mut look).await?
        {
            return Ok(Verdict::Defer(until));
        }
        look.at = self.owners.politeness.clock.now();
        let due = look.at;
        self.owners.queue.send(&[(Job::new(OwnJob { looked: Some(look), ..job.clone() }), due)]).await?;
        Ok(Verdict::Done)
    }

    async fn in_dns(&self, host: &str, challenge: &Challenge) -> Result<(), Miss> {
        match self.names.texts(&ownership::txt_name(host)).await {
            Ok(records) => ownership::in_records(&records, challenge),
            Err(error) => {
                tracing::info!(%host, %error, "a TXT record could not be looked up");
                Err(Miss::Unreachable)
            }
        }
    }

    /// Searches the file, then the home page. Returns the time of the next attempt if another worker holds the lease.
    async fn by_calls(&self, job: &OwnJob, waits: u8, look: &mut LookResult) -> Result<Option<Timestamp>> {
        let mut missed = |miss| look.misses.extend([(Way::File, miss), (Way::Meta, miss)]);
        let Some(home) = ownership::home_url(&job.host, self.owners.scheme) else {
            missed(Miss::Unreachable);
            return Ok(None);
        };
        let key = self.owners.politeness.key_of(&home).map_err(|e| StageError::Job(e.to_string()))?;
        match self.owners.politeness.open(&key, &format!("own {}", job.host)).await? {
            LeaseOutcome::Granted(mut visit) => {
                let done = self.two_calls(&mut visit, job, look).await;
                visit.close().await?;
                done?;
            }
            LeaseOutcome::NotNow(NotNow { until, why: None }) if waits < MAX_WAITS => return Ok(Some(until)),
            LeaseOutcome::NotNow(_) => missed(Miss::Held),
            LeaseOutcome::Blocked => missed(Miss::Blocked),
        }
        Ok(None)
    }

    async fn two_calls(&self, visit: &mut Visit, job: &OwnJob, look: &mut LookResult) -> Result<()> {
        let (host, challenge) = (job.host.as_str(), &job.challenge);
        let file = match ownership::file_url(host, self.owners.scheme) {
            // Redirects are not followed: somebody who can redirect visitors does not necessarily own the site.
            Some(file) => answered(visit.hop(&file, CallKind::Proof, &Validators::default(), None).await?)
                .and_then(|reply| ownership::in_file(reply.status, &reply.body, challenge)),
            None => Err(Miss::Unreachable),
        };
        note(look, Way::File, file);
        if look.found.is_none() {
            note(look, Way::Meta, self.on_home_page(visit, host, challenge).await?);
        }
        Ok(())
    }

    /// Searches the home page. Follows redirects only within the same host and scheme.
    async fn on_home_page(&self, visit: &mut Visit, host: &str, challenge: &Challenge) -> Result<Result<(), Miss>> {
        let Some(home) = ownership::home_url(host, self.owners.scheme) else { return Ok(Err(Miss::Unreachable)) };
        let mut chain = Chain::new(home, self.owners.politeness.rules.page_redirects);
        loop {
            let here = chain.current().clone();
            let reply = match answered(visit.hop(&here, CallKind::Home, &Validators::default(), None).await?) {
                Ok(reply) => reply,
                Err(miss) => return Ok(Err(miss)),
            };
            if is_redirect(reply.status) {
                match chain.follow(reply.status, reply.headers.location.as_deref()) {
                    Ok(next) if next.host_str() == Some(host) && next.scheme() == self.owners.scheme => continue,
                    _ => return Ok(Err(Miss::Redirect)),
                }
            }
            return Ok(match reply.status {
                200 => {
                    let (body, media) = (reply.body.clone(), reply.headers.content_type.clone());
                    let read = move || head_metas(&decode(&body, media.as_deref()), META);
                    match parsed(self.owners.politeness.pool.as_ref(), reply.body.len(), read).await? {
                        Ok(tags) => ownership::in_tags(&tags, challenge),
                        Err(_) => Err(Miss::Unreachable),
                    }
                }
                404 | 410 => Err(Miss::Absent),
                _ => Err(Miss::Unreachable),
            });
        }
    }

    /// Adds the next rows of pages, and then of sources, to a report, and writes the report after the last row.
    async fn report(&self, host: &str, progress: &mut OwnProgress) -> Result<()> {
        let OwnProgress { asked, after, after_source, counts, pages, feeds, history } = progress;
        if after_source.is_none() {
            *after =
                pages_from(self.owners.blocks.pages.as_ref(), after.take(), self.owners.blocks.limits.rows, |page| {
                    if is_on(&page.url, host)
                        && let Some(line) = line_of(page)
                    {
                        *counts.entry(line.state).or_default() += 1;
                        pages.push(line);
                        if pages.len() >= 2 * PAGES_NAMED {
                            newest(pages);
                        }
                    }
                    true
                })
                .await?;
            newest(pages);
        }
        if after.is_some() {
            return Ok(());
        }
        let (now, rules) = (self.owners.politeness.clock.now(), &self.owners.politeness.rules);
        for row in self.next_sources(host, after_source).await? {
            match row {
                Source::Feed(feed) if feeds.len() < FEEDS_NAMED => feeds.push(self.feed_line(&feed)),
                Source::Backfill(row) if history.len() < FEEDS_NAMED => history.push(line(&row, rules)),
                _ => {}
            }
        }
        if after_source.is_some() {
            return Ok(());
        }
        let report = HostReport {
            at: now,
            feeds: std::mem::take(feeds),
            history: std::mem::take(history),
            counts: std::mem::take(counts),
            pages: std::mem::take(pages),
        };
        change_claims(self.owners.politeness.blobs.as_ref(), host, |mut all| {
            // A report written since the request is newer than the rows that the first steps have read.
            if all.report.as_ref().is_none_or(|last| last.at <= *asked) {
                all.report = Some(report.clone());
            }
            (all, ())
        })
        .await
    }

    fn feed_line(&self, feed: &FeedSource) -> FeedLine {
        let polled_at = Some(feed.polled_at).filter(|at| *at > Timestamp::MIN);
        let next =
            next_poll(feed, &self.owners.politeness.rules, self.owners.politeness.clock.now()).filter(|_| !feed.gone);
        FeedLine { url: feed.url.clone(), polled_at, next }
    }

    /// Sends polls of the host's feeds among the next rows, also of retired ones. Suggests a host without feeds again.
    async fn poll_feeds(&self, host: &str, progress: &mut OwnProgress) -> Result<()> {
        let now = self.owners.politeness.clock.now();
        let mut polls = Bulk::new(self.owners.queue.as_ref());
        for row in self.next_sources(host, &mut progress.after_source).await? {
            let Source::Feed(feed) = row else { continue };
            let feed = self.revive(feed).await?;
            // A single entry lets later steps know that the host has a feed.
            progress.feeds = vec![self.feed_line(&feed)];
            let at = may_poll_from(&feed, &self.owners.politeness.rules, now).max(now);
            let trace = Some(trace::begin("poll", feed.key.as_str(), now));
            let job = Job::new(PollJob::new(feed.key.clone(), feed.url.clone())).traced(trace);
            polls.push(job, at).await?;
        }
        polls.send().await?;
        if progress.feeds.is_empty()
            && progress.after_source.is_none()
            && let Err(SuggestError::Stage(error)) =
                self.suggest.site(&format!("{}://{host}/", self.owners.scheme), true).await
        {
            return Err(error);
        }
        Ok(())
    }

    /// Sends visits that re-check the host's pages among the next rows, due as soon as politeness allows it.
    async fn recheck(&self, host: &str, progress: &mut OwnProgress) -> Result<()> {
        let (after, StepLimits { rows, pages, .. }) = (progress.after.take(), self.owners.blocks.limits);
        let choose = |page: Page| Some(page).filter(|page| is_indexed_on(host, page));
        let (chosen, next) = choose_from(self.owners.blocks.pages.as_ref(), after, rows, pages, choose).await?;
        progress.after = next;
        self.sample.send(&chosen).await
    }

    /// Takes a listed feed up again if it is retired, and returns its row. A list may be older than the rows.
    async fn revive(&self, listed: FeedSource) -> Result<FeedSource> {
        let is_retired = |feed: &FeedSource| feed.gone && feed.moved.is_none();
        if !is_retired(&listed) {
            return Ok(listed);
        }
        let Some((Source::Feed(feed), seen)) = self.suggest.sources.get(&listed.key).await? else { return Ok(listed) };
        if !is_retired(&feed) {
            return Ok(feed);
        }
        let next = revived(feed.clone());
        let is_written = swapped(self.suggest.sources.swap(seen, &Source::Feed(next.clone())).await)?;
        // If another writer was first, its row counts. A poll is dropped if that row is still retired.
        Ok(if is_written { next } else { feed })
    }

    async fn settle(&self, host: &str) -> Result<()> {
        settle_claims(self.owners.politeness.blobs.as_ref(), &self.owners.blocks, host).await
    }

    /// Removes a host's data up to an instant, except for the addresses of pages: first its pages, then the rest.
    async fn forget(&self, host: &str, until: Timestamp, progress: &mut OwnProgress) -> Result<()> {
        if progress.after_source.is_none() {
            let (pages, blobs) = (self.owners.blocks.pages.as_ref(), self.owners.politeness.blobs.as_ref());
            let erasure = Erasure { pages, blobs, removal: &self.removal, limits: self.owners.blocks.limits };
            let (erased, next) = erasure.of_host(host, progress.asked, until, progress.after.take()).await?;
            *progress.counts.entry(ReportedState::Gone).or_default() += erased;
            progress.after = next;
        }
        if progress.after.is_some() {
            return Ok(());
        }
        for row in self.next_sources(host, &mut progress.after_source).await? {
            match row {
                Source::Feed(feed) if feed.polled_at <= until => self.retire(&feed.key).await?,
                Source::Backfill(row) => self.backfills.erase(&row.key, "its owner had it removed").await?,
                _ => {}
            }
        }
        if progress.after_source.is_some() {
            return Ok(());
        }
        let counts = std::mem::take(&mut progress.counts);
        let left = HostReport { at: self.owners.politeness.clock.now(), counts, ..HostReport::default() };
        let blobs = self.owners.politeness.blobs.as_ref();
        change_claims(blobs, host, |all| (Ownership { report: Some(left.clone()), ..all }, ())).await
    }

    async fn retire(&self, key: &SourceKey) -> Result<()> {
        let Some((Source::Feed(feed), seen)) = self.suggest.sources.get(key).await? else { return Ok(()) };
        let forgotten = FeedSource {
            gone: true,
            trouble: Some("its owner had it removed".to_owned()),
            title: None,
            description: None,
            image: None,
            validators: Validators::default(),
            seen: vec![],
            ..feed
        };
        self.suggest.sources.swap(seen, &Source::Feed(forgotten)).await?;
        Ok(())
    }

    /// Returns a host's rows among the next rows of sources, and advances `after`.
    async fn next_sources(&self, host: &str, after: &mut Option<SourceKey>) -> Result<Vec<Source>> {
        let mut ours = vec![];
        let take = |row: Source| ours.extend(Some(row).filter(|row| is_on(row.url(), host)));
        *after =
            sources_from(self.suggest.sources.as_ref(), after.take(), self.owners.blocks.limits.sources, take).await?;
        Ok(ours)
    }
}

fn note(look: &mut LookResult, way: Way, outcome: Result<(), Miss>) {
    match outcome {
        Ok(()) => look.found = Some(way),
        Err(miss) => look.misses.push((way, miss)),
    }
}

fn answered(end: CallEnd) -> Result<Box<curlew_ports::Reply>, Miss> {
    match end {
        CallEnd::Reply(reply) => Ok(reply),
        CallEnd::Rejected(Rejection::Robots | Rejection::RobotsDoubted) => Err(Miss::Robots),
        CallEnd::Rejected(Rejection::Blocked) => Err(Miss::Blocked),
        CallEnd::Rejected(_) => Err(Miss::Unreachable),
        CallEnd::Later(_) | CallEnd::Elsewhere(_) | CallEnd::Refused(_) | CallEnd::Held(..) => Err(Miss::Held),
    }
}

fn newest(pages: &mut Vec<PageLine>) {
    pages.sort_by(|a, b| b.at.cmp(&a.at).then_with(|| a.url.cmp(&b.url)));
    pages.truncate(PAGES_NAMED);
}

/// Returns a page's line in the report; `None` for an alias.
fn line_of(page: Page) -> Option<PageLine> {
    let (state, reason) = match &page.state {
        PageState::Pending => (ReportedState::Pending, None),
        PageState::Accepted { .. } => (ReportedState::Accepted, None),
        PageState::Rejected { reason } => (ReportedState::Rejected, Some(reason.code())),
        PageState::Gone { reason } => (ReportedState::Gone, Some(reason.as_str())),
        PageState::Alias { .. } => return None,
    };
    let reason = reason.map(str::to_owned);
    Some(PageLine { url: page.url, state, reason, at: page.at, checked_at: page.checked_at })
}
