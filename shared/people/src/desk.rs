//! Entry point of this crate: handlers of all requests of site owners, readers and operators, built once.

use crate::actions::Actions;
use crate::audit_log::AuditLog;
use crate::block::Blocks;
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
use curlew_ports::stage::Result;
use curlew_ports::{Names, NoNames, Ports};
use std::sync::Arc;

/// Handlers of the requests of site owners, readers and operators.
pub struct Desk {
    /// Accepts requests of site owners, and carries them out.
    pub own: Own,
    /// Stores messages to the operator.
    pub messages: Messages,
    /// Accepts suggested sites and feeds.
    pub suggest: Suggest,
    /// Blocks and unblocks hosts.
    pub blocks: Blocks,
    /// Gives and takes back the operator's overrides.
    pub overrides: Arc<Overrides>,
    /// Carries out actions of operators, with audit log entries.
    pub actions: Arc<Actions>,
    /// Reads rows and jobs for operators.
    pub lookup: Lookup,
    /// Counts sites, feeds, pages and holds.
    pub stats: Stats,
    /// Adds watches, finds their new matches, and posts these to their receivers.
    pub watches: Watches,
}

impl Desk {
    /// Returns the desk over these ports, this crawler and this library.
    pub fn over(ports: &Ports, crawler: &Crawler, library: &Library) -> Desk {
        let Ports { pages, sources, queue, blobs, hosts, inbox, .. } = ports;
        let Crawler { backfills, sample, .. } = crawler;
        let politeness = &crawler.politeness;
        let clock = &politeness.clock;
        let log = AuditLog { blobs: blobs.clone(), clock: clock.clone() };
        let messages = Messages { blobs: blobs.clone(), clock: clock.clone() };
        let blocks = Blocks {
            politeness: politeness.clone(),
            hosts: hosts.clone(),
            pages: pages.clone(),
            queue: queue.clone(),
            limits: StepLimits::default(),
        };
        let suggest = Suggest { politeness: politeness.clone(), sources: sources.clone(), queue: queue.clone() };
        let overrides = Arc::new(Overrides {
            pages: pages.clone(),
            queue: queue.clone(),
            removal: library.removal.clone(),
            log: log.clone(),
        });
        let lookup = Lookup {
            politeness: politeness.clone(),
            hosts: hosts.clone(),
            pages: pages.clone(),
            sources: sources.clone(),
            inbox: inbox.clone(),
        };
        let watches = Watches { politeness: politeness.clone(), pages: pages.clone(), queue: queue.clone() };
        Desk {
            own: Own {
                owners: Owners {
                    politeness: politeness.clone(),
                    blocks: blocks.clone(),
                    queue: queue.clone(),
                    scheme: "https",
                },
                names: Arc::new(NoNames),
                suggest: suggest.clone(),
                removal: library.removal.clone(),
                backfills: backfills.clone(),
                sample: sample.clone(),
            },
            actions: Arc::new(Actions {
                suggest: suggest.clone(),
                watches: watches.clone(),
                lookup: lookup.clone(),
                blocks: blocks.clone(),
                overrides: overrides.clone(),
                messages: messages.clone(),
                log,
            }),
            stats: Stats(lookup.clone()),
            messages,
            suggest,
            blocks,
            overrides,
            lookup,
            watches,
        }
    }

    /// Returns the desk with this DNS resolver, so that owners can prove ownership by a TXT record.
    #[must_use]
    pub fn looking_up(self, names: Arc<dyn Names>) -> Desk {
        Desk { own: Own { names, ..self.own }, ..self }
    }

    /// Deletes expired messages and claims; returns the numbers of messages and hosts. May be repeated after an error.
    pub async fn forget(&self) -> Result<(usize, usize)> {
        let messages = self.messages.expire().await?;
        let claims = expire_claims(self.messages.blobs.as_ref(), self.messages.clock.now()).await?;
        Ok((messages, claims))
    }
}
