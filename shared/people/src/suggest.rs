//! Stores sites and feeds that somebody names. Nothing is fetched here.

use curlew_catalog::hidden::{covering, hidden_hosts};
use curlew_catalog::object;
use curlew_crawl::bulk::Bulk;
use curlew_crawl::feeds::discover::new_feed;
use curlew_crawl::feeds::relocation::revived;
use curlew_crawl::politeness::access::Politeness;
use curlew_model::{
    DiscoverJob, FailureCause, FeedSource, HostKey, Job, PollJob, SiteSource, SiteState, Source, SourceKey, Timestamp,
};
use curlew_policy::address;
use curlew_policy::polling::schedule::site_is_due;
use curlew_policy::site::allowance::{self, Allowance, Full};
use curlew_ports::stage::{Result, StageError};
use curlew_ports::{PortError, Queue, Sources, Version, swapped};
use futures::StreamExt;
use std::collections::BTreeSet;
use std::sync::Arc;
use url::Url;

/// Key of the object that counts today's suggestions.
const ALLOWANCE: &str = "suggested.json";
const AT_ONCE: usize = 32;
/// Maximum number of attempts to swap a row that another process is changing.
const TRIES: usize = 3;

/// Accepts suggested sites and feeds.
#[derive(Clone)]
pub struct Suggest {
    /// Provides the address guard, the operator's exclusions and the list of blocked hosts; makes no calls here.
    pub politeness: Arc<Politeness>,
    /// Rows of sites and feeds.
    pub sources: Arc<dyn Sources>,
    /// Queue of discoveries and first polls.
    pub queue: Arc<dyn Queue>,
}

/// A site or feed that was named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedSource {
    /// Key of the source.
    pub key: SourceKey,
    /// The outcome: the source was new, or already known.
    pub outcome: SuggestOutcome,
}

/// Outcome of a suggestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SuggestOutcome {
    /// The site or feed is new and will be crawled.
    Taken,
    /// The site or feed was already known.
    Known,
}

/// Error of an action that may be refused.
#[derive(Debug, thiserror::Error)]
pub enum Refusable<R> {
    /// The action is refused, for this reason.
    #[error("{0}")]
    Refused(R),
    /// The action failed.
    #[error(transparent)]
    Stage(#[from] StageError),
}

impl<R> From<PortError> for Refusable<R> {
    fn from(error: PortError) -> Refusable<R> {
        Refusable::Stage(error.into())
    }
}

/// Error of a suggestion.
pub type SuggestError = Refusable<RefusedAddress>;

/// A feed in a person's list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedFeed {
    /// Address of the feed as typed.
    pub url: String,
    /// Folder of the feed in the list, as a path from the outermost folder; empty if it is in none.
    pub folder: Vec<String>,
}

/// A suggested address that cannot be accepted. `Display` writes an English sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{typed}' cannot be crawled: {why}")]
pub struct RefusedAddress {
    /// Beginning of the typed text, without user name and password.
    pub typed: String,
    /// The reason.
    pub why: Refusal,
}

/// Reasons why an address cannot be accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The text is not an address that can be crawled; contains the reason, in English.
    #[error("{0}")]
    Form(String),
    /// The operator excludes the address, by this rule.
    #[error("it is excluded by {0}")]
    Excluded(String),
    /// The address guard refuses calls to the address; contains the reason, in English.
    #[error("{0}")]
    Unsafe(String),
    /// The address's host is blocked.
    #[error("the host is blocked")]
    Blocked,
    /// The limit of suggestions per site is reached for today.
    #[error("too many pages of this site were suggested today; please try again tomorrow")]
    SiteFull,
    /// The limit of suggested sites is reached for today.
    #[error("too many sites were suggested today; please try again tomorrow")]
    DayFull,
    /// The host is an IP address; only a host name can be claimed.
    #[error("it has no name, only an address")]
    NoName,
    /// Names below the host belong to different owners, so nobody can claim the host as a whole.
    #[error("it is a shared domain, whose subdomains have different owners")]
    Shared,
}

type DueJob = (Job, Timestamp);

impl Suggest {
    /// Stores a site, replacing one of the other scheme that was never reached. `at_once` sends its discovery now.
    pub async fn site(&self, text: &str, at_once: bool) -> Result<NamedSource, SuggestError> {
        let url = self.vetted(text, &self.hidden().await?)?;
        self.keep(site(&url), at_once).await
    }

    /// Stores many sites and sends their discoveries at once. May be repeated after an error.
    pub async fn sites(&self, texts: &[String]) -> Result<Vec<Result<NamedSource, RefusedAddress>>> {
        self.many(texts.iter().map(|text| (text.as_str(), ())), |url, ()| site(url)).await
    }

    /// Stores many feeds and sends their first polls at once. May be repeated after an error.
    pub async fn feeds(&self, listed: &[ListedFeed]) -> Result<Vec<Result<NamedSource, RefusedAddress>>> {
        self.many(listed.iter().map(|listed| (listed.url.as_str(), listed.folder.clone())), feed).await
    }

    async fn many<'a, P>(
        &self,
        named: impl Iterator<Item = (&'a str, P)>,
        source_of: impl Fn(&Url, P) -> Source,
    ) -> Result<Vec<Result<NamedSource, RefusedAddress>>> {
        let hidden = self.hidden().await?;
        let vetted: Vec<_> =
            named.map(|(text, place)| self.vetted(text, &hidden).map(|url| source_of(&url, place))).collect();
        let together: BTreeSet<SourceKey> = vetted.iter().flatten().map(|source| source.key().clone()).collect();
        let taking: Vec<_> = vetted.into_iter().map(|source| self.take(source, &together)).collect();
        let mut taking = futures::stream::iter(taking).buffered(AT_ONCE);
        let mut jobs = Bulk::new(self.queue.as_ref());
        let mut outcomes = Vec::new();
        while let Some(taken) = taking.next().await {
            match taken {
                Ok((named, job)) => {
                    if let Some((job, due)) = job {
                        jobs.push(job, due).await?;
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
        source: Result<Source, SuggestError>,
        together: &BTreeSet<SourceKey>,
    ) -> Result<(NamedSource, Option<DueJob>), SuggestError> {
        let source = source?;
        let url = source.url().to_owned();
        let written = self.write(source, true).await?;
        self.replace_other_scheme(&url, together).await?;
        Ok(written)
    }

    /// Stores a site that a member of the public names. A new site counts against the daily allowances.
    pub async fn offered(&self, text: &str) -> Result<SuggestOutcome, SuggestError> {
        let url = self.vetted(text, &self.hidden().await?)?;
        if self.sources.get(&address::source_key(&url)).await?.is_none() {
            let refused = |why| SuggestError::Refused(RefusedAddress { typed: shortened(text), why });
            let host = self.politeness.key_of(&url).map_err(|e| refused(Refusal::Form(e.to_string())))?;
            self.admit(&host).await?.map_err(refused)?;
        }
        Ok(self.write(site(&url), false).await?.0.outcome)
    }

    async fn admit(&self, host: &HostKey) -> Result<Result<(), Refusal>, SuggestError> {
        let taken = object::change(self.politeness.blobs.as_ref(), ALLOWANCE, |bytes| {
            // An unreadable object is treated as missing; its counts would be void tomorrow anyway.
            let today: Allowance = bytes.and_then(|bytes| serde_json::from_slice(bytes).ok()).unwrap_or_default();
            let (next, outcome) = allowance::take(today, host, self.politeness.clock.now());
            Ok(match outcome {
                Ok(()) => (Some(object::json(&next)?), Ok(())),
                Err(Full::Host) => (None, Err(Refusal::SiteFull)),
                Err(Full::Day) => (None, Err(Refusal::DayFull)),
            })
        });
        Ok(taken.await?)
    }

    /// Stores a feed, replacing one of the other scheme that was never reached. `at_once` sends its first poll now.
    pub async fn feed(&self, text: &str, at_once: bool) -> Result<NamedSource, SuggestError> {
        self.listed_feed(&ListedFeed { url: text.to_owned(), folder: vec![] }, at_once).await
    }

    /// Stores a feed of a list; see [`Suggest::feed`]. A known feed moves to its folder in the list, if it has one.
    pub async fn listed_feed(&self, listed: &ListedFeed, at_once: bool) -> Result<NamedSource, SuggestError> {
        let url = self.vetted(&listed.url, &self.hidden().await?)?;
        self.keep(feed(&url, listed.folder.clone()), at_once).await
    }

    async fn keep(&self, source: Source, at_once: bool) -> Result<NamedSource, SuggestError> {
        let url = source.url().to_owned();
        let (named, job) = self.write(source, at_once).await?;
        if let Some(job) = job {
            self.queue.send(&[job]).await?;
        }
        self.replace_other_scheme(&url, &BTreeSet::new()).await?;
        Ok(named)
    }

    /// Writes a row unless it is known; returns the job to send at once, if any.
    async fn write(&self, source: Source, at_once: bool) -> Result<(NamedSource, Option<DueJob>), SuggestError> {
        let (key, now) = (source.key().clone(), self.politeness.clock.now());
        let job = match &source {
            Source::Feed(feed) => Job::new(PollJob::new(key.clone(), feed.url.clone())),
            other => Job::new(DiscoverJob::new(key.clone(), other.url().to_owned())),
        };
        let new = self.sources.insert(&source).await?;
        let row = if new { Some(source) } else { self.known(source).await? };
        // A row whose job was lost in a crash gets another job; a job that runs twice does no harm.
        let is_wanted = at_once && row.is_some_and(|row| is_untried(&row, now));
        let outcome = if new { SuggestOutcome::Taken } else { SuggestOutcome::Known };
        Ok((NamedSource { key, outcome }, is_wanted.then_some((job, now))))
    }

    /// Returns the stored row of a named source, or the row that has replaced it. A retired feed is revived unless it
    /// has moved to a working feed; a replaced site is tried again unless its replacement works.
    async fn known(&self, named: Source) -> Result<Option<Source>, SuggestError> {
        let Some((row, seen)) = self.sources.get(named.key()).await? else { return Ok(None) };
        let feed = match row {
            Source::Feed(feed) if feed.gone => in_folder(feed, &named),
            Source::Site(SiteSource { state: SiteState::Replaced { ref by }, .. }) => {
                let heir = Url::parse(by).ok().map(|url| address::source_key(&url));
                if let Some(heir) = heir
                    && let Some((Source::Site(heir), _)) = self.sources.get(&heir).await?
                    && matches!(heir.state, SiteState::Working { .. })
                {
                    return Ok(Some(Source::Site(heir)));
                }
                return self.rewrite(seen, named).await.map(Some);
            }
            other => return self.filed(other, seen, &named).await.map(Some),
        };
        let heir = feed.moved.as_ref().and_then(|(to, _)| Url::parse(to).ok()).map(|to| address::source_key(&to));
        if let Some(heir) = heir
            && let Some((Source::Feed(heir), seen)) = self.sources.get(&heir).await?
            && !heir.gone
        {
            return self.filed(Source::Feed(heir), seen, &named).await.map(Some);
        }
        self.rewrite(seen, Source::Feed(revived(feed))).await.map(Some)
    }

    /// Moves a known feed to the folder that it is named in, if any; returns the row.
    async fn filed(&self, row: Source, seen: Version, named: &Source) -> Result<Source, SuggestError> {
        let (mut row, mut seen) = (row, seen);
        for _ in 0..TRIES {
            let Source::Feed(feed) = &row else { return Ok(row) };
            let next = in_folder(feed.clone(), named);
            if next == *feed {
                return Ok(row);
            }
            let next = Source::Feed(next);
            if swapped(self.sources.swap(seen, &next).await)? {
                return Ok(next);
            }
            let Some(again) = self.sources.get(row.key()).await? else { return Ok(row) };
            (row, seen) = again;
        }
        Err(PortError::Conflict.into())
    }

    /// Writes a row that is tried again. A conflict is ignored: another writer has revived the row too.
    async fn rewrite(&self, seen: Version, revived: Source) -> Result<Source, SuggestError> {
        swapped(self.sources.swap(seen, &revived).await)?;
        Ok(revived)
    }

    /// Stops attempts at the same address under the other scheme if it was never reached, since its failures lengthen
    /// the waits of the new one. Addresses named `together` do not replace each other.
    async fn replace_other_scheme(&self, by: &str, together: &BTreeSet<SourceKey>) -> Result<(), SuggestError> {
        let Some(key) = other_scheme(by).map(|url| address::source_key(&url)) else { return Ok(()) };
        if together.contains(&key) {
            return Ok(());
        }
        for _ in 0..TRIES {
            let Some((row, seen)) = self.sources.get(&key).await? else { return Ok(()) };
            let Some(row) = replaced(row, by) else { return Ok(()) };
            if swapped(self.sources.swap(seen, &row).await)? {
                tracing::info!(url = row.url(), by, "an address that was never reached is replaced");
                return Ok(());
            }
        }
        Ok(())
    }

    async fn hidden(&self) -> Result<BTreeSet<String>> {
        hidden_hosts(self.politeness.blobs.as_ref()).await
    }

    /// Parses and checks an address. A bare host name means its home page over https, as in browsers.
    fn vetted(&self, text: &str, hidden: &BTreeSet<String>) -> Result<Url, SuggestError> {
        let text = text.trim();
        let refused = |why| SuggestError::Refused(RefusedAddress { typed: shortened(text), why });
        let url = address::parse_typed(text).map_err(|e| refused(Refusal::Form(e.to_string())))?;
        if let Some(rule) = self.politeness.scope.excludes(&url) {
            return Err(refused(Refusal::Excluded(rule.to_string())));
        }
        self.politeness.fetch.vet(url.as_str()).map_err(|why| refused(Refusal::Unsafe(why)))?;
        if covering(hidden, url.host_str().unwrap_or_default()).is_some() {
            return Err(refused(Refusal::Blocked));
        }
        Ok(url)
    }
}

fn site(url: &Url) -> Source {
    let key = address::source_key(url);
    Source::Site(SiteSource {
        slot: address::slot(&key),
        key,
        url: url.to_string(),
        state: SiteState::Waiting,
        image: None,
        not_before: Timestamp::MIN,
        failures: 0,
        failure: None,
    })
}

fn feed(url: &Url, folder: Vec<String>) -> Source {
    Source::Feed(FeedSource { folder, ..new_feed(url, None) })
}

/// Returns a feed, moved to the folder that it is named in, if any.
fn in_folder(feed: FeedSource, named: &Source) -> FeedSource {
    match named {
        Source::Feed(named) if !named.folder.is_empty() => FeedSource { folder: named.folder.clone(), ..feed },
        _ => feed,
    }
}

/// Returns an https address with the scheme http, and any other address with the scheme https.
fn other_scheme(url: &str) -> Option<Url> {
    let mut url = Url::parse(url).ok()?;
    let other = if url.scheme() == "https" { "http" } else { "https" };
    url.set_scheme(other).ok()?;
    Some(url)
}

/// Returns the row that ends attempts at a source, if the source was never reached (tried in vain or not yet tried).
fn replaced(row: Source, by: &str) -> Option<Source> {
    match row {
        Source::Site(site) => {
            let is_open = matches!(site.state, SiteState::Waiting | SiteState::Feedless { .. });
            let was_missed = match &site.failure {
                Some(failure) => failure.cause.is_unreached() || failure.cause == FailureCause::Held,
                None => site.not_before == Timestamp::MIN,
            };
            let state = SiteState::Replaced { by: by.to_owned() };
            (is_open && was_missed).then_some(Source::Site(SiteSource { state, failure: None, ..site }))
        }
        // Only a feed that was read has a format.
        Source::Feed(feed) => {
            let was_missed = !feed.gone && feed.format.is_empty() && feed.site.is_none();
            let trouble = Some(format!("{by} was named in its place"));
            was_missed.then_some(Source::Feed(FeedSource { gone: true, trouble, ..feed }))
        }
        Source::Extra(_) | Source::Backfill(_) => None,
    }
}

/// True if a source has never succeeded and may be tried now.
fn is_untried(source: &Source, now: Timestamp) -> bool {
    match source {
        Source::Site(site) => site_is_due(site, now),
        Source::Feed(feed) => !feed.gone && feed.polled_at == Timestamp::MIN && now >= feed.not_before,
        Source::Extra(_) | Source::Backfill(_) => false,
    }
}

pub(crate) fn shortened(text: &str) -> String {
    address::without_credentials(text).chars().take(80).collect()
}
