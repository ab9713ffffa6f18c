//! Suggest: takes sites and feeds that somebody names. Nothing is fetched here.

use crate::bulk::Bulk;
use crate::catalog::hidden::hidden_hosts;
use crate::catalog::object;
use crate::feeds::discover::new_feed;
use crate::feeds::relocation::revived;
use crate::stage::StageError;
use curlew_model::{
    DiscoverJob, HostKey, Job, PollJob, SiteSource, SiteState, Source, SourceKey, Timestamp, is_at_or_below,
};
use curlew_policy::address::{self, HostGroups};
use curlew_policy::politeness::scope::Scope;
use curlew_policy::polling::schedule::site_is_due;
use curlew_policy::site::allowance::{self, Allowance, Full};
use curlew_ports::{Blobs, Clock, Fetch, PortError, Queue, Sources};
use futures::StreamExt;
use std::collections::BTreeSet;
use std::sync::Arc;
use url::Url;

/// Where it is kept what was suggested today.
const ALLOWANCE: &str = "suggested.json";
/// Number of rows that are written at once.
const AT_ONCE: usize = 32;

/// Takes sites and feeds.
#[derive(Clone)]
pub struct Suggest {
    /// Where they are written down.
    pub sources: Arc<dyn Sources>,
    /// For the list of blocked hosts.
    pub blobs: Arc<dyn Blobs>,
    /// For the address guard; nothing is called.
    pub fetch: Arc<dyn Fetch>,
    /// For jobs that are due at once.
    pub queue: Arc<dyn Queue>,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// For what the operator excludes.
    pub scope: Arc<Scope>,
    /// What counts as one host.
    pub groups: Arc<HostGroups>,
}

/// A source that was named, and whether it was new.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedSource {
    /// Its key.
    pub key: SourceKey,
    /// Whether it was known already.
    pub outcome: SuggestOutcome,
}

/// What became of a suggestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SuggestOutcome {
    /// It will be looked at.
    Taken,
    /// It was known already.
    Known,
}

/// Why a suggestion was not taken.
#[derive(Debug, thiserror::Error)]
pub enum SuggestError {
    /// It cannot be taken.
    #[error(transparent)]
    Refused(RefusedAddress),
    /// It could not be written down.
    #[error(transparent)]
    Stage(#[from] StageError),
}

impl From<PortError> for SuggestError {
    fn from(error: PortError) -> SuggestError {
        SuggestError::Stage(error.into())
    }
}

/// What was suggested and cannot be taken. It is displayed as a sentence in English.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{typed}' cannot be crawled: {why}")]
pub struct RefusedAddress {
    /// The beginning of what was typed.
    pub typed: String,
    /// Why.
    pub why: Refusal,
}

/// Why a suggestion cannot be taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It has not the form of an address that is taken up; what is wrong with it, in English.
    #[error("{0}")]
    Form(String),
    /// The operator excludes it, by this rule.
    #[error("it is excluded by {0}")]
    Excluded(String),
    /// The address guard would not let it be called; why, in English.
    #[error("{0}")]
    Unsafe(String),
    /// Its host is blocked.
    #[error("the host is blocked")]
    Blocked,
    /// As much of its site was suggested today as is taken in a day.
    #[error("too many pages of this site were suggested today; please try again tomorrow")]
    SiteFull,
    /// As many sites were suggested today as are taken in a day.
    #[error("too many sites were suggested today; please try again tomorrow")]
    DayFull,
    /// It is an IP address; only what has a name can be claimed.
    #[error("it has no name, only an address")]
    NoName,
    /// Names below it belong to many, so nobody can claim it as a whole.
    #[error("it is a shared domain, whose subdomains have different owners")]
    Shared,
}

impl Suggest {
    /// Writes a site down. Discovery comes to it with the schedule, or at once if `at_once`.
    ///
    /// # Errors
    /// Why it cannot be taken, or what the ports say.
    pub async fn site(&self, text: &str, at_once: bool) -> Result<NamedSource, SuggestError> {
        let url = self.vetted(text, &self.hidden().await?)?;
        self.keep(site(&url), at_once).await
    }

    /// Writes many sites down, each to be discovered at once; says of each, in order, why it is refused if it is. The list of
    /// blocked hosts is read once, rows are written side by side, and jobs are sent together.
    ///
    /// # Errors
    /// What the ports say; then some are taken. They may be named again.
    pub async fn sites(&self, texts: &[String]) -> Result<Vec<Result<NamedSource, RefusedAddress>>, StageError> {
        self.many(texts, site).await
    }

    /// The same for feeds.
    ///
    /// # Errors
    /// As for [`Suggest::sites`].
    pub async fn feeds(&self, texts: &[String]) -> Result<Vec<Result<NamedSource, RefusedAddress>>, StageError> {
        self.many(texts, feed).await
    }

    async fn many(
        &self,
        texts: &[String],
        source_of: impl Fn(&Url) -> (Source, Job),
    ) -> Result<Vec<Result<NamedSource, RefusedAddress>>, StageError> {
        let hidden = self.hidden().await?;
        let vetted = texts.iter().map(|text| self.vetted(text, &hidden).map(|url| source_of(&url)));
        let taking: Vec<_> = vetted.map(|source| self.take(source)).collect();
        let mut taking = futures::stream::iter(taking).buffered(AT_ONCE);
        let mut jobs = Bulk::new(self.queue.as_ref());
        let mut outcomes = Vec::with_capacity(texts.len());
        while let Some(taken) = taking.next().await {
            match taken {
                Ok((named, job)) => {
                    if let Some(job) = job {
                        jobs.push(job).await?;
                    }
                    outcomes.push(Ok(named));
                }
                Err(SuggestError::Refused(why)) => outcomes.push(Err(why)),
                Err(SuggestError::Stage(error)) => return Err(error),
            }
        }
        jobs.send().await?;
        Ok(outcomes)
    }

    async fn take(
        &self,
        source: Result<(Source, Job), SuggestError>,
    ) -> Result<(NamedSource, Option<(Job, Timestamp)>), SuggestError> {
        self.write(source?, true).await
    }

    /// Takes a site that anybody may name. One that is not known takes of its host's allowance for the day.
    ///
    /// # Errors
    /// As for [`Suggest::site`], and that the allowance is used up.
    pub async fn offered(&self, text: &str) -> Result<SuggestOutcome, SuggestError> {
        let url = self.vetted(text, &self.hidden().await?)?;
        if self.sources.get(&address::source_key(&url)).await?.is_none() {
            let refused = |why| SuggestError::Refused(RefusedAddress { typed: shortened(text), why });
            let host = address::host_key(&url, &self.groups).map_err(|e| refused(Refusal::Form(e.to_string())))?;
            self.admit(&host).await?.map_err(refused)?;
        }
        Ok(self.keep(site(&url), false).await?.outcome)
    }

    async fn admit(&self, host: &HostKey) -> Result<Result<(), Refusal>, SuggestError> {
        let taken = object::change(self.blobs.as_ref(), ALLOWANCE, |bytes| {
            // One that cannot be read is as good as none: it is of another day tomorrow.
            let today: Allowance = bytes.and_then(|bytes| serde_json::from_slice(bytes).ok()).unwrap_or_default();
            let (next, outcome) = allowance::take(today, host, self.clock.now());
            Ok(match outcome {
                Ok(()) => (Some(object::json(&next)?), Ok(())),
                Err(Full::Host) => (None, Err(Refusal::SiteFull)),
                Err(Full::Day) => (None, Err(Refusal::DayFull)),
            })
        });
        Ok(taken.await?)
    }

    /// Writes a feed down. It is polled with the schedule, or at once if `at_once`.
    ///
    /// # Errors
    /// Why it cannot be taken, or what the ports say.
    pub async fn feed(&self, text: &str, at_once: bool) -> Result<NamedSource, SuggestError> {
        let url = self.vetted(text, &self.hidden().await?)?;
        self.keep(feed(&url), at_once).await
    }

    async fn keep(&self, source: (Source, Job), at_once: bool) -> Result<NamedSource, SuggestError> {
        let (named, job) = self.write(source, at_once).await?;
        if let Some(job) = job {
            self.queue.send(&[job]).await?;
        }
        Ok(named)
    }

    /// Writes a row, unless it is known; gives the job that it needs at once.
    async fn write(
        &self,
        (source, job): (Source, Job),
        at_once: bool,
    ) -> Result<(NamedSource, Option<(Job, Timestamp)>), SuggestError> {
        let key = source.key().clone();
        let now = self.clock.now();
        let new = self.sources.insert(&source).await?;
        let row = if new { Some(source) } else { self.known(&key).await? };
        // A row whose job was lost in a crash gets another one; a job that runs twice does no harm.
        let is_wanted = at_once && row.is_some_and(|row| is_untried(&row, now));
        let outcome = if new { SuggestOutcome::Taken } else { SuggestOutcome::Known };
        Ok((NamedSource { key, outcome }, is_wanted.then_some((job, now))))
    }

    /// The row as it is. A feed that was retired is polled again when somebody names it anew, unless it has moved and
    /// lives on at its new address.
    async fn known(&self, key: &SourceKey) -> Result<Option<Source>, SuggestError> {
        let Some((row, seen)) = self.sources.get(key).await? else { return Ok(None) };
        let feed = match row {
            Source::Feed(feed) if feed.gone => feed,
            other => return Ok(Some(other)),
        };
        let heir = feed.moved.as_ref().and_then(|(to, _)| Url::parse(to).ok()).map(|to| address::source_key(&to));
        if let Some(heir) = heir
            && let Some((Source::Feed(heir), _)) = self.sources.get(&heir).await?
            && !heir.gone
        {
            return Ok(Some(Source::Feed(heir)));
        }
        let revived = Source::Feed(revived(feed));
        match self.sources.swap(seen, &revived).await {
            Ok(_) | Err(PortError::Conflict) => Ok(Some(revived)),
            Err(other) => Err(other.into()),
        }
    }

    /// The hosts that are blocked.
    async fn hidden(&self) -> Result<BTreeSet<String>, StageError> {
        hidden_hosts(self.blobs.as_ref()).await
    }

    /// A bare host name means its home page over TLS, as browsers take it.
    fn vetted(&self, text: &str, hidden: &BTreeSet<String>) -> Result<Url, SuggestError> {
        let text = text.trim();
        let full = if text.contains("://") { text.to_owned() } else { format!("https://{text}") };
        let refused = |why| SuggestError::Refused(RefusedAddress { typed: shortened(text), why });
        let url = address::parse(&full, None).map_err(|e| refused(Refusal::Form(e.to_string())))?;
        if let Some(rule) = self.scope.excludes(&url) {
            return Err(refused(Refusal::Excluded(rule.to_string())));
        }
        self.fetch.vet(url.as_str()).map_err(|why| refused(Refusal::Unsafe(why)))?;
        let host = url.host_str().unwrap_or_default();
        if hidden.iter().any(|h| is_at_or_below(host, h)) {
            return Err(refused(Refusal::Blocked));
        }
        Ok(url)
    }
}

/// The row of a site, and the job that looks at it.
fn site(url: &Url) -> (Source, Job) {
    let key = address::source_key(url);
    let site = SiteSource {
        slot: address::slot(&key),
        key: key.clone(),
        url: url.to_string(),
        state: SiteState::Waiting,
        image: None,
        not_before: Timestamp::MIN,
        failures: 0,
        failure: None,
    };
    let job = DiscoverJob::new(key, site.url.clone());
    (Source::Site(site), Job::Discover(job))
}

/// The row of a feed, and the job that polls it.
fn feed(url: &Url) -> (Source, Job) {
    let feed = new_feed(url, None);
    let job = PollJob::new(feed.key.clone(), feed.url.clone());
    (Source::Feed(feed), Job::Poll(job))
}

/// True if a source waits for its first success and may be tried now.
fn is_untried(source: &Source, now: Timestamp) -> bool {
    match source {
        Source::Site(site) => site_is_due(site, now),
        Source::Feed(feed) => !feed.gone && feed.polled_at == Timestamp::MIN && now >= feed.not_before,
        Source::Extra(_) => false,
    }
}

/// The beginning of what somebody typed.
pub(crate) fn shortened(text: &str) -> String {
    text.chars().take(80).collect()
}
