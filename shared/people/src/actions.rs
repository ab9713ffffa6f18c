//! Actions of operators on the command line and under `/admin`, each with an entry in the audit log.

use crate::audit_log::{Act, AuditLog};
use crate::block::Blocks;
use crate::lookup::Lookup;
use crate::messages::Messages;
use crate::overrides::{OverrideEffect, Overrides, topics_named};
use crate::poll_requests::{self, PollAnswer};
use crate::suggest::{ListedFeed, NamedSource, Refusable, RefusedAddress, Suggest, SuggestError, SuggestOutcome};
use crate::watches::{Watch, WatchError, Watches};
use curlew_crawl::pages::overrides::StoredOverride;
use curlew_crawl::parsing::parsed;
use curlew_feed::OpmlFeed;
use curlew_model::{HostKey, Millis, Timestamp};
use curlew_policy::address;
use curlew_policy::politeness::admission;
use curlew_ports::stage::{Result, StageError};
use curlew_ports::{PortError, Receipt, update_host};
use curlew_screen::Verdict;
use futures::{FutureExt, TryFutureExt};
use std::collections::HashMap;
use std::sync::Arc;

const LIST: usize = 500;
const MAX_OPERATOR_HOLD: Millis = Millis::from_days(366);

/// Carries out actions of operators. In all methods, `by` is the operator's name.
pub struct Actions {
    pub(crate) blocks: Blocks,
    pub(crate) suggest: Suggest,
    /// Reads rows and jobs.
    pub lookup: Lookup,
    /// Allows and denies pages and sites.
    pub overrides: Arc<Overrides>,
    /// Messages to the operator.
    pub messages: Messages,
    /// Adds and removes watches.
    pub watches: Watches,
    /// The audit log.
    pub log: AuditLog,
}

/// Outcome of importing a list of feeds.
#[derive(Debug, Default)]
pub struct ImportReport {
    /// Number of feeds that are new.
    pub new: u64,
    /// Number of feeds that were known.
    pub known: u64,
    /// Address of each refused feed as given, and the reason.
    pub refused: Vec<(String, RefusedAddress)>,
}

/// Outcome of lifting an operator's hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HoldLift {
    /// The hold is lifted.
    Lifted,
    /// The host had no hold by the operator.
    WasNone,
    /// The host had no hold by the operator, but has a hold because of its answers until this instant.
    OthersRemain(Timestamp),
}

/// Parses an OPML list of feeds. A feed that occurs several times is returned once, with its last folder.
pub fn read_opml(bytes: &[u8]) -> Result<Vec<ListedFeed>> {
    let feeds = curlew_feed::feeds_of_opml(bytes).map_err(|e| StageError::Job(e.to_string()))?;
    let (mut listed, mut places): (Vec<ListedFeed>, HashMap<String, usize>) = Default::default();
    for OpmlFeed { url, folder, .. } in feeds {
        match places.get(&url).and_then(|place| listed.get_mut(*place)) {
            Some(_) if folder.is_empty() => {}
            Some(known) => known.folder = folder,
            None => {
                places.insert(url.clone(), listed.len());
                listed.push(ListedFeed { url, folder });
            }
        }
    }
    Ok(listed)
}

/// Returns false for [`PortError::NotFound`].
fn found(outcome: Result<(), PortError>) -> Result<bool> {
    match outcome {
        Ok(()) => Ok(true),
        Err(PortError::NotFound(_)) => Ok(false),
        Err(other) => Err(other.into()),
    }
}

fn is_new(named: &NamedSource) -> bool {
    named.outcome == SuggestOutcome::Taken
}

impl Actions {
    /// Blocks a host and all names below it; see [`Blocks::block`].
    pub async fn block(&self, by: &str, host: &str) -> Result<HostKey> {
        self.log.act(by, Act::new("block", host), self.blocks.block(host), |_| true).await
    }

    /// Lifts a block; returns true if there was one. See [`Blocks::unblock`].
    pub async fn unblock(&self, by: &str, host: &str) -> Result<bool> {
        self.log.act(by, Act::new("unblock", host), self.blocks.unblock(host), |was| *was).await
    }

    /// Puts a host key on hold for this time, at most 366 days; jobs that wait for the host are not given up.
    pub async fn hold(&self, by: &str, host: &str, length: Millis) -> Result<HostKey> {
        let key = self.blocks.name(host)?.1;
        let until = self.log.clock.now() + length.min(MAX_OPERATOR_HOLD);
        let ledger = self.lookup.politeness.ledger.as_ref();
        let act = Act { reason: format!("until {until}"), ..Act::new("hold", key.as_str()) };
        let held = update_host(ledger, &key, |state| (admission::leave_alone(state, until), ()));
        self.log.act(by, act, held.err_into(), |()| true).await?;
        Ok(key)
    }

    /// Lifts the operator's hold of a host key. A hold because of the host's answers stays.
    pub async fn lift_hold(&self, by: &str, host: &str) -> Result<HoldLift> {
        let (key, now) = (self.blocks.name(host)?.1, self.log.clock.now());
        let ledger = self.lookup.politeness.ledger.as_ref();
        let lifted = update_host(ledger, &key, |state| {
            let (state, was) = admission::end_leaving_alone(state, now);
            let rest = state.hold_at(now).map(|hold| hold.until);
            (state, (was, rest))
        });
        let act = Act::new("lift_hold", key.as_str());
        Ok(match self.log.act(by, act, lifted.err_into(), |(was, _)| *was).await? {
            (true, _) => HoldLift::Lifted,
            (false, None) => HoldLift::WasNone,
            (false, Some(until)) => HoldLift::OthersRemain(until),
        })
    }

    /// Stores a site and sends its discovery at once.
    pub async fn add_site(&self, by: &str, address: &str) -> Result<NamedSource, SuggestError> {
        let act = Act::new("add_site", &address::without_credentials(address));
        self.refusable(by, act, Box::pin(self.suggest.site(address, true)), is_new).await
    }

    /// Stores a feed and sends its first poll at once.
    pub async fn add_feed(&self, by: &str, address: &str) -> Result<NamedSource, SuggestError> {
        let act = Act::new("add_feed", &address::without_credentials(address));
        self.refusable(by, act, Box::pin(self.suggest.feed(address, true)), is_new).await
    }

    async fn refusable<T, R>(
        &self,
        by: &str,
        act: Act,
        work: impl Future<Output = Result<T, Refusable<R>>>,
        has_changed: impl Fn(&T) -> bool,
    ) -> Result<T, Refusable<R>> {
        let work = work.map(|outcome| match outcome {
            Err(Refusable::Stage(error)) => Err(error),
            other => Ok(other),
        });
        self.log.act(by, act, work, |outcome| outcome.as_ref().is_ok_and(has_changed)).await?
    }

    /// Parses a list of feeds from an untrusted source, in the pool. Fails if parsing takes too long.
    pub async fn read_list(&self, text: String) -> Result<Vec<ListedFeed>> {
        let pool = self.lookup.politeness.pool.as_ref();
        let read = parsed(pool, text.len(), move || read_opml(text.as_bytes())).await?;
        read.unwrap_or_else(|overrun| Err(StageError::Job(format!("the list cannot be used: {overrun}"))))
    }

    /// Stores the feeds of a list, each to be polled in its slot. May be repeated after an error.
    pub async fn import(&self, by: &str, feeds: &[ListedFeed]) -> Result<ImportReport> {
        let mut report = ImportReport::default();
        let mut entry = self.log.begin(by, Act::new("import", "OPML")).await?;
        let outcome = async {
            for feed in feeds {
                match self.suggest.listed_feed(feed, false).await {
                    Ok(named) if is_new(&named) => report.new += 1,
                    Ok(_) => report.known += 1,
                    Err(SuggestError::Refused(why)) => report.refused.push((feed.url.clone(), why)),
                    Err(SuggestError::Stage(error)) => return Err(error),
                }
            }
            Ok(())
        };
        let outcome = outcome.await;
        entry.set_reason(format!("{} new, {} known, {} refused", report.new, report.known, report.refused.len()));
        entry.end(outcome, |()| true).await?;
        Ok(report)
    }

    /// Requests polls of the named feeds, or of the feeds of the named sites; returns the outcome for each feed.
    pub async fn poll(&self, by: &str, names: &[String]) -> Result<Vec<PollAnswer>> {
        let mut answers = Vec::new();
        for feed in poll_requests::feeds(&self.lookup, names).await? {
            let request = poll_requests::request(&self.lookup, self.suggest.queue.as_ref(), &feed);
            answers.push(self.log.act(by, Act::new("poll", &feed.url), request, PollAnswer::is_sent).await?);
        }
        Ok(answers)
    }

    /// Allows a page (by its whole URL) or a host, limited to these topics, if any; see [`Overrides::give`].
    pub async fn allow(
        &self,
        by: &str,
        target: &str,
        topics: &[String],
        note: Option<String>,
    ) -> Result<OverrideEffect> {
        let (topics, scope) = (topics_named(topics)?, self.overrides.scope(target).await?);
        self.overrides.give(by, &scope, Verdict::Pass, topics, note).await
    }

    /// Denies a page (by its whole URL) or a host; see [`Overrides::give`].
    pub async fn deny(&self, by: &str, target: &str, note: Option<String>) -> Result<OverrideEffect> {
        let scope = self.overrides.scope(target).await?;
        self.overrides.give(by, &scope, Verdict::Reject, vec![], note).await
    }

    /// Takes an override back; returns it with the effect, or `None` if there was none. See [`Overrides::take_back`].
    pub async fn take_back_override(&self, by: &str, target: &str) -> Result<Option<(StoredOverride, OverrideEffect)>> {
        self.overrides.take_back(by, &self.overrides.scope(target).await?).await
    }

    /// Deletes a message that the operator has handled; returns true if there was one of this name.
    pub async fn close_message(&self, by: &str, name: &str) -> Result<bool> {
        self.log.act(by, Act::new("close_message", name), self.messages.close(name), |was| *was).await
    }

    /// Adds a watch; see [`Watches::add`].
    pub async fn add_watch(&self, by: &str, query: &str, to: &str, random: &[u8]) -> Result<Watch, WatchError> {
        let act = Act { reason: format!("to {}", address::without_credentials(to)), ..Act::new("watch", query) };
        self.refusable(by, act, self.watches.add(query, to, random), |_| true).await
    }

    /// Removes a watch; returns false if there is none of this name. See [`Watches::remove`].
    pub async fn remove_watch(&self, by: &str, name: &str) -> Result<bool> {
        self.log.act(by, Act::new("remove_watch", name), self.watches.remove(name), |was| *was).await
    }

    /// Puts a dead-lettered job back into its queue; returns false if there is none of this name.
    pub async fn redrive(&self, by: &str, name: &str) -> Result<bool> {
        let receipt = Receipt(name.to_owned());
        let done = async { found(self.lookup.inbox.redrive(&receipt, self.log.clock.now()).await) };
        self.log.act(by, Act::new("redrive", name), done, |was| *was).await
    }

    /// Deletes a dead-lettered job; returns false if there is none of this name.
    pub async fn discard(&self, by: &str, name: &str) -> Result<bool> {
        let receipt = Receipt(name.to_owned());
        let done = async { found(self.lookup.inbox.discard(&receipt).await) };
        self.log.act(by, Act::new("discard", name), done, |was| *was).await
    }

    /// Puts all dead-lettered jobs back into their queues; returns their number.
    pub async fn redrive_all(&self, by: &str) -> Result<u64> {
        let mut count = 0;
        let mut entry = self.log.begin(by, Act::new("redrive", "all")).await?;
        let now = self.log.clock.now();
        let outcome = async {
            loop {
                let before = count;
                for job in self.lookup.inbox.dead(LIST).await? {
                    // Another operator may put the job back at the same time.
                    count += u64::from(found(self.lookup.inbox.redrive(&job.receipt, now).await)?);
                }
                if count == before {
                    return Ok(());
                }
            }
        };
        let outcome = outcome.await;
        entry.set_reason(format!("{count} jobs"));
        entry.end(outcome, |()| count > 0).await?;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_feed_that_a_list_names_often_is_taken_once() {
        let outline = |address: &str| format!("<outline xmlUrl='{address}'/>");
        let folders = [("A", "/1"), ("B", "/2"), ("C", "/1")].map(|(name, path)| {
            format!("<outline text='{name}'>{}</outline>", outline(&format!("https://a.example{path}")))
        });
        let list = format!("<opml>{}{}</opml>", folders.concat(), outline("https://a.example/2").repeat(10_000));
        let read = read_opml(list.as_bytes()).unwrap_or_default();
        let read: Vec<_> = read.iter().map(|feed| (feed.url.as_str(), feed.folder.join("/"))).collect();
        assert_eq!(read, [("https://a.example/1", "C".to_owned()), ("https://a.example/2", "B".to_owned())]);
    }
}
