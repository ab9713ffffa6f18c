//! Sample: sends visits that re-check indexed pages, and second looks at rejected ones.

use crate::bulk::Bulk;
use crate::politeness::access::Politeness;
use curlew_catalog::listing::pages_that;
use curlew_catalog::object::json;
use curlew_model::{
    EntryHints, HostKey, Job, Page, PageId, PageState, Purpose, Rejection, SourceKey, Timestamp, VisitItem, VisitJob,
};
use curlew_policy::page::sampling;
use curlew_policy::trace;
use curlew_ports::stage::Result;
use curlew_ports::{Pages, Queue};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

const LIST: usize = 500;
/// Number of pages that are chosen at once. After each portion its visits are sent and the place is written, so that
/// the next sample continues one that is cut off.
const PORTION: usize = 10_000;
const PLACE: &str = "sample.json";

#[derive(Serialize, Deserialize)]
struct Place {
    /// The last row that was considered; none at the beginning of a round.
    after: Option<PageId>,
}

/// The stage that re-checks indexed pages.
#[derive(Clone)]
pub struct Sample {
    /// Clock and politeness rules.
    pub politeness: Arc<Politeness>,
    /// The rows to choose from.
    pub pages: Arc<dyn Pages>,
    /// Queue of visits.
    pub queue: Arc<dyn Queue>,
}

/// Number of pages to re-check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HowMany {
    /// At most this number, the least recently checked first; none that was checked less than a day ago.
    AtMost(usize),
    /// As `AtMost`, and in addition all considered pages that are due.
    Daily(usize),
    /// Every indexed page, and every rejected one that [may be looked at again](sampling::may_look_again), now.
    All,
    /// All pages of these host keys, now.
    OfHosts(Vec<HostKey>),
}

/// Numbers of pages to which a sample sends visits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sampled {
    /// Indexed pages to re-check.
    pub indexed: usize,
    /// Rejected pages that get a second look.
    pub second_looks: usize,
}

impl Sampled {
    fn with(self, chosen: &[Page]) -> Sampled {
        let indexed = chosen.iter().filter(|page| is_accepted(page)).count();
        Sampled { indexed: self.indexed + indexed, second_looks: self.second_looks + chosen.len() - indexed }
    }
}

impl Sample {
    /// Chooses pages and sends their visits; returns the numbers of pages.
    pub async fn run(&self, how_many: HowMany) -> Result<Sampled> {
        let (pages, now) = (self.pages.as_ref(), self.politeness.clock.now());
        let chosen = match how_many {
            HowMany::AtMost(count) => return self.some(count, false).await,
            HowMany::Daily(count) => return self.some(count, true).await,
            HowMany::All => pages_that(pages, |page| may_be_asked(page, now)).await?,
            HowMany::OfHosts(hosts) => {
                pages_that(pages, |page| may_be_asked(page, now) && hosts.contains(&page.host)).await?
            }
        };
        self.send(&chosen).await?;
        Ok(Sampled::default().with(&chosen))
    }

    /// Sends visits to pages: indexed ones are re-checked, and rejected ones fetched as new pages of their feeds.
    pub async fn send(&self, chosen: &[Page]) -> Result<()> {
        let now = self.politeness.clock.now();
        let mut visits: BTreeMap<(&HostKey, Option<&SourceKey>), Vec<VisitItem>> = BTreeMap::new();
        for page in chosen {
            let title = match &page.state {
                PageState::Rejected { reason: Rejection::SoftNotFound(title) } => Some(title.clone()),
                _ => None,
            };
            let (feed, purpose) = match is_accepted(page) {
                true => (None, Purpose::Recheck),
                false => (page.feed.as_ref(), Purpose::New { hints: EntryHints { title, ..EntryHints::default() } }),
            };
            let item = VisitItem { url: page.url.clone(), page: page.id.clone(), purpose };
            visits.entry((&page.host, feed)).or_default().push(item);
        }
        let mut jobs = Bulk::new(self.queue.as_ref());
        for ((host, feed), items) in visits {
            let trace = trace::of_recheck(host, now);
            for visit in VisitJob::several(host, feed, &items) {
                jobs.push(Job::new(visit).traced(Some(trace.clone())), now).await?;
            }
        }
        Ok(jobs.send().await?)
    }

    /// Scans the rows in a circle from where the last sample ended, and chooses the most urgent of more candidates than
    /// needed: a small part of the rows is read, yet each page has its turn.
    async fn some(&self, count: usize, all_due: bool) -> Result<Sampled> {
        let (now, rules) = (self.politeness.clock.now(), &self.politeness.rules);
        let place = self.politeness.blobs.get(PLACE).await?;
        // An unreadable place counts as none.
        let place: Option<Place> = place.and_then(|blob| serde_json::from_slice(&blob.bytes).ok());
        let begin = place.and_then(|place| place.after);
        let mut round = RowScan { after: begin.clone(), begin, is_around: false, is_over: false };
        let (mut left, mut sent) = (count, Sampled::default());
        while left > 0 && !round.is_over {
            let portion = left.min(PORTION);
            left -= portion;
            let mut weighed = Vec::new();
            while weighed.len() < sampling::to_weigh(portion) && !round.is_over {
                let rows = round.rows(self.pages.as_ref()).await?;
                weighed.extend(rows.into_iter().filter(|page| sampling::is_candidate(page, rules, now)));
            }
            let chosen = sampling::choose(weighed, portion, all_due, rules, now);
            // The place is written last: pages that are sent twice do no harm, but unsent ones would wait for a round.
            self.send(&chosen).await?;
            let place = Place { after: round.after.clone() };
            self.politeness.blobs.put(PLACE, json(&place)?.into()).await?;
            sent = sent.with(&chosen);
        }
        Ok(sent)
    }
}

/// A circular scan of the rows, which ends at the latest where it began.
struct RowScan {
    begin: Option<PageId>,
    after: Option<PageId>,
    /// True if the scan has passed the end of the rows and continued with the first one.
    is_around: bool,
    is_over: bool,
}

impl RowScan {
    async fn rows(&mut self, pages: &dyn Pages) -> Result<Vec<Page>> {
        let mut rows = pages.list(self.after.as_ref(), LIST).await?;
        self.after = rows.last().map(|last| last.id.clone());
        if rows.is_empty() {
            self.is_over = self.is_around || self.begin.is_none();
            self.is_around = true;
        } else if self.is_around
            && let Some(met) = rows.iter().position(|row| Some(&row.id) == self.begin.as_ref())
        {
            rows.truncate(met + 1);
            self.is_over = true;
        }
        Ok(rows)
    }
}

fn is_accepted(page: &Page) -> bool {
    matches!(page.state, PageState::Accepted { .. })
}

fn may_be_asked(page: &Page, now: Timestamp) -> bool {
    is_accepted(page) || sampling::may_look_again(page, now)
}
