//! A site's preferences about the use of its pages: content signals and licences (RSL). One licence per site is
//! requested once a day, before its pages, and stored next to its robots.txt.

use crate::parsing::parsed;
use crate::politeness::visit::{CallEnd, SiteLicense, Visit};
use bytes::Bytes;
use curlew_article::HeadScan;
use curlew_model::{HoldReason, Origin, StatedPreferences, Timestamp, Validators};
use curlew_policy::address;
use curlew_policy::politeness::deferral::ItemWait;
use curlew_policy::politeness::visit::Permission;
use curlew_policy::robots::license::{self, LicenseTerms};
use curlew_policy::robots::{LicenseAnswer, MAX_AGE, Robots, classify_license, stands_in};
use curlew_ports::stage::Result;
use curlew_ports::{CallKind, Reply, RobotsCopy};
use std::sync::Arc;
use url::Url;

/// Suffix of the key of a site's licence in the robots store; an origin ends with a port number, so keys never collide.
const LICENSE_KEY: &str = "rsl";
/// Prefix of the `standing` of a licence's copy; the address that it was fetched from follows.
const LICENSE_STANDING: &str = "rsl ";

pub(crate) enum StatedUsage {
    /// The page may be indexed; these preferences are stored with it.
    MayBeFound(StatedPreferences),
    /// The page must not be indexed, for this reason.
    Refused(String),
    /// The site's licence could not be fetched now, for this reason.
    Unknown(CallEnd),
}

type LicenseCopy = Result<RobotsCopy, CallEnd>;

impl Visit {
    /// Requests the site's licence, which is read before its pages; returns the reason if it could not be fetched now.
    pub(crate) async fn ask_site_files(&mut self, url: &Url) -> Result<Option<CallEnd>> {
        // A visit to a slow host makes one call, so a page and its licence cannot share a visit.
        let is_slow = self.state.learned.crawl_delay >= self.politeness.rules.slice;
        if let Ok(permission) = self.permission(url).await? {
            let robots = self.robots_at_hand(url).await?;
            let is_allowed = permission == Permission::Allowed;
            if is_allowed && (robots.license().is_some() || is_slow) {
                return Ok(self.license(url, &robots, None).await?.err());
            }
        }
        Ok(None)
    }

    /// Returns the preferences that the site's files, the response headers and the page (`None` after a 304) state. A
    /// refusal in any of them is heeded.
    pub(crate) async fn stated(&mut self, url: &Url, reply: &Reply, page: Option<&HeadScan>) -> Result<StatedUsage> {
        let robots = self.robots_at_hand(url).await?;
        let signals = robots.signals(url);
        if signals.search() == Some(false) {
            return Ok(StatedUsage::Refused(format!("Content-Signal: {signals}")));
        }
        let mut stated = StatedPreferences {
            content_signal: (!signals.is_silent()).then(|| signals.to_string()),
            ..StatedPreferences::default()
        };
        let page = page.filter(|_| !self.politeness.scope.meta_ignored.contains(url));
        if let Some(written) = page.map(|page| &page.rsl).filter(|rsl| !rsl.is_empty())
            && self.terms(Bytes::from(written.clone())).await?.prohibits_search(url)
        {
            return Ok(StatedUsage::Refused("the licence in the page prohibits search (RSL)".to_owned()));
        }
        let named = page.and_then(|page| page.license.clone()).or_else(|| license::linked(&reply.headers.links, url));
        match self.license(url, &robots, named.as_ref()).await? {
            Ok(Some(license)) if license.terms.prohibits_search(url) => {
                return Ok(StatedUsage::Refused(format!("the licence {} prohibits search (RSL)", license.address)));
            }
            Ok(_) => {}
            Err(end) => return Ok(StatedUsage::Unknown(end)),
        }
        stated.license = named.map(String::from).or_else(|| robots.license().map(str::to_owned));
        Ok(StatedUsage::MayBeFound(stated))
    }

    /// Returns the licence of a URL's origin: the one in robots.txt, or else the first one that a page `named` while no
    /// stored copy was fresh. For any other licence, only the address is kept.
    async fn license(
        &mut self,
        url: &Url,
        robots: &Robots,
        named: Option<&Url>,
    ) -> Result<Result<Option<SiteLicense>, CallEnd>> {
        let wanted = robots.license().and_then(|address| address::parse(address, None).ok());
        let is_slow = self.state.learned.crawl_delay >= self.politeness.rules.slice;
        let (Ok(origin), Some(key)) = (address::origin(url), license_key(url)) else { return Ok(Ok(None)) };
        if wanted.is_none() && named.is_none() && !is_slow {
            return Ok(Ok(None));
        }
        if let Some(known) = self.licenses.get(&origin) {
            return Ok(Ok(Some(known.clone())));
        }
        let old = self.politeness.robots.get(&key).await?;
        let kept = old.as_ref().and_then(|copy| copy.standing.strip_prefix(LICENSE_STANDING));
        let kept = kept.and_then(|address| address::parse(address, None).ok());
        let is_fresh = old.as_ref().is_some_and(|copy| self.politeness.is_fresh(copy));
        let address = match (wanted, named) {
            (Some(wanted), _) => wanted,
            (None, Some(named)) if !is_fresh || kept.is_none() => named.clone(),
            (None, _) => match kept.clone() {
                Some(kept) => kept,
                None => return Ok(Ok(None)),
            },
        };
        let standing = format!("{LICENSE_STANDING}{address}");
        let old = old.filter(|_| kept.as_ref() == Some(&address));
        if old.is_none() && is_slow {
            // The next visit reads here which licence to request before it calls the page.
            let now = self.politeness.clock.now();
            let unread = copy_of(standing.clone(), Bytes::new(), Timestamp::MIN, now, now);
            self.politeness.robots.put(&key, &unread).await?;
        }
        let copy = match self.license_file(&key, &address, standing, old).await? {
            Ok(copy) => copy,
            Err(end) => return Ok(Err(end)),
        };
        let license = SiteLicense { address, terms: Arc::new(self.terms(copy.body).await?) };
        self.licenses.insert(origin, license.clone());
        Ok(Ok(Some(license)))
    }

    /// Parses a licence. A licence that takes too long to parse states nothing.
    async fn terms(&self, document: Bytes) -> Result<LicenseTerms> {
        let read =
            parsed(self.politeness.pool.as_ref(), document.len(), move || LicenseTerms::parse(&document)).await?;
        Ok(read.unwrap_or_default())
    }

    /// Returns the stored copy of a licence if it is fresh; otherwise requests the licence. A licence that cannot be
    /// fetched states nothing. If the request is refused, the older copy stands in, or the pages wait.
    async fn license_file(
        &mut self,
        key: &Origin,
        file: &Url,
        standing: String,
        old: Option<RobotsCopy>,
    ) -> Result<LicenseCopy> {
        let now = self.politeness.clock.now();
        if let Some(copy) = old.clone().filter(|copy| self.politeness.is_fresh(copy)) {
            return Ok(readable(copy, now));
        }
        let got = self.get(file, CallKind::Robots, &Validators::default()).await?;
        let now = self.politeness.clock.now();
        let is_elsewhere = self.politeness.key_of(&got.url).ok().as_ref() != Some(&self.state.host);
        let nothing = (Bytes::new(), now);
        let known = old.map(|old| (old.body, old.body_at)).filter(|(_, at)| stands_in(*at, now));
        let unknown = if is_elsewhere { nothing.clone() } else { (Bytes::new(), Timestamp::MIN) };
        let (body, from, end) = match got.end {
            CallEnd::Reply(reply) => match classify_license(reply.status) {
                LicenseAnswer::Content => match self.interstitial_in(&reply, &got.url).await? {
                    None => ((reply.body, now), now, None),
                    Some(_) if is_elsewhere => (known.unwrap_or(unknown), now, None),
                    Some(vendor) => {
                        let until = self.hold_interstitial(vendor, &got.url);
                        let end = CallEnd::Held(until, HoldReason::Interstitial);
                        (known.unwrap_or(unknown), now, Some(end))
                    }
                },
                LicenseAnswer::Refused => (known.unwrap_or(unknown), now, None),
                LicenseAnswer::Absent => (nothing, now, None),
            },
            CallEnd::Rejected(_) => (nothing, now, None),
            CallEnd::Held(until, why) if ItemWait::of_host(Some(why)) == ItemWait::Refused => {
                (known.unwrap_or(unknown), now, Some(CallEnd::Held(until, why)))
            }
            // If a failing server were asked for its licence after each hold, its pages would never be called.
            CallEnd::Held(until, why) => (known.unwrap_or(nothing), until, Some(CallEnd::Held(until, why))),
            // Trouble at another host does not delay this host's pages.
            CallEnd::Elsewhere(_) | CallEnd::Refused(_) if is_elsewhere => (known.unwrap_or(nothing), now, None),
            end => return Ok(Err(end)),
        };
        let (body, body_at) = body;
        let copy = copy_of(standing, body, body_at, now, from + MAX_AGE);
        self.politeness.robots.put(key, &copy).await?;
        Ok(end.map_or_else(|| readable(copy, now), Err))
    }
}

/// Returns a copy that is recent enough to rely on, or else the time until which the pages wait.
fn readable(copy: RobotsCopy, now: Timestamp) -> LicenseCopy {
    if stands_in(copy.body_at, now) { Ok(copy) } else { Err(CallEnd::Refused(copy.fresh_until)) }
}

fn license_key(url: &Url) -> Option<Origin> {
    Origin::new(&format!("{}:{LICENSE_KEY}", address::origin(url).ok()?)).ok()
}

fn copy_of(standing: String, body: Bytes, body_at: Timestamp, now: Timestamp, fresh_until: Timestamp) -> RobotsCopy {
    RobotsCopy { standing, body, body_at, fetched_at: now, fresh_until, validators: Validators::default() }
}
