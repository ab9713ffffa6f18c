//! Opens visits: takes the lease of a host key, if it may be called now.

use super::*;
use curlew_catalog::hidden::covering;
use curlew_policy::politeness::admission::{Admission, admit};
use curlew_policy::polling::poll_notes::NotedPoll;

impl Politeness {
    /// Requests the lease of a host key.
    pub async fn open(self: &Arc<Self>, host: &HostKey, owner: &str) -> Result<LeaseOutcome> {
        self.open_for(host, owner, self.rules.lease_length(), None).await
    }

    /// Requests a brief lease for a poll, which is lengthened if needed, and records the poll if `noted` is given.
    pub(crate) async fn open_for_poll(
        self: &Arc<Self>,
        host: &HostKey,
        owner: &str,
        noted: Option<NotedFeed<'_>>,
    ) -> Result<LeaseOutcome> {
        self.open_for(host, owner, self.rules.brief_length(), noted).await
    }

    async fn open_for(
        self: &Arc<Self>,
        host: &HostKey,
        owner: &str,
        length: Millis,
        noted: Option<NotedFeed<'_>>,
    ) -> Result<LeaseOutcome> {
        // Read before the lease is taken, so that the visit ends before the lease does according to the ledger.
        let opened = self.clock.monotonic();
        let now = self.clock.now();
        let seed = self.seeds.next();
        let waits = |reason, until: Timestamp| self.events.note(&Event::Waited { reason, time: until.since(now) });
        if let Some(until) = self.outage.put_off(now, seed) {
            waits(WaitReason::Outage, until);
            return Ok(LeaseOutcome::NotNow(NotNow::busy(until)));
        }
        let (ledger, rules) = (self.ledger.as_ref(), self.rules_for(host));
        // An eventually consistent read is cheaper. A stale one is harmless: the compare-and-swap fails.
        let (feed, first) = match noted {
            Some(NotedFeed { feed, ledger_row }) => (Some(feed), ledger_row),
            None => (None, ledger.load_eventual(host).await?),
        };
        let ((state, admission, before, poll), version) = update_host_from(ledger, host, first, |state| {
            let before = state.clone();
            let (mut next, admission) = admit(state, host, &rules, owner, length, now, seed);
            let feed = feed.filter(|_| matches!(admission, Admission::Granted(_)));
            let poll = feed.and_then(|feed| NotedPoll::note(&mut next.polled, feed, &rules, now));
            (next.clone(), (next, admission, before, poll))
        })
        .await?;
        Ok(match admission {
            Admission::Granted(lease) => {
                let (used, called) = (admission::last_use(&before), admission::last_call(&before));
                let repeats = admission::repeats(&before, owner, now);
                let (length, look_every) = (lease.until.since(now), self.look_every);
                let grant = Grant { lease, state, opened, at: now, length, look_every, used, called, repeats, poll };
                let visit = Box::new(Visit::new(self.clone(), host.clone(), grant, version));
                // A block that is made after this finds the host's row; an earlier one is in the list of blocked hosts.
                let is_blocked = match admission::is_new(&before) {
                    true => self.is_blocked_from_above(host).await,
                    false => Ok(false),
                };
                match is_blocked {
                    Ok(false) => LeaseOutcome::Granted(visit),
                    Ok(true) => LeaseOutcome::Blocked,
                    Err(error) => {
                        // If the ledger cannot be reached, the lease expires by itself.
                        let _ = visit.close().await;
                        return Err(error);
                    }
                }
            }
            Admission::NotNow(not_now) => {
                let reason = if not_now.why.is_some() { WaitReason::Hold } else { WaitReason::Lease };
                waits(reason, not_now.until);
                LeaseOutcome::NotNow(not_now)
            }
            Admission::Blocked => LeaseOutcome::Blocked,
        })
    }

    /// Returns true if a new host key lies below a blocked name, and writes the block into the key's state.
    async fn is_blocked_from_above(&self, host: &HostKey) -> Result<bool> {
        let hidden = self.hidden.now(self.blobs.as_ref()).await?;
        let Some(name) = covering(&hidden, host.as_str()) else { return Ok(false) };
        let blocked = |state| (HostState { lease: None, ..admission::block(state, name) }, ());
        update_host(self.ledger.as_ref(), host, blocked).await?;
        Ok(true)
    }
}
