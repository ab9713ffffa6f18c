//! Own: carries out the requests of site owners. It looks for their proofs, with all the politeness of a visit; reports
//! the data that is stored about a host; visits, removes and takes up pages again. Looking is a job of the queue of discovery;
//! all else, what was found included, is a job of the queue of removals, whose stage reads nothing of a site.

use crate::bulk::Bulk;
use crate::catalog::hidden::is_on;
use crate::catalog::listing::{each_page, each_source, pages_that};
use crate::catalog::removal::Removal;
use crate::feeds::backfill::Backfills;
use crate::feeds::relocation::revived;
use crate::operator::block::Blocks;
use crate::operator::erasure::{Erasure, is_indexed_on};
use crate::operator::ownership::{change_claims, load_claims, settle_claims};
use crate::operator::suggest::{Suggest, SuggestError};
use crate::pages::sample::Sample;
use crate::parsing::parsed;
use crate::politeness::access::Politeness;
use crate::politeness::visit::LeaseOutcome;
use crate::politeness::visit::{CallEnd, Visit};
use crate::stage::{Stage, StageError, Verdict};
use curlew_article::{decode, head_metas};
use curlew_model::{
    Backfill, Challenge, FeedLine, FeedSource, Gone, HostKey, HostReport, Job, LookResult, Miss, OwnJob, OwnerRequest,
    Page, PageLine, PageState, PollJob, Source, SourceKey, Timestamp, Validators, Way,
};
use curlew_policy::politeness::redirect::{Chain, is_redirect};
use curlew_policy::polling::backfill::line;
use curlew_policy::polling::schedule::{may_poll_from, next_poll};
use curlew_policy::site::ownership::{self, META};
use curlew_policy::trace;
use curlew_ports::{Blobs, CallKind, Names, Pages, PortError, Queue, Sources};
use std::sync::Arc;

/// Maximum number of pages that a report names; the rest are only counted.
const PAGES_NAMED: usize = 200;
/// Maximum number of feeds that a report names.
const FEEDS_NAMED: usize = 50;
/// Maximum number of times a request to look is deferred for another worker's visit before the answer is that the host
/// is held.
const MAX_DEFERRALS: u32 = 20;

/// The stage that carries out owners' requests.
pub struct Own {
    /// Makes calls to sites.
    pub politeness: Arc<Politeness>,
    /// Looks up proofs in the DNS.
    pub names: Arc<dyn Names>,
    /// Claims and records.
    pub blobs: Arc<dyn Blobs>,
    /// Rows of pages.
    pub pages: Arc<dyn Pages>,
    /// Rows of feeds and sites.
    pub sources: Arc<dyn Sources>,
    /// Takes visits and polls.
    pub queue: Arc<dyn Queue>,
    /// Blocks and unblocks hosts.
    pub blocks: Blocks,
    /// Takes sites that are not known yet.
    pub suggest: Suggest,
    /// Removes pages.
    pub removal: Removal,
    /// Erases back catalogues.
    pub backfills: Backfills,
    /// Sends re-checks.
    pub sample: Sample,
    /// Scheme by which proofs are fetched: `https`, or `http` if the operator configures it.
    pub scheme: &'static str,
}

impl Stage for Own {
    const NAME: &'static str = "own";
    type Job = OwnJob;

    async fn run(&self, job: &OwnJob) -> Result<Verdict, StageError> {
        let (host, now) = (job.host.as_str(), self.politeness.clock.now());
        let all = load_claims(self.blobs.as_ref(), host).await?;
        let Some(claim) = ownership::claim(&all, &job.challenge) else {
            return Ok(Verdict::Drop("the claim is not known".into()));
        };
        // The proof may have been withdrawn since the request was granted.
        if job.request != OwnerRequest::Look && ownership::proven_until(claim, now).is_none() {
            return Ok(Verdict::Drop("the claim is not proven any more".into()));
        }
        match job.request {
            OwnerRequest::Look => match &job.looked {
                None => return self.look(job).await,
                Some(look) => return self.record(job, look).await,
            },
            OwnerRequest::Report => self.report(host).await?,
            OwnerRequest::Block | OwnerRequest::Unblock => self.settle(host).await?,
            OwnerRequest::Visit => self.visit(host).await?,
            OwnerRequest::HistoryOff | OwnerRequest::HistoryOn => {
                let off = ownership::is_history_off(&all);
                self.blocks.turn_history(host, off).await?;
            }
            OwnerRequest::Forget => {
                self.settle(host).await?;
                // An owner who has taken the request back since wants to keep pages that came later.
                let asked = claim.asked.get(&OwnerRequest::Forget).copied().unwrap_or(now);
                let until = if ownership::is_to_be_blocked(&all) { Timestamp::MAX } else { asked };
                self.forget(host, until).await?;
            }
        }
        self.done(host, &job.challenge, job.request).await?;
        tracing::info!(%host, request = ?job.request, "an owner's request is done");
        Ok(Verdict::Done)
    }
}

impl Own {
    /// Looks for the challenge where it may be published, and sends on what it has found: this part reads answers of the site,
    /// and so writes no claim.
    async fn look(&self, job: &OwnJob) -> Result<Verdict, StageError> {
        let (host, challenge) = (job.host.as_str(), &job.challenge);
        let mut misses = vec![];
        let mut found = None;
        match self.in_dns(host, challenge).await {
            Ok(()) => found = Some(Way::Dns),
            Err(miss) => misses.push((Way::Dns, miss)),
        }
        if found.is_none() && !job.dns_only {
            let calls = match self.by_calls(job).await? {
                Ok(calls) => calls,
                // Another worker is calling the host.
                Err(until) => return Ok(Verdict::Defer(until)),
            };
            for (way, outcome) in calls {
                match outcome {
                    Ok(()) => found = Some(way),
                    Err(miss) => misses.push((way, miss)),
                }
            }
        }
        let at = self.politeness.clock.now();
        let looked = Some(LookResult { at, found, misses });
        self.queue.send(&[(Job::Own(OwnJob { looked, deferrals: 0, ..job.clone() }), at)]).await?;
        Ok(Verdict::Done)
    }

    /// Writes down what a look has found.
    async fn record(&self, job: &OwnJob, look: &LookResult) -> Result<Verdict, StageError> {
        let (host, challenge) = (job.host.as_str(), &job.challenge);
        let looked = |all| (ownership::looked(all, challenge, look.clone()), ());
        change_claims(self.blobs.as_ref(), host, looked).await?;
        if look.found.is_some() {
            self.report(host).await?;
        }
        tracing::info!(%host, found = ?look.found, "a proof was looked for");
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

    /// Fetches the file, and the home page if the file is no proof. The error is the time of the next try.
    #[allow(clippy::type_complexity, reason = "what was found, by the ways that were tried")]
    async fn by_calls(&self, job: &OwnJob) -> Result<Result<Vec<(Way, Result<(), Miss>)>, Timestamp>, StageError> {
        let neither = |miss| Ok(Ok(vec![(Way::File, Err(miss)), (Way::Meta, Err(miss))]));
        let Some(home) = ownership::home_url(&job.host, self.scheme) else { return neither(Miss::Unreachable) };
        let key: HostKey = self.politeness.key_of(&home).map_err(|e| StageError::Job(e.to_string()))?;
        let mut visit = match self.politeness.open(&key, &format!("own {}", job.host)).await? {
            LeaseOutcome::Granted(visit) => visit,
            LeaseOutcome::Busy(until) if job.deferrals < MAX_DEFERRALS => return Ok(Err(until)),
            LeaseOutcome::Busy(_) | LeaseOutcome::Held(..) => return neither(Miss::Held),
            LeaseOutcome::Blocked => return neither(Miss::Blocked),
        };
        let found = self.two_calls(&mut visit, job).await;
        visit.close().await?;
        found.map(Ok)
    }

    async fn two_calls(&self, visit: &mut Visit<'_>, job: &OwnJob) -> Result<Vec<(Way, Result<(), Miss>)>, StageError> {
        let (host, challenge) = (job.host.as_str(), &job.challenge);
        let file = match ownership::file_url(host, self.scheme) {
            // No redirect is followed: somebody who can redirect visitors need not own the site.
            Some(file) => answered(visit.hop(&file, CallKind::Proof, &Validators::default(), None).await?)
                .and_then(|reply| ownership::in_file(reply.status, &reply.body, challenge)),
            None => Err(Miss::Unreachable),
        };
        if file.is_ok() {
            return Ok(vec![(Way::File, file)]);
        }
        Ok(vec![(Way::File, file), (Way::Meta, self.on_home_page(visit, host, challenge).await?)])
    }

    /// Looks on the home page. Redirects are followed as long as they stay on the host and its scheme.
    async fn on_home_page(
        &self,
        visit: &mut Visit<'_>,
        host: &str,
        challenge: &Challenge,
    ) -> Result<Result<(), Miss>, StageError> {
        let Some(home) = ownership::home_url(host, self.scheme) else { return Ok(Err(Miss::Unreachable)) };
        let mut chain = Chain::new(home, self.politeness.rules.page_redirects);
        loop {
            let here = chain.current().clone();
            let reply = match answered(visit.hop(&here, CallKind::Home, &Validators::default(), None).await?) {
                Ok(reply) => reply,
                Err(miss) => return Ok(Err(miss)),
            };
            if is_redirect(reply.status) {
                match chain.follow(reply.status, reply.headers.location.as_deref()) {
                    Ok(next) if next.host_str() == Some(host) && next.scheme() == self.scheme => continue,
                    _ => return Ok(Err(Miss::Redirect)),
                }
            }
            return Ok(match reply.status {
                200 => {
                    let (body, media) = (reply.body.clone(), reply.headers.content_type.clone());
                    let read = move || head_metas(&decode(&body, media.as_deref()), META);
                    match parsed(self.politeness.pool.as_ref(), reply.body.len(), read).await? {
                        Ok(tags) => ownership::in_tags(&tags, challenge),
                        Err(_) => Err(Miss::Unreachable),
                    }
                }
                404 | 410 => Err(Miss::Absent),
                _ => Err(Miss::Unreachable),
            });
        }
    }

    /// Writes a new report of the stored data of a host.
    async fn report(&self, host: &str) -> Result<(), StageError> {
        let now = self.politeness.clock.now();
        let mut report = HostReport { at: now, ..HostReport::default() };
        for feed in self.feeds(host).await? {
            let polled_at = Some(feed.polled_at).filter(|at| *at > Timestamp::MIN);
            let next = if feed.gone { None } else { next_poll(&feed, &self.politeness.rules, now) };
            report.feeds.push(FeedLine { url: feed.url, polled_at, next });
        }
        report.feeds.truncate(FEEDS_NAMED);
        let history = self.history(host).await?;
        report.history = history.iter().take(FEEDS_NAMED).map(|row| line(row, &self.politeness.rules)).collect();
        each_page(self.pages.as_ref(), |page| {
            if is_on(&page.url, host) && !matches!(page.state, PageState::Alias { .. }) {
                let line = line_of(&page);
                let word = line.state.split(':').next().unwrap_or_default().to_owned();
                *report.counts.entry(word).or_default() += 1;
                report.pages.push(line);
                if report.pages.len() >= 2 * PAGES_NAMED {
                    newest(&mut report.pages);
                }
            }
        })
        .await?;
        newest(&mut report.pages);
        let told = |mut all: curlew_model::Ownership| {
            all.report = Some(report.clone());
            (all, ())
        };
        change_claims(self.blobs.as_ref(), host, told).await
    }

    /// Sends polls and visits for a host's feeds and pages, due as soon as politeness allows; takes up feeds that were
    /// retired.
    async fn visit(&self, host: &str) -> Result<(), StageError> {
        let now = self.politeness.clock.now();
        let mut is_known = false;
        let mut polls = Bulk::new(self.queue.as_ref());
        for feed in self.feeds(host).await? {
            is_known = true;
            let feed = self.revive(feed).await?;
            let at = may_poll_from(&feed, &self.politeness.rules).max(now);
            let trace = Some(trace::begin("poll", feed.key.as_str(), now));
            let job = PollJob { trace, ..PollJob::new(feed.key.clone(), feed.url.clone()) };
            polls.push((Job::Poll(job), at)).await?;
        }
        polls.send().await?;
        if !is_known
            && let Err(SuggestError::Stage(error)) =
                self.suggest.site(&format!("{}://{host}/", self.scheme), true).await
        {
            return Err(error);
        }
        let chosen = pages_that(self.pages.as_ref(), |page| is_indexed_on(host, page)).await?;
        self.sample.send(&chosen).await
    }

    async fn revive(&self, feed: FeedSource) -> Result<FeedSource, StageError> {
        if !feed.gone || feed.moved.is_some() {
            return Ok(feed);
        }
        let Some((_, seen)) = self.sources.get(&feed.key).await? else { return Ok(feed) };
        let feed = revived(feed);
        match self.sources.swap(seen, &Source::Feed(feed.clone())).await {
            Ok(_) | Err(PortError::Conflict) => Ok(feed),
            Err(other) => Err(other.into()),
        }
    }

    async fn settle(&self, host: &str) -> Result<(), StageError> {
        settle_claims(self.blobs.as_ref(), &self.blocks, host).await
    }

    /// Removes all data of a host up to an instant. Of each page its address and the fact of its removal stay.
    async fn forget(&self, host: &str, until: Timestamp) -> Result<(), StageError> {
        let erasure = Erasure { pages: self.pages.as_ref(), blobs: self.blobs.as_ref(), removal: &self.removal };
        let erased = erasure.of_host(host, until).await?;
        for feed in self.feeds(host).await?.into_iter().filter(|feed| feed.polled_at <= until) {
            self.retire(&feed.key).await?;
        }
        for row in self.history(host).await? {
            self.backfills.erase(&row.key, "its owner had it removed").await?;
        }
        let counts = [(format!("gone: {}", Gone::Blocked.as_str()), erased)].into();
        let left = HostReport { at: self.politeness.clock.now(), counts, ..HostReport::default() };
        change_claims(self.blobs.as_ref(), host, |mut all| {
            all.report = Some(left.clone());
            (all, ())
        })
        .await
    }

    async fn retire(&self, key: &SourceKey) -> Result<(), StageError> {
        let Some((Source::Feed(feed), seen)) = self.sources.get(key).await? else { return Ok(()) };
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
        self.sources.swap(seen, &Source::Feed(forgotten)).await?;
        Ok(())
    }

    async fn feeds(&self, host: &str) -> Result<Vec<FeedSource>, StageError> {
        let mut feeds = vec![];
        each_source(self.sources.as_ref(), |row| match row {
            Source::Feed(feed) if is_on(&feed.url, host) => feeds.push(feed),
            _ => {}
        })
        .await?;
        Ok(feeds)
    }

    /// The back catalogues of a host.
    async fn history(&self, host: &str) -> Result<Vec<Backfill>, StageError> {
        let mut rows = vec![];
        each_source(self.sources.as_ref(), |row| match row {
            Source::Backfill(backfill) if is_on(&backfill.url, host) => rows.push(backfill),
            _ => {}
        })
        .await?;
        Ok(rows)
    }

    async fn done(&self, host: &str, challenge: &Challenge, request: OwnerRequest) -> Result<(), StageError> {
        let now = self.politeness.clock.now();
        change_claims(self.blobs.as_ref(), host, |all| (ownership::done(all, challenge, request, now), ())).await
    }
}

/// Returns an answer, or the reason why there is none.
fn answered(end: CallEnd) -> Result<Box<curlew_ports::Reply>, Miss> {
    match end {
        CallEnd::Reply(reply) => Ok(reply),
        CallEnd::Rejected(curlew_model::Rejection::Robots) => Err(Miss::Robots),
        CallEnd::Rejected(curlew_model::Rejection::Blocked) => Err(Miss::Blocked),
        CallEnd::Rejected(_) => Err(Miss::Unreachable),
        CallEnd::Later(_) | CallEnd::Elsewhere(_) | CallEnd::Refused(_) | CallEnd::Held(..) => Err(Miss::Held),
    }
}

fn newest(pages: &mut Vec<PageLine>) {
    pages.sort_by(|a, b| b.at.cmp(&a.at).then_with(|| a.url.cmp(&b.url)));
    pages.truncate(PAGES_NAMED);
}

fn line_of(page: &Page) -> PageLine {
    let state = match &page.state {
        PageState::Pending => "pending".to_owned(),
        PageState::Accepted { .. } => "accepted".to_owned(),
        PageState::Rejected { reason } => format!("rejected: {}", reason.code()),
        PageState::Gone { reason } => format!("gone: {}", reason.as_str()),
        PageState::Alias { .. } => "alias".to_owned(),
    };
    PageLine { url: page.url.clone(), state, at: page.at, checked_at: page.checked_at }
}
