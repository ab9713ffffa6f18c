//! Blocks: from the next call and query on, a blocked host is not called and its pages are not found.
//!
//! A block is written to the state of every known host key that it covers, since each call reads that state.
//! `Politeness::open` checks a host key against the list of blocked hosts at its first visit.

use crate::erasure::StepLimits;
use crate::objects;
use curlew_catalog::hidden::{HIDDEN_KEY, Hidden, covering, hidden, is_on};
use curlew_catalog::listing::{choose_from, each_host};
use curlew_crawl::bulk::Bulk;
use curlew_crawl::politeness::access::Politeness;
use curlew_model::{
    EntryHints, HostKey, HostState, Job, Millis, Page, Purpose, SourceKey, TakeUpJob, VisitItem, VisitJob,
    is_at_or_below,
};
use curlew_policy::address;
use curlew_policy::politeness::admission;
use curlew_ports::stage::{Result, StageError, Verdict};
use curlew_ports::{Hosts, Pages, PortError, Queue, SWAP_TRIES, swapped, update_host};
use futures::FutureExt;
use futures::future::BoxFuture;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Delay of the job that takes up pages: it is sent before the block is lifted, and must run after that.
const LIFTED_WITHIN: Millis = Millis::from_secs(15);

/// Blocks and unblocks hosts.
#[derive(Clone)]
pub struct Blocks {
    /// Stores of host states, which the next call reads, and of the list of blocked hosts, which the next query reads.
    pub politeness: Arc<Politeness>,
    /// Rows of known host keys, to find the keys below a name.
    pub hosts: Arc<dyn Hosts>,
    /// Rows of pages, to find the pages that a block has kept out.
    pub pages: Arc<dyn Pages>,
    /// Queue of the jobs that take up these pages.
    pub queue: Arc<dyn Queue>,
    /// Limits of one step of taking up pages.
    pub limits: StepLimits,
}

/// Returns true if a block is still to be lifted.
pub(crate) type Condition<'c> = &'c (dyn Fn() -> BoxFuture<'c, Result<bool>> + Send + Sync);

/// Origin of a host's block, if there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockedBy {
    /// There is no block.
    Nobody,
    /// An owner set the block, and may lift it.
    Owner,
    /// The operator blocked this host or a name above it.
    Operator,
}

impl Blocks {
    /// Blocks a host and all names below it; returns its host key.
    pub async fn block(&self, host: &str) -> Result<HostKey> {
        // The block becomes the operator's even if an owner set it, so no owner can lift it.
        self.block_in(host, |hidden, name| {
            hidden.hosts.insert(name.to_owned());
            hidden.by_owner.remove(name);
        })
        .await
    }

    /// Blocks a host for its owner, who may lift the block. A block by the operator stays the operator's.
    pub async fn block_for_owner(&self, host: &str) -> Result<HostKey> {
        self.block_in(host, |hidden, name| {
            if hidden.hosts.insert(name.to_owned()) {
                hidden.by_owner.insert(name.to_owned());
            }
        })
        .await
    }

    async fn block_in(&self, host: &str, change: impl Fn(&mut Hidden, &str)) -> Result<HostKey> {
        let (name, key) = self.name(host)?;
        update_host(self.politeness.ledger.as_ref(), &key, |s| (admission::block(s, &name), ())).await?;
        self.change_hidden(|hidden| change(hidden, &name)).await?;
        // A host key that becomes known later is checked against the list. The host's row is written again, since an
        // earlier request that ended in the meantime may have unblocked it.
        for covered in self.keys_below(&name, &key).await?.iter().chain([&key]) {
            self.rewrite(covered, |state| (admission::block(state, &name), ()), None).await?;
        }
        Ok(key)
    }

    /// Changes a host's row unless the condition no longer holds after the row is read. The row is written even if it
    /// stays the same: of two opposite requests, the one with the older row then fails its swap and retries.
    async fn rewrite<T>(
        &self,
        key: &HostKey,
        change: impl Fn(HostState) -> (HostState, T),
        condition: Option<Condition<'_>>,
    ) -> Result<Option<T>> {
        for _ in 0..SWAP_TRIES {
            let (state, seen) = self.politeness.ledger.load(key).await?;
            if let Some(condition) = condition
                && !condition().await?
            {
                return Ok(None);
            }
            let (next, answer) = change(state);
            if swapped(self.politeness.ledger.swap(key, seen, next).await)? {
                return Ok(Some(answer));
            }
        }
        Err(PortError::Conflict.into())
    }

    /// Lifts a block and sends a job that takes up its pages; returns false if there was none. May be repeated.
    pub async fn unblock(&self, host: &str) -> Result<bool> {
        let (name, _) = self.name(host)?;
        let is_off = || async { Ok(!hidden(self.politeness.blobs.as_ref()).await?.hosts.contains(&name)) }.boxed();
        self.unblock_if(host, &is_off).await
    }

    async fn unblock_if(&self, host: &str, condition: Condition<'_>) -> Result<bool> {
        let (name, key) = self.name(host)?;
        self.change_hidden(|hidden| {
            hidden.hosts.remove(&name);
            hidden.by_owner.remove(&name);
        })
        .await?;
        let mut was = false;
        let lift = |state| admission::unblock(state, &name);
        for below in self.keys_below(&name, &key).await? {
            was |= self.rewrite(&below, lift, Some(condition)).await?.unwrap_or_default();
        }
        // The host's own row is changed last, so that a repeated run still finds the host blocked.
        let known = self.politeness.ledger.load(&key).await?.0.blocked.contains(&name);
        if was || known {
            let job = Job::new(TakeUpJob { host: name.clone(), after: None });
            self.queue.send(&[(job, self.politeness.clock.now() + LIFTED_WITHIN)]).await?;
        }
        Ok(was | self.rewrite(&key, lift, Some(condition)).await?.unwrap_or_default())
    }

    /// Turns the reading of a host's back catalogue off or on; takes effect at its next step.
    pub async fn turn_history(&self, host: &str, off: bool) -> Result<()> {
        let (name, _) = self.name(host)?;
        self.change_hidden(|hidden| {
            hidden.without_history.remove(&name);
            hidden.without_history.extend(off.then(|| name.clone()));
        })
        .await
    }

    /// True if the owner of a host, or of a name above it, has turned off the reading of the back catalogue.
    pub async fn is_without_history(&self, host: &str) -> Result<bool> {
        let hidden = hidden(self.politeness.blobs.as_ref()).await?;
        Ok(covering(&hidden.without_history, host).is_some())
    }

    /// Returns who blocked a host or a name above it.
    pub async fn blocked_by(&self, host: &str) -> Result<BlockedBy> {
        let hidden = hidden(self.politeness.blobs.as_ref()).await?;
        let blocking: Vec<&String> = hidden.hosts.iter().filter(|name| is_at_or_below(host, name)).collect();
        Ok(match blocking.iter().all(|name| hidden.by_owner.contains(*name)) {
            _ if blocking.is_empty() => BlockedBy::Nobody,
            true => BlockedBy::Owner,
            false => BlockedBy::Operator,
        })
    }

    /// Lifts a block for the host's owner; returns false if the block is the operator's, and stays.
    pub(crate) async fn unblock_for_owner(&self, host: &str, condition: Condition<'_>) -> Result<bool> {
        if self.blocked_by(host).await? == BlockedBy::Operator {
            return Ok(false);
        }
        self.unblock_if(host, condition).await?;
        Ok(true)
    }

    /// Returns the known host keys at or below a name, except `own`, the name's host key.
    async fn keys_below(&self, name: &str, own: &HostKey) -> Result<Vec<HostKey>> {
        let mut found = vec![];
        if !address::has_keys_below(name, &self.politeness.groups) {
            return Ok(found);
        }
        each_host(self.hosts.as_ref(), |key, _| {
            if key != *own && is_at_or_below(key.as_str(), name) {
                found.push(key);
            }
        })
        .await?;
        Ok(found)
    }

    /// Sends visits to those of the host's pages among the next rows that may be taken up, and a job for the rest.
    pub async fn take_up(&self, job: &TakeUpJob) -> Result<Verdict> {
        if self.blocked_by(&job.host).await? != BlockedBy::Nobody {
            return Ok(Verdict::Drop("the host is blocked again".into()));
        }
        let StepLimits { rows, pages, .. } = self.limits;
        let choose = |page: Page| Some(page).filter(|page| page.state.may_be_taken_up() && is_on(&page.url, &job.host));
        let (chosen, next) = choose_from(self.pages.as_ref(), job.after.clone(), rows, pages, choose).await?;
        let (now, mut sent) = (self.politeness.clock.now(), Bulk::new(self.queue.as_ref()));
        for visit in first_visits(chosen) {
            sent.push(visit, now).await?;
        }
        if next.is_some() {
            sent.push(Job::new(TakeUpJob { after: next, ..job.clone() }), now).await?;
        }
        sent.send().await?;
        Ok(Verdict::Done)
    }

    /// Returns the canonical name and the host key of a host that a person typed as a name or a URL.
    pub fn name(&self, host: &str) -> Result<(String, HostKey)> {
        let bad = |why: String| StageError::Job(format!("'{host}' is not a host: {why}"));
        let url = address::parse_typed(host).map_err(|e| bad(e.to_string()))?;
        let key = self.politeness.key_of(&url).map_err(|e| bad(e.to_string()))?;
        Ok((url.host_str().unwrap_or_default().to_owned(), key))
    }

    async fn change_hidden(&self, change: impl Fn(&mut Hidden)) -> Result<()> {
        let blobs = self.politeness.blobs.as_ref();
        objects::change(blobs, HIDDEN_KEY, Hidden::default, |hidden| {
            change(hidden);
            Ok(())
        })
        .await
    }
}

/// Returns visits that fetch pages as if for the first time.
pub(crate) fn first_visits(pages: Vec<Page>) -> Vec<Job> {
    let mut visits: BTreeMap<(HostKey, Option<SourceKey>), Vec<VisitItem>> = BTreeMap::new();
    for page in pages {
        let purpose = Purpose::New { hints: EntryHints::default() };
        let item = VisitItem { url: page.url, page: page.id, purpose };
        visits.entry((page.host, page.feed)).or_default().push(item);
    }
    let several = visits.iter().flat_map(|((host, feed), items)| VisitJob::several(host, feed.as_ref(), items));
    several.map(Job::new).collect()
}
