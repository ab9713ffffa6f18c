//! The door of the desk: everything that owners of sites, readers and operators ask for, built once.

use crate::actions::Actions;
use crate::audit_log::AuditLog;
use crate::block::Blocks;
use crate::deliver::Deliver;
use crate::erasure::StepLimits;
use crate::lookup::Lookup;
use crate::messages::Messages;
use crate::overrides::Overrides;
use crate::owner_jobs::Own;
use crate::ownership::{Owners, expire_claims};
use crate::stats::Stats;
use crate::suggest::Suggest;
use crate::watches::Watches;
use curlew_catalog::library::Library;
use curlew_crawl::crawler::Crawler;
use curlew_crawl::politeness::access::Politeness;
use curlew_ports::stage::StageError;
use curlew_ports::{Names, NoNames, Ports};
use std::sync::Arc;

/// Everything that people ask for.
pub struct Desk {
    /// Does what owners of sites ask for.
    pub own: Own,
    /// Takes the requests of owners of sites.
    pub owners: Owners,
    /// Takes messages.
    pub messages: Messages,
    /// Takes suggestions.
    pub suggest: Suggest,
    /// Blocks and unblocks hosts.
    pub blocks: Blocks,
    /// The operator's overrides.
    pub overrides: Arc<Overrides>,
    /// Acts of operators.
    pub actions: Arc<Actions>,
    /// Views of rows and jobs, for operators.
    pub lookup: Lookup,
    /// Counts what there is.
    pub stats: Stats,
    /// Adds watches, and finds their new matches.
    pub watches: Watches,
    /// Brings new matches to their receivers.
    pub deliver: Deliver,
}

impl Desk {
    /// Returns the desk over these ports, before this crawler and this library.
    pub fn over(ports: &Ports, crawler: &Crawler, library: &Library) -> Desk {
        let Ports { pages, sources, queue, blobs, .. } = ports;
        let Crawler { politeness, backfills, sample, .. } = crawler;
        let Politeness { clock, rules, groups, scope, pool, fetch, .. } = &**politeness;
        let removal = library.removal.clone();
        let blocks = Blocks {
            ledger: ports.ledger.clone(),
            hosts: ports.hosts.clone(),
            pages: pages.clone(),
            queue: queue.clone(),
            clock: clock.clone(),
            blobs: blobs.clone(),
            groups: groups.clone(),
            limits: StepLimits::default(),
        };
        let suggest = Suggest {
            sources: sources.clone(),
            blobs: blobs.clone(),
            fetch: fetch.clone(),
            queue: queue.clone(),
            clock: clock.clone(),
            scope: scope.clone(),
            groups: groups.clone(),
        };
        let messages = Messages { blobs: blobs.clone(), clock: clock.clone() };
        let overrides =
            Arc::new(Overrides::new(pages.clone(), blobs.clone(), queue.clone(), clock.clone(), removal.clone()));
        let lookup = Lookup {
            politeness: politeness.clone(),
            hosts: ports.hosts.clone(),
            pages: pages.clone(),
            sources: sources.clone(),
            inbox: ports.inbox.clone(),
        };
        let watches = Watches {
            blobs: blobs.clone(),
            queue: queue.clone(),
            fetch: fetch.clone(),
            clock: clock.clone(),
            pool: pool.clone(),
        };
        let actions = Arc::new(Actions {
            suggest: suggest.clone(),
            watches: watches.clone(),
            lookup: lookup.clone(),
            queue: queue.clone(),
            blocks: blocks.clone(),
            overrides: overrides.clone(),
            messages: messages.clone(),
            inbox: ports.inbox.clone(),
            clock: clock.clone(),
            log: AuditLog { blobs: blobs.clone(), clock: clock.clone() },
        });
        Desk {
            own: Own {
                politeness: politeness.clone(),
                names: Arc::new(NoNames),
                blobs: blobs.clone(),
                pages: pages.clone(),
                sources: sources.clone(),
                queue: queue.clone(),
                blocks: blocks.clone(),
                suggest: suggest.clone(),
                removal,
                backfills: backfills.clone(),
                sample: sample.clone(),
                limits: StepLimits::default(),
                scheme: "https",
            },
            owners: Owners {
                blobs: blobs.clone(),
                ledger: ports.ledger.clone(),
                robots: ports.robots.clone(),
                blocks: blocks.clone(),
                queue: queue.clone(),
                fetch: fetch.clone(),
                clock: clock.clone(),
                rules: rules.clone(),
                token: politeness.token.clone(),
                scheme: "https",
                pool: pool.clone(),
            },
            messages,
            suggest,
            blocks,
            overrides,
            actions,
            lookup,
            stats: Stats {
                pages: pages.clone(),
                sources: sources.clone(),
                hosts: ports.hosts.clone(),
                blobs: blobs.clone(),
                clock: clock.clone(),
            },
            watches,
            deliver: Deliver {
                politeness: politeness.clone(),
                blobs: blobs.clone(),
                pages: pages.clone(),
                queue: queue.clone(),
            },
        }
    }

    /// Returns the desk with this resolver of names, so that owners can prove by a TXT record that a site is theirs.
    #[must_use]
    pub fn looking_up(self, names: Arc<dyn Names>) -> Desk {
        Desk { own: Own { names, ..self.own }, ..self }
    }

    /// Forgets messages and claims whose time is over; returns their numbers.
    ///
    /// # Errors
    /// The errors of the ports; the next call tries again.
    pub async fn forget(&self) -> Result<(usize, usize), StageError> {
        let messages = self.messages.expire().await?;
        let claims = expire_claims(self.messages.blobs.as_ref(), self.messages.clock.now()).await?;
        Ok((messages, claims))
    }
}
