//! Fetches the first new pages of a feed under the visit that has read the feed, with its lease and connection.

use crate::feeds::intake::Intake;
use crate::pages::fetch::{Fetch, VisitRest};
use crate::politeness::visit::Visit;
use curlew_model::{Envelope, PageId, Purpose, VisitItem, VisitJob};
use curlew_ports::stage::{Result, with_causes};
use std::collections::BTreeSet;

/// Maximum number of new pages of a feed's own host key that are fetched by the visit that reads the feed.
pub const FIRST_PAGES: usize = 10;

pub(crate) struct FirstPages {
    later: Vec<Envelope<VisitJob>>,
    made: Vec<(Envelope<VisitJob>, VisitRest)>,
}

impl FirstPages {
    /// Fetches the first new pages of the visit's own host key, each once; none without `fetch`.
    pub(crate) async fn fetched(fetch: Option<&Fetch>, visit: &mut Visit, jobs: Vec<Envelope<VisitJob>>) -> FirstPages {
        let Some(fetch) = fetch else { return FirstPages { later: jobs, made: Vec::new() } };
        let (mut later, mut made, mut asked) = (Vec::new(), Vec::new(), BTreeSet::new());
        for job in jobs {
            // The name of a comment feed follows from rows that are written after the visit.
            let is_named_later = job.work.feed.is_some() && job.work.named_by.is_none();
            if job.work.host != visit.state.host || is_named_later {
                later.push(job);
                continue;
            }
            let (new, rest) = divided(&job.work, FIRST_PAGES.saturating_sub(asked.len()), &asked);
            asked.extend(new.iter().map(|item| item.page.clone()));
            if !rest.is_empty() {
                later.push(job.with(VisitJob { items: rest, ..job.work.clone() }));
            }
            if new.is_empty() {
                continue;
            }
            let now = job.with(VisitJob { items: new, ..job.work.clone() });
            match fetch.under(visit, &now).await {
                Ok(left) => made.push((now, left)),
                Err(error) => {
                    let error = with_causes(&error);
                    tracing::warn!(error, host = %now.work.host, "new pages could not be fetched at once");
                    later.push(now);
                }
            }
        }
        FirstPages { later, made }
    }

    /// Sends the remaining jobs, once the lease is given back.
    pub(crate) async fn send(self, fetch: Option<&Fetch>, intake: &Intake) -> Result<()> {
        if let Some(fetch) = fetch {
            for (job, left) in self.made {
                fetch.leave(&job, left).await?;
            }
        }
        intake.send(self.later).await
    }
}

/// Splits items into at most `room` new pages to fetch now, and the rest; re-checks have visits of their own.
fn divided(job: &VisitJob, room: usize, asked: &BTreeSet<PageId>) -> (Vec<VisitItem>, Vec<VisitItem>) {
    let is_new = |item: &VisitItem| matches!(item.purpose, Purpose::New { .. });
    let items = job.items.iter().filter(|item| !(is_new(item) && asked.contains(&item.page))).cloned();
    let (mut new, mut rest): (Vec<_>, Vec<_>) = items.partition(is_new);
    rest.splice(0..0, new.split_off(room.min(new.len())));
    (new, rest)
}
