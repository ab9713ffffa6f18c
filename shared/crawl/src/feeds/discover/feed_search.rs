//! Searches for a site's feeds under one visit: the home page, the feeds that it names, the usual addresses.

use super::*;
use crate::feeds::feed_row::{ReadFeed, content_hash, learn, parse};
use crate::feeds::intake::Taken;
use crate::feeds::relocation::revived;
use crate::parsing::parsed;
use crate::politeness::visit::{CallEnd, Fetched, Visit};
use curlew_article::{Limits, decode, scan_head};
use curlew_feed::{Feed, FeedError, discover};
use curlew_model::{HoldReason, SourceKey, Timestamp, Validators, VisitJob};
use curlew_policy::polling::failure::may_try_again;
use curlew_policy::rules::MOST_USUAL_ADDRESSES;
use curlew_ports::{CallKind, Reply};
use std::collections::HashMap;

/// Usual addresses of feeds, in the order in which they are tried.
const GUESSES: [&str; MOST_USUAL_ADDRESSES] =
    ["/feed", "/feed/atom", "/rss", "/?feed=rss", "/rss.xml", "/feed.xml", "/atom.xml", "/index.xml"];

const NONE_NAMED: &str = "no feed is named on the home page or found at the usual addresses";
const NONE_WORKS: &str = "none of the feeds that the home page names works, and none is found at the usual addresses";

pub(super) enum Step {
    /// These feeds work; the others could not be tried yet, and will be polled.
    Found {
        working: Vec<SourceKey>,
        untried: Vec<Url>,
    },
    None(Failure),
    /// The site must not be crawled.
    Refused(Failure),
    /// The search waits, and then continues with `rest`.
    Later {
        until: Timestamp,
        held: bool,
        rest: Rest,
    },
    /// The search continues under the lease of the home page's host key.
    Onward(Rest),
}

/// The remaining work of a discovery, which its job stores between visits.
#[derive(Clone, Default, PartialEq, Eq)]
pub(super) struct Rest {
    pub(super) home: Option<Url>,
    /// Untried feeds of the home page; at the usual addresses, the feeds of the home page that do not work.
    links: Vec<Url>,
    next_guess: Option<u8>,
}

impl Rest {
    pub(super) fn new(job: &DiscoverJob) -> Rest {
        let url = |text: &String| address::parse(text, None).ok();
        let links = job.links.iter().filter_map(url).collect();
        Rest { home: job.home.as_ref().and_then(url), links, next_guess: job.next_guess }
    }

    pub(super) fn job(self, job: &DiscoverJob) -> DiscoverJob {
        DiscoverJob {
            home: self.home.map(String::from),
            links: self.links.into_iter().map(String::from).collect(),
            next_guess: self.next_guess,
            ..job.clone()
        }
    }
}

enum Tried {
    Works(Working),
    Useless,
    /// This address has to wait; other addresses need not.
    NotYet(Timestamp),
    /// No address can be tried any more in this visit.
    NotNow(Timestamp),
}

struct Working {
    key: SourceKey,
    format: String,
    content: u64,
    /// True if the feed lists entries, so that its content distinguishes it from other feeds.
    is_telling: bool,
    answered: Option<SourceKey>,
    read: Option<Box<Feed>>,
}

impl Working {
    fn is_at(&self, address: &SourceKey) -> bool {
        self.key == *address || self.answered.as_ref() == Some(address)
    }

    /// Returns true if another feed is the same one at another address or in another format.
    fn is_same_as(&self, other: &Working) -> bool {
        let say_the_same = (&self.format, self.content) == (&other.format, other.content);
        let list_the_same = self.read.as_ref().zip(other.read.as_ref()).is_some_and(|(a, b)| a.is_same_as(b));
        (self.is_telling && other.is_telling && say_the_same) || list_the_same
    }
}

pub(super) struct FoundFeed {
    feed: FeedSource,
    seen: Option<Version>,
    /// Visits of its entries, to be made or sent before its row is written.
    pub(super) visits: Vec<Envelope<VisitJob>>,
    for_the_hub: Option<Job>,
}

impl FoundFeed {
    pub(super) async fn write(self, intake: &Intake) -> Result<()> {
        let row = Source::Feed(self.feed);
        let is_new = match self.seen {
            Some(seen) => intake.sources.swap(seen, &row).await.map(|_| true)?,
            None => intake.sources.insert(&row).await?,
        };
        if is_new {
            intake.send_to_hub(self.for_the_hub).await?;
            intake.politeness.events.note(&Event::FeedFound);
        }
        Ok(())
    }
}

pub(super) struct FeedSearch<'s> {
    intake: &'s Intake,
    visit: &'s mut Visit,
    site: &'s mut SiteSource,
    found: Vec<FoundFeed>,
    rows: HashMap<SourceKey, Option<(FeedSource, Version)>>,
    unread: Option<String>,
}

impl<'s> FeedSearch<'s> {
    pub(super) fn new(intake: &'s Intake, visit: &'s mut Visit, site: &'s mut SiteSource) -> FeedSearch<'s> {
        FeedSearch { intake, visit, site, found: Vec::new(), rows: HashMap::new(), unread: None }
    }

    /// Continues the search; returns the next step and the new feeds, even if the search fails after finding them.
    pub(super) async fn run(mut self, start: &Url, rest: Rest) -> (Result<Step>, Vec<FoundFeed>) {
        let step = self.look(start, rest).await;
        (step, self.found)
    }

    async fn look(&mut self, start: &Url, mut rest: Rest) -> Result<Step> {
        let home = match rest.home.clone() {
            Some(home) => home,
            None => match self.home(start).await? {
                Err(step) => return Ok(step),
                Ok((home, links)) => {
                    rest = Rest { home: Some(home.clone()), links, next_guess: None };
                    if self.intake.politeness.key_of(&home).is_ok_and(|key| key != self.visit.state.host) {
                        return Ok(Step::Onward(rest));
                    }
                    home
                }
            },
        };
        if rest.next_guess.is_none() {
            match self.try_links(&rest).await? {
                Step::None(_) => rest = Rest { next_guess: Some(0), ..rest },
                step => return Ok(step),
            }
        }
        self.guess(&home, rest).await
    }

    /// Calls the home page; returns its final URL and the feeds that it names, or the step that ends the search.
    async fn home(&mut self, start: &Url) -> Result<Result<(Url, Vec<Url>), Step>> {
        let later = |until, held| Ok(Err(Step::Later { until, held, rest: Rest::default() }));
        let got = self.visit.get(start, CallKind::Home, &Validators::default()).await?;
        let reply = match &got.end {
            CallEnd::Reply(reply) => reply,
            CallEnd::Rejected(
                why @ (Rejection::Robots | Rejection::RobotsDoubted | Rejection::Blocked | Rejection::Excluded(_)),
            ) => return Ok(Err(Step::Refused(failures::of_rejection(why)))),
            CallEnd::Rejected(why) => return Ok(Err(Step::None(failures::of_rejection(why)))),
            CallEnd::Later(until) => return later(*until, false),
            CallEnd::Held(until, _) | CallEnd::Elsewhere(until) | CallEnd::Refused(until) => {
                return later(*until, true);
            }
        };
        if matches!(reply.status, 404 | 410)
            && got.url.path() == "/"
            && self.intake.politeness.key_of(&got.url).is_ok_and(|key| key == self.visit.state.host)
        {
            // A missing page below the root says nothing about the host: a wrong address must not cause a hold.
            self.visit.hold_not_found();
        }
        if let Some(until) = self.visit.url_held_until(reply, 0) {
            return later(until, true);
        }
        if let Some(vendor) = self.visit.interstitial_in(reply, &got.url).await? {
            let until = self.visit.hold_interstitial(vendor, &got.url);
            self.site.failure = Some(failures::held(HoldReason::Interstitial));
            return later(until, true);
        }
        if reply.status != 200 {
            let answered = format!("the home page answered {}", reply.status);
            return Ok(Err(Step::None(Failure::new(FailureCause::Status, answered))));
        }
        let pool = self.intake.politeness.pool.as_ref();
        if let Ok(feed) = parse(pool, reply, &got.url).await? {
            // The site's address is that of a feed.
            let key = self.keep(&got.url, &feed, reply, &got).await?;
            return Ok(Err(Step::Found { working: vec![key], untried: vec![] }));
        }
        let (body, media, url) = (reply.body.clone(), reply.headers.content_type.clone(), got.url.clone());
        let in_headers = reply.headers.links.clone();
        let read = move || {
            let seen = scan_head(&decode(&body, media.as_deref()), &url, &Limits::default());
            (seen.map(|seen| seen.image), discover(&body, media.as_deref(), &url, &in_headers))
        };
        let (image, links) = match parsed(pool, reply.body.len(), read).await? {
            Ok(read) => read,
            Err(overrun) => {
                let why = format!("the home page cannot be read: {overrun}");
                return Ok(Err(Step::None(Failure::new(FailureCause::Broken, why))));
            }
        };
        if let Ok(image) = image {
            self.site.image = image.map(String::from);
        }
        // A comment feed is used only if the site names no other feed.
        let has_articles = links.iter().any(|link| !link.of_comments);
        let links = links
            .into_iter()
            .filter(|link| !has_articles || !link.of_comments)
            .filter_map(|link| address::parse(link.url.as_str(), None).ok())
            .take(self.intake.politeness.rules.feeds_per_site)
            .collect();
        Ok(Ok((got.url, links)))
    }

    /// Validates the feeds that the home page names; the first poll and the validation are one call.
    async fn try_links(&mut self, rest: &Rest) -> Result<Step> {
        let mut working: Vec<Working> = Vec::new();
        let mut waiting: Vec<(Timestamp, Url)> = Vec::new();
        for (n, link) in rest.links.iter().enumerate() {
            match self.validate(link, &working).await? {
                Tried::Works(found) if working.iter().all(|known| known.key != found.key) => working.push(found),
                Tried::Works(_) | Tried::Useless => {}
                Tried::NotYet(until) => waiting.push((until, link.clone())),
                Tried::NotNow(until) => {
                    waiting.extend(rest.links[n..].iter().map(|link| (until, link.clone())));
                    break;
                }
            }
        }
        let until = waiting.iter().map(|(until, _)| *until).min();
        let untried = waiting.into_iter().map(|(_, link)| link).collect();
        let working: Vec<SourceKey> = working.into_iter().map(|found| found.key).collect();
        Ok(match (working.is_empty(), until) {
            (false, _) => Step::Found { working, untried },
            (true, None) => Step::None(Failure::new(FailureCause::NoFeed, NONE_WORKS)),
            // Discovery ends only with a working feed, or once every feed was tried.
            (true, Some(until)) => {
                let held = self.is_held();
                Step::Later { until, held, rest: Rest { links: untried, ..rest.clone() } }
            }
        })
    }

    async fn guess(&mut self, home: &Url, rest: Rest) -> Result<Step> {
        let guesses = GUESSES.iter().take(self.intake.politeness.rules.usual_addresses).enumerate();
        for (n, guess) in guesses.skip(usize::from(rest.next_guess.unwrap_or(0))) {
            // A link that does not work is not called again.
            let Some(url) = home.join(guess).ok().filter(|url| !rest.links.contains(url)) else { continue };
            match self.validate(&url, &[]).await? {
                Tried::Works(found) => return Ok(Step::Found { working: vec![found.key], untried: vec![] }),
                Tried::Useless => {}
                Tried::NotYet(until) | Tried::NotNow(until) => {
                    let held = self.is_held();
                    let rest = Rest { next_guess: u8::try_from(n).ok(), ..rest };
                    return Ok(Step::Later { until, held, rest });
                }
            }
        }
        let why = if rest.links.is_empty() { NONE_NAMED } else { NONE_WORKS };
        let why = self.unread.take().map_or_else(|| why.to_owned(), |unread| format!("{why}; {unread}"));
        Ok(Step::None(Failure::new(FailureCause::NoFeed, why)))
    }

    /// Returns true if the host is held for a reason that counts against the site.
    fn is_held(&self) -> bool {
        self.visit.state.learned.hold.as_ref().is_some_and(|hold| deferral::counts(hold.reason))
    }

    async fn validate(&mut self, url: &Url, found: &[Working]) -> Result<Tried> {
        let key = address::source_key(url);
        if found.iter().any(|feed| feed.is_at(&key)) {
            return Ok(Tried::Useless);
        }
        if let Some(known) = self.known(url).await? {
            // The feed was found through another site, or by an earlier run of this job.
            return Ok(Tried::Works(known));
        }
        let (rules, now) = (&self.intake.politeness.rules, self.intake.politeness.clock.now());
        if self.row(&key).await?.is_some_and(|(feed, _)| !may_try_again(&feed, rules, now)) {
            return Ok(Tried::Useless);
        }
        let got = self.visit.get(url, CallKind::Feed, &Validators::default()).await?;
        match &got.end {
            CallEnd::Reply(reply) if reply.status == 200 => {
                match parse(self.intake.politeness.pool.as_ref(), reply, &got.url).await? {
                    Ok(feed) => self.admit(url, &got, reply, feed, found).await,
                    Err(why @ FeedError::NotAFeed(_)) => {
                        tracing::debug!(%url, reason = %why, "no feed");
                        Ok(Tried::Useless)
                    }
                    Err(why) => Ok(self.note_unread(url, &why)),
                }
            }
            // A refused feed cannot be used; one on a failing server may work later.
            CallEnd::Reply(reply) if reply.status >= 500 => {
                Ok(self.visit.url_held_until(reply, 0).map_or(Tried::Useless, Tried::NotYet))
            }
            CallEnd::Rejected(why @ (Rejection::Limit(_) | Rejection::Transport(_))) => Ok(self.note_unread(url, why)),
            CallEnd::Reply(_) | CallEnd::Rejected(_) => Ok(Tried::Useless),
            CallEnd::Elsewhere(until) | CallEnd::Refused(until) => Ok(Tried::NotYet(*until)),
            CallEnd::Later(until) | CallEnd::Held(until, _) => Ok(Tried::NotNow(*until)),
        }
    }

    fn note_unread(&mut self, url: &Url, why: &dyn std::fmt::Display) -> Tried {
        self.unread.get_or_insert_with(|| format!("{url} cannot be read: {why}"));
        Tried::Useless
    }

    /// Keeps a candidate that is a feed, unless its address or its content is known.
    async fn admit(&mut self, url: &Url, got: &Fetched, reply: &Reply, feed: Feed, found: &[Working]) -> Result<Tried> {
        let answered = address::source_key(&got.url);
        if found.iter().any(|known| known.is_at(&answered)) {
            return Ok(Tried::Useless);
        }
        if got.hops > 0
            && let Some(known) = self.known(&got.url).await?
        {
            return Ok(Tried::Works(known));
        }
        // A feed that has moved permanently is kept under its new address.
        let url = if got.moved_for_good { &got.url } else { url };
        let content = content_hash(&feed, self.intake.politeness.rules.entries_per_poll);
        let (key, format) = (address::source_key(url), feed.format.as_str().to_owned());
        let (is_telling, answered) = (!feed.entries.is_empty(), Some(answered));
        let this = Working { key, format, content, is_telling, answered, read: Some(Box::new(feed)) };
        if found.iter().any(|known| known.is_same_as(&this)) {
            return Ok(Tried::Useless);
        }
        if let Some(feed) = &this.read {
            self.keep(url, feed, reply, got).await?;
        }
        Ok(Tried::Works(this))
    }

    async fn known(&mut self, url: &Url) -> Result<Option<Working>> {
        let Some((mut feed, _)) = self.row(&address::source_key(url)).await? else { return Ok(None) };
        let heir = feed.moved.as_ref().and_then(|(to, _)| Url::parse(to).ok());
        if let Some(to) = heir.filter(|_| feed.gone) {
            let Some((heir, _)) = self.row(&address::source_key(&to)).await? else { return Ok(None) };
            feed = heir;
        }
        let is_telling = !feed.seen.is_empty();
        let content = feed.polling.trust.content;
        let (answered, read) = (None, None);
        Ok((!feed.gone).then_some(Working { key: feed.key, format: feed.format, content, is_telling, answered, read }))
    }

    async fn row(&mut self, key: &SourceKey) -> Result<Option<(FeedSource, Version)>> {
        if let Some(row) = self.rows.get(key) {
            return Ok(row.clone());
        }
        let row = match self.intake.sources.get(key).await? {
            Some((Source::Feed(feed), seen)) => Some((feed, seen)),
            _ => None,
        };
        self.rows.insert(key.clone(), row.clone());
        Ok(row)
    }

    /// Keeps a working feed and processes its entries. Returns a retired feed to polling.
    async fn keep(&mut self, url: &Url, parsed: &Feed, reply: &Reply, got: &Fetched) -> Result<SourceKey> {
        let now = self.intake.politeness.clock.now();
        let (mut feed, seen) = match self.row(&address::source_key(url)).await? {
            Some((feed, seen)) => (revived(feed), Some(seen)),
            None => (new_feed(url, Some(self.site)), None),
        };
        let unvisited = self.visit.state.is_first().then_some(&self.visit.state.host);
        let trace = trace::of_discovery(&self.site.key);
        let Taken { arrivals, visits } = self.intake.take(&mut feed, parsed, unvisited, Some(&trace)).await?;
        let read = ReadFeed { parsed, reply, got, arrivals, is_check: false };
        learn(&mut feed, &read, &self.intake.politeness.rules, now);
        let key = feed.key.clone();
        let for_the_hub = self.intake.for_the_hub(&mut feed, false);
        self.found.push(FoundFeed { feed, seen, visits, for_the_hub });
        Ok(key)
    }
}
