//! Sample: chooses indexed pages and sends visits that re-check them.

use crate::{Manners, StageError};
use curlew_model::{HostKey, Job, Page, PageId, Purpose, VisitItem, VisitJob};
use curlew_policy::address::hash_hex;
use curlew_policy::sampling;
use curlew_ports::{Pages, Queue};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Rows that one call lists.
const LIST: usize = 500;

/// The stage that re-checks indexed pages.
pub struct Sample {
    /// Time, chance and numbers.
    pub manners: Arc<Manners>,
    /// The rows to choose from.
    pub pages: Arc<dyn Pages>,
    /// Where visits go.
    pub queue: Arc<dyn Queue>,
}

/// How many pages to re-check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HowMany {
    /// At most so many, those checked less than a day ago left out.
    AtMost(usize),
    /// Every indexed page, now.
    All,
    /// Every indexed page of these host keys, now.
    OfHosts(Vec<HostKey>),
}

impl Sample {
    /// Chooses pages and sends their visits; says how many.
    ///
    /// # Errors
    /// What the ports say.
    pub async fn run(&self, how_many: HowMany) -> Result<usize, StageError> {
        let chosen = match how_many {
            HowMany::All => self.scan(None, usize::MAX, true, None).await?,
            HowMany::AtMost(count) => self.some(count).await?,
            HowMany::OfHosts(hosts) => {
                let mut pages = self.scan(None, usize::MAX, true, None).await?;
                pages.retain(|page| hosts.contains(&page.host));
                pages
            }
        };
        let now = self.manners.clock.now();
        let count = chosen.len();
        let mut visits: BTreeMap<HostKey, Vec<VisitItem>> = BTreeMap::new();
        for page in chosen {
            let item = VisitItem { url: page.url, page: page.id, purpose: Purpose::Recheck };
            visits.entry(page.host).or_default().push(item);
        }
        for (host, items) in visits {
            for visit in VisitJob::several(&host, None, &items) {
                self.queue.send(&[(Job::Fetch(visit), now)]).await?;
            }
        }
        Ok(count)
    }

    /// Ids are hashes, so the rows after a random one are a random sample, and reading them costs one range.
    async fn some(&self, count: usize) -> Result<Vec<Page>, StageError> {
        let start = hash_hex(&self.manners.seeds.next().to_le_bytes());
        let start = PageId::new(&start).map_err(|e| StageError::Job(e.to_string()))?;
        let mut chosen = self.scan(Some(&start), count, false, None).await?;
        if chosen.len() < count {
            // All candidates from there to the end are chosen: the rest is before the first of them.
            let met = chosen.first().map(|page| page.id.clone());
            chosen.extend(self.scan(None, count - chosen.len(), false, met.as_ref()).await?);
        }
        Ok(chosen)
    }

    async fn scan(
        &self,
        from: Option<&PageId>,
        count: usize,
        even_if_fresh: bool,
        until: Option<&PageId>,
    ) -> Result<Vec<Page>, StageError> {
        let now = self.manners.clock.now();
        let mut rules = (*self.manners.rules).clone();
        if even_if_fresh {
            rules.recheck_after = curlew_model::Millis::ZERO;
        }
        let mut chosen = Vec::new();
        let mut after = from.cloned();
        while chosen.len() < count {
            let rows = self.pages.list(after.as_ref(), LIST).await?;
            let Some(last) = rows.last() else { break };
            after = Some(last.id.clone());
            let end = until.and_then(|end| rows.iter().position(|page| page.id == *end));
            let fit = rows.into_iter().take(end.unwrap_or(LIST)).filter(|p| sampling::is_candidate(p, &rules, now));
            chosen.extend(fit.take(count - chosen.len()));
            if end.is_some() {
                break;
            }
        }
        Ok(chosen)
    }
}
