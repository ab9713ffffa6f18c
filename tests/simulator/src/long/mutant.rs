//! Ports that break one rule, to check that the judge notices, and the latency of a ledger.

use super::Rule;
use async_trait::async_trait;
use curlew_model::{Hold, HoldReason, HostKey, HostState, Millis, Origin};
use curlew_ports::{Clock, HostLedger, PortError, RobotsCopy, RobotsStore, Version};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Time between the read of a row and its answer, in which other visits may change the row.
const LOOK: Millis = Millis(8);

/// A ledger that takes time, and may lack one of the rules.
pub(super) struct Ledger<L> {
    pub(super) plain: Arc<L>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) without: Option<Rule>,
}

impl<L: HostLedger> Ledger<L> {
    fn is_without(&self, rule: Rule) -> bool {
        self.without == Some(rule)
    }

    fn seen(&self, mut state: HostState) -> HostState {
        match self.without {
            Some(Rule::Hold) => state.hold = None,
            Some(Rule::UrlHold) => state.url_holds.clear(),
            Some(Rule::Rest) => state.hold = state.hold.filter(|hold| hold.reason != HoldReason::Rest),
            Some(Rule::Window) => state.visited.clear(),
            Some(Rule::HomeLook) => state.home_look = None,
            Some(Rule::Block) => state.blocked.clear(),
            _ => {}
        }
        state
    }

    /// Restores the blocks and holds that [`Ledger::seen`] hid from the program, so that they stay in the ledger.
    async fn whole(&self, host: &HostKey, mut next: HostState) -> Result<HostState, PortError> {
        if self.is_without(Rule::Block) {
            let kept: BTreeSet<String> = self.plain.load(host).await?.0.blocked;
            next.blocked.extend(kept);
        }
        if self.is_without(Rule::Hold) {
            let kept: Option<Hold> = self.plain.load(host).await?.0.hold;
            next.hold = next.hold.or(kept);
        }
        Ok(next)
    }
}

#[async_trait]
impl<L: HostLedger> HostLedger for Ledger<L> {
    async fn load(&self, host: &HostKey) -> Result<(HostState, Version), PortError> {
        let (state, version) = self.plain.load(host).await?;
        self.clock.sleep(LOOK).await;
        Ok((self.seen(state), version))
    }

    async fn swap(&self, host: &HostKey, seen: Version, next: HostState) -> Result<Version, PortError> {
        let next = self.whole(host, next).await?;
        let seen = if self.is_without(Rule::CompareAndSwap) { self.plain.load(host).await?.1 } else { seen };
        self.plain.swap(host, seen, next).await
    }
}

/// A robots.txt store whose copies have lost their text.
pub(super) struct Lenient(pub(super) Arc<dyn RobotsStore>);

#[async_trait]
impl RobotsStore for Lenient {
    async fn get(&self, origin: &Origin) -> Result<Option<RobotsCopy>, PortError> {
        let copy = self.0.get(origin).await?;
        Ok(copy.map(|copy| RobotsCopy { standing: "allow_all".to_owned(), ..copy }))
    }

    async fn put(&self, origin: &Origin, copy: &RobotsCopy) -> Result<(), PortError> {
        self.0.put(origin, copy).await
    }
}
