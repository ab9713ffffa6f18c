//! Leases that polls of a group share, as this process has them and as it finds those of others.

use curlew_model::{GroupLease, HostKey, Millis, Origin, PollGroup, SourceKey, Timestamp, Unchanged};
use curlew_policy::politeness::group_lease::{self, GroupUse, Taking};
use curlew_policy::robots::MAX_AGE;
use curlew_ports::stage::StageError;
use curlew_ports::{Clock, GroupLeases, PortError, RobotsCopy, Version};
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Leases of poll groups: those that this process has, and the store of all.
pub struct PollGroups {
    store: Arc<dyn GroupLeases>,
    clock: Arc<dyn Clock>,
    held: Mutex<HashMap<PollGroup, Held>>,
}

/// A lease that this process has.
struct Held {
    lease: GroupLease,
    version: Version,
    /// End of the one before it.
    before: Timestamp,
    /// Host keys that were called under it.
    used: HashMap<HostKey, HostUse>,
}

#[derive(Clone, Copy)]
enum HostUse {
    UnderWay,
    Ended(Timestamp),
}

/// A host key in use under a group's lease, until this is dropped.
pub(crate) struct GroupVisit<'a> {
    groups: &'a PollGroups,
    group: PollGroup,
    /// The group in whose lease files are noted.
    notes: PollGroup,
    host: HostKey,
    /// End of the group's lease.
    pub(crate) until: Timestamp,
    /// End of the group's lease before that.
    pub(crate) before: Timestamp,
}

impl GroupVisit<'_> {
    /// Files are noted from now on in the lease of this group of a slot, if this process has it: the group of the feed that is
    /// polled. The row of a platform is written every few minutes, and notes of its many sites would make that dear.
    pub(crate) fn note_in(&mut self, group: PollGroup) {
        self.notes = group;
    }

    /// Returns until when a robots.txt, whose copy was written then, may be used by what polls of the group have noted.
    pub(crate) fn unchanged_until(&self, origin: &Origin, written: Timestamp) -> Option<Timestamp> {
        group_lease::unchanged_until(&self.groups.held().get(&self.notes)?.lease.unchanged, origin, written)
    }

    /// Notes in the group's lease that a robots.txt has not changed since its copy was written. False if the copy has to be
    /// written instead.
    pub(crate) fn note_unchanged(&self, origin: &Origin, written: Timestamp, now: Timestamp) -> bool {
        if self.notes.is_of_platform() {
            return false;
        }
        let mut all = self.groups.held();
        let Some(held) = all.get_mut(&self.notes) else { return false };
        group_lease::note_unchanged(&mut held.lease.unchanged, origin, written, now)
    }
}

impl Drop for GroupVisit<'_> {
    fn drop(&mut self) {
        let ended = HostUse::Ended(self.groups.clock.now());
        if let Some(held) = self.groups.held().get_mut(&self.group) {
            held.used.insert(self.host.clone(), ended);
        }
    }
}

impl PollGroups {
    /// Creates the leases over a store; none is held.
    pub fn new(store: Arc<dyn GroupLeases>, clock: Arc<dyn Clock>) -> PollGroups {
        PollGroups { store, clock, held: Mutex::default() }
    }

    fn held(&self) -> MutexGuard<'_, HashMap<PollGroup, Held>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks for the lease of a group for the polls of the slot that came at `due`, of which this feed is the first.
    ///
    /// # Errors
    /// The errors of the store.
    pub(crate) async fn take(
        &self,
        group: PollGroup,
        polls: (Timestamp, &SourceKey),
        length: Millis,
    ) -> Result<Taking, StageError> {
        let now = self.clock.now();
        let (found, seen) = self.store.load(group).await?;
        let taking = group_lease::take(found.as_ref(), polls, length, now);
        let Taking::Taken(lease) = &taking else { return Ok(taking) };
        match self.store.swap(group, seen, lease.clone()).await {
            Ok(version) => {
                let before = found.map_or(Timestamp::MIN, |before| before.until);
                let held = Held { lease: lease.clone(), version, before, used: HashMap::new() };
                self.held().insert(group, held);
                Ok(taking)
            }
            Err(PortError::Conflict) => Ok(Taking::Busy(now + length)),
            Err(error) => Err(error.into()),
        }
    }

    /// Gives a lease back: all polls under it are settled, or sent on as jobs of their own.
    ///
    /// # Errors
    /// The errors of the store; the lease then runs out by itself.
    pub(crate) async fn finish(&self, group: PollGroup) -> Result<(), StageError> {
        let Some(held) = self.held().remove(&group) else { return Ok(()) };
        let finished = group_lease::finish(held.lease, self.clock.now());
        match self.store.swap(group, held.version, finished).await {
            // It ran out, and somebody else has it.
            Ok(_) | Err(PortError::Conflict) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Forgets a lease that is not given back.
    pub(crate) fn drop_held(&self, group: PollGroup) {
        self.held().remove(&group);
    }

    /// Begins to use a host key under a group's lease; `None` if this process does not have it, or has used the host key under
    /// it already.
    pub(crate) fn enter(&self, group: PollGroup, host: &HostKey) -> Option<GroupVisit<'_>> {
        let mut all = self.held();
        let held = all.get_mut(&group)?;
        if held.used.contains_key(host) {
            return None;
        }
        held.used.insert(host.clone(), HostUse::UnderWay);
        let (until, before) = (held.lease.until, held.before);
        Some(GroupVisit { groups: self, group, notes: group, host: host.clone(), until, before })
    }

    /// Returns how polls of these groups use a host key: the lease that is in force the longest, or the last end; and the files
    /// that they have noted.
    ///
    /// # Errors
    /// The errors of the store.
    pub(crate) async fn uses(&self, groups: &[PollGroup], host: &HostKey) -> Result<(GroupUse, Unchanged), StageError> {
        let (mut last, mut noted) = (GroupUse::Ended(Timestamp::MIN), Unchanged::default());
        for group in groups {
            let found = match self.own_use(*group, host) {
                Some(own) => own,
                None => match self.store.load(*group).await?.0 {
                    Some(lease) => {
                        noted = group_lease::join_notes(noted, &lease.unchanged);
                        group_lease::group_use(&lease, self.clock.now())
                    }
                    None => GroupUse::Ended(Timestamp::MIN),
                },
            };
            last = match (last, found) {
                (GroupUse::InForce(a), GroupUse::InForce(b)) => GroupUse::InForce(a.max(b)),
                (GroupUse::Ended(a), GroupUse::Ended(b)) => GroupUse::Ended(a.max(b)),
                (in_force @ GroupUse::InForce(_), _) | (_, in_force) => in_force,
            };
        }
        Ok((last, noted))
    }

    /// Returns the copy of a robots.txt with the times at which it was last asked for, and may be used until, by the notes of
    /// these groups.
    ///
    /// # Errors
    /// The errors of the store.
    pub async fn with_notes(
        &self,
        copy: RobotsCopy,
        origin: &Origin,
        groups: &BTreeSet<PollGroup>,
    ) -> Result<RobotsCopy, StageError> {
        let mut noted = Unchanged::default();
        for group in groups {
            if let Some(lease) = self.store.load(*group).await?.0 {
                noted = group_lease::join_notes(noted, &lease.unchanged);
            }
        }
        Ok(match group_lease::unchanged_until(&noted, origin, copy.fetched_at) {
            Some(fresh_until) => RobotsCopy { fetched_at: fresh_until - MAX_AGE, fresh_until, ..copy },
            None => copy,
        })
    }

    /// The use under a lease that this process has. A host key that was not used yet is free: whoever begins to use it reads
    /// the ledger after that.
    fn own_use(&self, group: PollGroup, host: &HostKey) -> Option<GroupUse> {
        let all = self.held();
        let held = all.get(&group)?;
        Some(match held.used.get(host) {
            Some(HostUse::UnderWay) => GroupUse::InForce(held.lease.until),
            Some(HostUse::Ended(at)) => GroupUse::Ended(*at),
            None => GroupUse::Ended(held.before),
        })
    }
}
