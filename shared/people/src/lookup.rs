//! Lists of rows and jobs for operators, in parts of bounded work.

use curlew_catalog::listing::choose_from;
use curlew_crawl::politeness::access::Politeness;
use curlew_model::{HostKey, HostState, Page, PageId, PageState, Rejection, Screened, Timestamp, is_at_or_below};
use curlew_policy::address;
use curlew_ports::stage::Result;
use curlew_ports::{Hosts, Inbox, Pages, Sources};
use std::sync::Arc;
use url::Url;

const LIST: usize = 500;
/// Maximum number of rows that are read for one part of a list.
const MOST_READ: usize = 20_000;

/// Reads rows and jobs for operators.
#[derive(Clone)]
pub struct Lookup {
    /// Provides host states, copies of robots.txt, rules and time.
    pub politeness: Arc<Politeness>,
    pub(crate) hosts: Arc<dyn Hosts>,
    pub(crate) pages: Arc<dyn Pages>,
    pub(crate) sources: Arc<dyn Sources>,
    /// Jobs.
    pub inbox: Arc<dyn Inbox>,
}

/// A part of a list.
#[derive(Clone, Debug)]
pub struct ListPart<T, K> {
    /// Rows of the part.
    pub rows: Vec<T>,
    /// Key after which the next part begins; `None` if the list has ended.
    pub next: Option<K>,
}

/// A page that content screening rejected.
#[derive(Clone, Debug)]
pub struct ScreenedPage {
    /// Address of the page.
    pub url: String,
    /// Time of the verdict.
    pub at: Timestamp,
    /// Topics of the rejection, with the words and scores that decided.
    pub why: Screened,
}

impl Lookup {
    /// Returns the state of a host, perhaps a moment old; `None` if the name is not a host name.
    pub async fn host_state(&self, host: &str) -> Result<Option<HostState>> {
        let key = Url::parse(&format!("https://{host}/")).ok().and_then(|url| self.politeness.key_of(&url).ok());
        let Some(key) = key else { return Ok(None) };
        Ok(Some(self.politeness.ledger.load_eventual(&key).await?.0))
    }

    /// Returns at most `most` host keys after `after` that are on hold or blocked, with their states.
    pub async fn held(&self, after: Option<HostKey>, most: usize) -> Result<ListPart<(HostKey, HostState), HostKey>> {
        let now = self.politeness.clock.now();
        let (mut found, mut last, mut read) = (Vec::new(), after, 0);
        loop {
            let rows = self.hosts.list(last.as_ref(), LIST).await?;
            if rows.is_empty() {
                return Ok(ListPart { rows: found, next: None });
            }
            for (host, state) in rows {
                if found.len() == most || read == MOST_READ {
                    return Ok(ListPart { rows: found, next: last });
                }
                read += 1;
                last = Some(host.clone());
                if state.hold_at(now).is_some() || !state.blocked.is_empty() {
                    found.push((host, state));
                }
            }
        }
    }

    /// Returns at most `most` pages after `after` that screening rejected and no operator has allowed since.
    pub async fn screened(
        &self,
        host: Option<&str>,
        after: Option<PageId>,
        most: usize,
    ) -> Result<ListPart<ScreenedPage, PageId>> {
        let pages = self.pages.as_ref();
        let (rows, next) = choose_from(pages, after, MOST_READ, most, |page| screened(page, host)).await?;
        Ok(ListPart { rows, next })
    }
}

fn screened(page: Page, host: Option<&str>) -> Option<ScreenedPage> {
    let PageState::Rejected { reason: Rejection::Screened(why) } = page.state else { return None };
    let is_wanted = host.is_none_or(|name| host_of(&page.url).is_some_and(|host| is_at_or_below(&host, name)));
    (is_wanted && !why.lifted).then_some(ScreenedPage { url: page.url, at: page.at, why })
}

pub(crate) fn host_of(url: &str) -> Option<String> {
    Url::parse(url).ok()?.host_str().map(str::to_owned)
}

/// Returns the canonical form of a host that a person typed to filter a list; `None` if it is not a host.
pub fn typed_host(text: &str) -> Option<String> {
    address::parse_typed(text).ok()?.host_str().map(str::to_owned)
}
