//! Sample: chooses indexed pages and sends visits that re-check them.

use crate::listing::pages_that;
use crate::{Manners, StageError};
use curlew_model::{HostKey, Job, Page, PageId, PageState, Purpose, VisitItem, VisitJob};
use curlew_policy::sampling;
use curlew_ports::{Pages, Queue};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Rows that one call lists.
const LIST: usize = 500;
/// Where it is kept how far the samples have come.
const PLACE: &str = "sample.json";

/// How far the samples have come.
#[derive(Serialize, Deserialize)]
struct Place {
    /// The last row that was weighed; none at the beginning of a round.
    after: Option<PageId>,
}

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
    /// At most so many, those that were left alone for the longest time; those checked less than a day ago are left out.
    AtMost(usize),
    /// As `AtMost`, and besides all that are due whose turn it is to be weighed.
    Daily(usize),
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
        let pages = self.pages.as_ref();
        let chosen = match how_many {
            HowMany::AtMost(count) => return Ok(self.some(count, false).await?.len()),
            HowMany::Daily(count) => return Ok(self.some(count, true).await?.len()),
            HowMany::All => pages_that(pages, is_accepted).await?,
            HowMany::OfHosts(hosts) => {
                pages_that(pages, |page| is_accepted(page) && hosts.contains(&page.host)).await?
            }
        };
        self.send(&chosen).await?;
        Ok(chosen.len())
    }

    /// Sends visits that re-check these pages.
    pub(crate) async fn send(&self, chosen: &[Page]) -> Result<(), StageError> {
        let now = self.manners.clock.now();
        let mut visits: BTreeMap<&HostKey, Vec<VisitItem>> = BTreeMap::new();
        for page in chosen {
            let item = VisitItem { url: page.url.clone(), page: page.id.clone(), purpose: Purpose::Recheck };
            visits.entry(&page.host).or_default().push(item);
        }
        for (host, items) in visits {
            for visit in VisitJob::several(host, None, &items) {
                self.queue.send(&[(Job::Fetch(visit), now)]).await?;
            }
        }
        Ok(())
    }

    /// Samples go round through all rows, each from where the last one ended: of the candidates that it comes by, which are
    /// more than are asked for, those are chosen that need it most. So a sample reads a small part of the rows, and yet each
    /// page has its turn.
    async fn some(&self, count: usize, all_due: bool) -> Result<Vec<Page>, StageError> {
        let (now, rules) = (self.manners.clock.now(), &self.manners.rules);
        let begin = self.place().await?;
        let mut weighed = Vec::new();
        let (mut after, mut around) = (begin.clone(), false);
        while weighed.len() < sampling::to_weigh(count) {
            let rows = self.pages.list(after.as_ref(), LIST).await?;
            let Some(last) = rows.last() else {
                if around || begin.is_none() {
                    after = None;
                    break;
                }
                (after, around) = (None, true);
                continue;
            };
            after = Some(last.id.clone());
            let met = begin.as_ref().filter(|_| around).and_then(|begin| rows.iter().position(|row| row.id == *begin));
            let rows = rows.into_iter().take(met.map_or(LIST, |at| at + 1));
            weighed.extend(rows.filter(|page| sampling::is_candidate(page, rules, now)));
            if met.is_some() {
                break;
            }
        }
        let chosen = sampling::choose(weighed, count, all_due, rules, now);
        // What is sent twice since this is not written is looked at twice; what is never sent would be left out for a round.
        self.send(&chosen).await?;
        let place = serde_json::to_vec(&Place { after }).map_err(|e| StageError::Job(e.to_string()))?;
        self.manners.blobs.put(PLACE, place.into()).await?;
        Ok(chosen)
    }

    async fn place(&self) -> Result<Option<PageId>, StageError> {
        let Some(blob) = self.manners.blobs.get(PLACE).await? else { return Ok(None) };
        // One that cannot be read is as good as none.
        Ok(serde_json::from_slice::<Place>(&blob.bytes).ok().and_then(|place| place.after))
    }
}

fn is_accepted(page: &Page) -> bool {
    matches!(page.state, PageState::Accepted { .. })
}
