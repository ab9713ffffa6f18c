//! Import: pages that somebody else fetched are processed like our own, from the head scan on, without a call.

use crate::pages::extract::Extract;
use crate::pages::fetch::canonical_link;
use crate::pages::{NotTaken, rejected_apart, scanned};
use crate::politeness::access::Politeness;
use crate::worker::PageJob;
use bytes::Bytes;
use curlew_catalog::frames::compressed;
use curlew_catalog::hidden::{hidden_hosts, is_hidden};
use curlew_model::{
    Exchange, ExtractJob, HostState, PageBody, PageId, PageState, Rejection, StatedPreferences, Timestamp, Validators,
};
use curlew_policy::address;
use curlew_policy::page::directives::robots_tag_lines;
use curlew_policy::polling::conditional;
use curlew_policy::robots::license::{LicenseTerms, linked};
use curlew_ports::stage::Result;
use curlew_ports::update_host;
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

/// Header lines that describe the body as sent over the wire.
const OF_WIRE: [&str; 3] = ["content-encoding", "transfer-encoding", "content-length"];
/// Maximum bytes of header lines that are stored with a raw page.
const MAX_HEAD: usize = 32 << 10;

/// A page that somebody else fetched: the answer to a GET with status 200.
#[derive(Clone, Debug)]
pub struct ForeignPage {
    /// The URL that answered.
    pub url: String,
    /// The time of the answer.
    pub fetched_at: Timestamp,
    /// Header lines of the answer, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body, decoded, in its own charset.
    pub body: Bytes,
}

impl ForeignPage {
    fn every(&self, name: &str) -> Vec<String> {
        self.headers.iter().filter(|(known, _)| known == name).map(|(_, value)| value.clone()).collect()
    }

    fn first(&self, name: &str) -> Option<String> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
    }
}

/// Outcome of the import of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImportOutcome {
    /// The page is accepted.
    Accepted,
    /// The page was known already, accepted or not.
    Known,
    /// The page is not accepted, for this reason.
    Rejected(Rejection),
}

/// Imports pages that somebody else fetched.
pub struct ForeignPages<'a> {
    /// Makes the records.
    pub extract: &'a Extract,
    /// Settings about hosts and addresses, and the address guard.
    pub politeness: &'a Arc<Politeness>,
    /// True if pages are kept raw.
    pub keeps_raw: bool,
}

impl ForeignPages<'_> {
    /// Imports pages, whose records share a segment; returns one outcome per page, in order. Known pages do not change,
    /// so an import may be repeated; after an error, pages that were accepted before it stay.
    pub async fn take(&self, pages: Vec<ForeignPage>) -> Result<Vec<ImportOutcome>> {
        let blocked = hidden_hosts(self.extract.blobs.as_ref()).await?;
        let (mut outcomes, mut jobs, mut seen) = (Vec::new(), Vec::new(), HashSet::new());
        for page in pages {
            let outcome = match rejected_apart(self.job(&page, &blocked).await)? {
                Ok(job) if !seen.insert(job.page.clone()) || self.is_known(&job.page).await? => ImportOutcome::Known,
                Ok(job) => {
                    jobs.push((outcomes.len(), PageJob::new(job)));
                    ImportOutcome::Accepted
                }
                Err(why) => ImportOutcome::Rejected(why),
            };
            outcomes.push(outcome);
        }
        let (places, jobs): (Vec<usize>, Vec<PageJob>) = jobs.into_iter().unzip();
        // Noted before the rows are written: without the note, the first visit to a host does not look up its rows.
        for host in jobs.iter().map(|job| &job.work.host).collect::<BTreeSet<_>>() {
            let noted = |state| (HostState { has_imports: true, ..state }, ());
            update_host(self.politeness.ledger.as_ref(), host, noted).await?;
        }
        for verdict in self.extract.run_batch(&jobs).await {
            verdict?;
        }
        for (place, job) in places.into_iter().zip(jobs) {
            outcomes[place] = match self.extract.pages.get(&job.work.page).await?.map(|(row, _)| row.state) {
                Some(PageState::Accepted { .. }) => ImportOutcome::Accepted,
                Some(PageState::Rejected { reason }) => ImportOutcome::Rejected(reason),
                _ => ImportOutcome::Known,
            };
        }
        Ok(outcomes)
    }

    async fn is_known(&self, page: &PageId) -> Result<bool> {
        let row = self.extract.pages.get(page).await?;
        Ok(row.is_some_and(|(row, _)| !row.state.may_be_taken_up()))
    }

    /// Returns the job of a page's extraction, or the reason for which fetching would have rejected the page.
    async fn job(&self, page: &ForeignPage, blocked: &BTreeSet<String>) -> Result<ExtractJob, NotTaken> {
        let politeness = self.politeness;
        let url = address::parse(&page.url, None).map_err(|why| Rejection::Address(why.to_string()))?;
        politeness.fetch.vet(url.as_str()).map_err(Rejection::Address)?;
        let content_type = page.first("content-type");
        let pool = politeness.pool.as_ref();
        let (_, head) = scanned(pool, page.body.clone(), content_type.clone(), &url).await?;
        let answered = address::canonical(&url);
        let known_as = canonical_link(politeness, &answered, head.canonical.as_ref()).unwrap_or(answered);
        for url in [&url, &known_as] {
            if let Some(rule) = politeness.scope.excludes(url) {
                return Err(Rejection::Excluded(rule.to_string()).into());
            }
            if is_hidden(blocked, url.as_str()) {
                return Err(Rejection::Blocked.into());
            }
        }
        // The site's robots.txt and licence are not requested.
        let heeded = Some(&head).filter(|_| !politeness.scope.meta_ignored.contains(&url));
        if heeded.is_some_and(|head| LicenseTerms::parse(head.rsl.as_bytes()).prohibits_search(&url)) {
            let why = "the licence in the page prohibits search (RSL)";
            return Err(Rejection::Preference(why.to_owned()).into());
        }
        let license = heeded.and_then(|head| head.license.clone()).or_else(|| linked(&page.every("link"), &url));
        let preferences = StatedPreferences { license: license.map(String::from), ..StatedPreferences::default() };
        let host = politeness.key_of(&known_as).map_err(|why| Rejection::Address(why.to_string()))?;
        let packed = compressed(&page.body)?;
        let robots_tags = [page.every("x-robots-tag"), robots_tag_lines(&page.every("robots-tag"))].concat();
        let validators = Validators { etag: page.first("etag"), last_modified: page.first("last-modified") };
        let (id, body) = (address::page_id(&known_as), PageBody::Inline(packed.into()));
        let (fetched_at, validators) =
            (page.fetched_at.min(politeness.clock.now()), conditional::for_page(&validators));
        let exchange = self.keeps_raw.then(|| exchange(page));
        let job = ExtractJob::new(id, host, known_as.into(), url.into(), body, fetched_at);
        Ok(ExtractJob { content_type, robots_tags, preferences, validators, exchange, ..job })
    }
}

/// Returns the head of the answer. The request was not ours and is left empty.
fn exchange(page: &ForeignPage) -> Exchange {
    let mut response = "HTTP/1.1 200 OK\r\n".to_owned();
    for (name, value) in page.headers.iter().filter(|(name, _)| !OF_WIRE.contains(&name.as_str())) {
        if response.len() + name.len() + value.len() <= MAX_HEAD {
            let value = value.replace(char::is_control, " ");
            response.push_str(&format!("{name}: {value}\r\n"));
        }
    }
    Exchange { request: String::new(), response }
}
