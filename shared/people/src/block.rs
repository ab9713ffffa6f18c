//! Blocks: a blocked host is not called any more and its pages are not found, both from the next call and query on.
//!
//! A block is a field of the state of each host key that it covers, since every call reads that state. Most names lie
//! below one host key. Below a public suffix, or a platform that is split, there are many: the block is written to all
//! known ones, and a host key that is visited for the first time is checked against the list (`Politeness::open`).

use crate::erasure::StepLimits;
use curlew_catalog::hidden::{HIDDEN_KEY, Hidden, covering, hidden, is_on, parse};
use curlew_catalog::listing::{choose_from, each_host};
use curlew_catalog::object;
use curlew_crawl::bulk::Bulk;
use curlew_model::{
    EntryHints, HostKey, HostState, Job, Millis, Page, Purpose, SourceKey, TakeUpJob, VisitItem, VisitJob,
    is_at_or_below,
};
use curlew_policy::address::{self, HostGroups};
use curlew_policy::politeness::admission;
use curlew_ports::stage::{StageError, Verdict};
use curlew_ports::{Blobs, Clock, HostLedger, Hosts, Pages, PortError, Queue, SWAP_TRIES, update_host};
use futures::FutureExt;
use futures::future::BoxFuture;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Delay of the job that takes up the pages that a block has kept out: it is sent before the block is lifted, and its
/// visits must not meet it.
const LIFTED_WITHIN: Millis = Millis::from_secs(15);

/// Blocks and unblocks hosts.
#[derive(Clone)]
pub struct Blocks {
    /// Host states, which the next call reads.
    pub ledger: Arc<dyn HostLedger>,
    /// Known host keys, to find those below a name.
    pub hosts: Arc<dyn Hosts>,
    /// Rows of pages, to find those that a block has kept out.
    pub pages: Arc<dyn Pages>,
    /// Takes the jobs that send visits to these pages.
    pub queue: Arc<dyn Queue>,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Store of the list of blocked hosts, which the next query reads.
    pub blobs: Arc<dyn Blobs>,
    /// Rules that decide which names count as one host.
    pub groups: Arc<HostGroups>,
    /// Limits of one step that takes up pages.
    pub limits: StepLimits,
}

/// Says whether a block is still to be lifted.
pub(crate) type Condition<'c> = &'c (dyn Fn() -> BoxFuture<'c, Result<bool, StageError>> + Send + Sync);

/// Origin of a host's block, if there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockedBy {
    /// Nobody.
    Nobody,
    /// An owner, who may lift the block.
    Owner,
    /// The operator, by this host's name or a name above it.
    Operator,
}

impl Blocks {
    /// Blocks a host and all names below it; returns its host key.
    ///
    /// # Errors
    /// [`StageError`] if the name is no host, or any error of the ports.
    pub async fn block(&self, host: &str) -> Result<HostKey, StageError> {
        // From now on the block is the operator's, and no owner can lift it.
        self.block_in(host, |hidden, name| hidden.hosts.insert(name.clone()) | hidden.by_owner.remove(name)).await
    }

    /// Blocks a host for its owner, who may lift the block. A block by the operator stays one.
    ///
    /// # Errors
    /// As for [`Blocks::block`].
    pub async fn block_for_owner(&self, host: &str) -> Result<HostKey, StageError> {
        let change = |hidden: &mut Hidden, name: &String| {
            let is_new = hidden.hosts.insert(name.clone());
            is_new && hidden.by_owner.insert(name.clone())
        };
        self.block_in(host, change).await
    }

    async fn block_in(&self, host: &str, change: impl Fn(&mut Hidden, &String) -> bool) -> Result<HostKey, StageError> {
        let (name, key) = self.name(host)?;
        update_host(self.ledger.as_ref(), &key, |s| (admission::block(s, &name), ())).await?;
        self.change_hidden(|hidden| change(hidden, &name)).await?;
        self.block_rows(&name, &key).await?;
        Ok(key)
    }

    /// Blocks a name that is on the list in the rows of all host keys that it covers. A host key that becomes known
    /// later is checked against the list; the own one may have been unblocked by an earlier request that came to its
    /// end in between.
    async fn block_rows(&self, name: &str, own: &HostKey) -> Result<(), StageError> {
        for key in self.keys_below(name, own).await?.iter().chain([own]) {
            self.rewrite(key, |state| (admission::block(state, name), ()), None).await?;
        }
        Ok(())
    }

    /// Changes a row from the state that it has, unless the condition no longer holds once that is read. The row is
    /// written even if nothing in it changes: so of two with opposite requests, the one that has read it before the
    /// other wrote it is refused, and reads again.
    async fn rewrite<T>(
        &self,
        key: &HostKey,
        change: impl Fn(HostState) -> (HostState, T),
        condition: Option<Condition<'_>>,
    ) -> Result<Option<T>, StageError> {
        for _ in 0..SWAP_TRIES {
            let (state, seen) = self.ledger.load(key).await?;
            if let Some(condition) = condition
                && !condition().await?
            {
                return Ok(None);
            }
            let (next, answer) = change(state);
            match self.ledger.swap(key, seen, next).await {
                Ok(_) => return Ok(Some(answer)),
                Err(PortError::Conflict) => {}
                Err(other) => return Err(other.into()),
            }
        }
        Err(PortError::Conflict.into())
    }

    /// Lifts a block, and has a job take up the pages that were not fetched because of it or because the host was
    /// unreachable; returns true if there was a block.
    ///
    /// # Errors
    /// [`StageError`] if the name is no host, or any error of the ports; the call may then be repeated.
    pub async fn unblock(&self, host: &str) -> Result<bool, StageError> {
        let (name, _) = self.name(host)?;
        let is_off = || async { Ok(!hidden(self.blobs.as_ref()).await?.hosts.contains(&name)) }.boxed();
        self.unblock_if(host, &is_off).await
    }

    async fn unblock_if(&self, host: &str, condition: Condition<'_>) -> Result<bool, StageError> {
        let (name, key) = self.name(host)?;
        self.change_hidden(|hidden| hidden.hosts.remove(&name) | hidden.by_owner.remove(&name)).await?;
        let mut was = false;
        let lift = |state| admission::unblock(state, &name);
        for below in self.keys_below(&name, &key).await? {
            was |= self.rewrite(&below, lift, Some(condition)).await?.unwrap_or_default();
        }
        // Last, so that a repeated run still finds the host blocked.
        let known = self.ledger.load(&key).await?.0.blocked.contains(&name);
        if was || known {
            let job = Job::new(TakeUpJob { host: name.clone(), after: None });
            self.queue.send(&[(job, self.clock.now() + LIFTED_WITHIN)]).await?;
        }
        Ok(was | self.rewrite(&key, lift, Some(condition)).await?.unwrap_or_default())
    }

    /// Turns the reading of a host's back catalogue off or on, from the next step on.
    ///
    /// # Errors
    /// As for [`Blocks::block`].
    pub async fn turn_history(&self, host: &str, off: bool) -> Result<(), StageError> {
        let (name, _) = self.name(host)?;
        self.change_hidden(|hidden| match off {
            true => hidden.without_history.insert(name.clone()),
            false => hidden.without_history.remove(&name),
        })
        .await
    }

    /// True if a host's owner, or that of a name above it, has turned the reading of its back catalogue off.
    ///
    /// # Errors
    /// Any error of the ports.
    pub async fn is_without_history(&self, host: &str) -> Result<bool, StageError> {
        let hidden = hidden(self.blobs.as_ref()).await?;
        Ok(covering(&hidden.without_history, host).is_some())
    }

    /// Returns the origin of a host's block, by its own name or by one above it.
    ///
    /// # Errors
    /// Any error of the ports.
    pub async fn blocked_by(&self, host: &str) -> Result<BlockedBy, StageError> {
        let hidden = hidden(self.blobs.as_ref()).await?;
        let blocking: Vec<&String> = hidden.hosts.iter().filter(|name| is_at_or_below(host, name)).collect();
        Ok(match blocking.iter().all(|name| hidden.by_owner.contains(*name)) {
            _ if blocking.is_empty() => BlockedBy::Nobody,
            true => BlockedBy::Owner,
            false => BlockedBy::Operator,
        })
    }

    /// Lifts a block for the host's owner, unless it is the operator's; returns true if there is none now.
    ///
    /// # Errors
    /// As for [`Blocks::unblock`].
    pub(crate) async fn unblock_for_owner(&self, host: &str, condition: Condition<'_>) -> Result<bool, StageError> {
        if self.blocked_by(host).await? == BlockedBy::Operator {
            return Ok(false);
        }
        self.unblock_if(host, condition).await?;
        Ok(true)
    }

    /// Returns the known host keys at or below a name, except `own`, the key that the name itself counts under.
    async fn keys_below(&self, name: &str, own: &HostKey) -> Result<Vec<HostKey>, StageError> {
        let mut found = vec![];
        if !address::has_keys_below(name, &self.groups) {
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

    /// Sends visits for pages of a host, among the next rows, that were rejected for a reason that no longer holds; and
    /// then the job that goes on after these rows, if rows are left.
    ///
    /// # Errors
    /// Any error of the ports; the job may then be run again.
    pub async fn take_up(&self, job: &TakeUpJob) -> Result<Verdict, StageError> {
        if self.blocked_by(&job.host).await? != BlockedBy::Nobody {
            return Ok(Verdict::Drop("the host is blocked again".into()));
        }
        let StepLimits { rows, pages, .. } = self.limits;
        let choose = |page: Page| Some(page).filter(|page| page.state.may_be_taken_up() && is_on(&page.url, &job.host));
        let (chosen, next) = choose_from(self.pages.as_ref(), job.after.clone(), rows, pages, choose).await?;
        let mut visits: BTreeMap<(HostKey, Option<SourceKey>), Vec<VisitItem>> = BTreeMap::new();
        for page in chosen {
            let purpose = Purpose::New { hints: EntryHints::default() };
            let item = VisitItem { url: page.url, page: page.id, purpose };
            visits.entry((page.host, page.feed)).or_default().push(item);
        }
        let (now, mut sent) = (self.clock.now(), Bulk::new(self.queue.as_ref()));
        for visit in visits.iter().flat_map(|((host, feed), items)| visits_to(host, feed.as_ref(), items)) {
            sent.push(visit, now).await?;
        }
        if next.is_some() {
            sent.push(Job::new(TakeUpJob { after: next, ..job.clone() }), now).await?;
        }
        sent.send().await?;
        Ok(Verdict::Done)
    }

    /// Returns the canonical name of the host that a person typed, as a name or a URL, and its host key.
    ///
    /// # Errors
    /// [`StageError::Job`] if it is no host.
    pub fn name(&self, host: &str) -> Result<(String, HostKey), StageError> {
        let bad = |why: String| StageError::Job(format!("'{host}' is not a host: {why}"));
        let url = address::parse_typed(host).map_err(|e| bad(e.to_string()))?;
        let key = address::host_key(&url, &self.groups).map_err(|e| bad(e.to_string()))?;
        Ok((url.host_str().unwrap_or_default().to_owned(), key))
    }

    async fn change_hidden(&self, change: impl Fn(&mut Hidden) -> bool) -> Result<(), StageError> {
        object::change(self.blobs.as_ref(), HIDDEN_KEY, |bytes| {
            let mut hidden = bytes.map(parse).transpose()?.unwrap_or_default();
            let next = change(&mut hidden).then(|| object::json(&hidden)).transpose()?;
            Ok((next, ()))
        })
        .await
    }
}

/// Returns visits to pages of one host key that came from one feed.
pub(crate) fn visits_to(host: &HostKey, feed: Option<&SourceKey>, items: &[VisitItem]) -> impl Iterator<Item = Job> {
    VisitJob::several(host, feed, items).map(Job::new)
}
