//! Reads one document of a back catalogue.

use super::lists::PageAddress;
use super::*;
use crate::feeds::feed_row;
use crate::parsing::parsed;
use crate::politeness::visit::{Fetched, KnownDocument};
use curlew_feed::Feed;
use curlew_feed::paging::usual;
use curlew_feed::sitemap::{self, SitemapLimits};
use curlew_model::Validators;
use curlew_policy::polling::backfill::FeedFacts;
use curlew_ports::{CallKind, Reply};
use std::collections::BTreeSet;

/// A document that was fetched.
#[derive(Clone, Copy)]
struct Document<'a> {
    url: &'a Url,
    kind: &'a DocumentKind,
    got: &'a Fetched,
    reply: &'a Reply,
}

impl Backfills {
    pub(super) async fn document(&self, mut row: Backfill, document: BackfillDocument, site: &Site) -> Result<Turn> {
        let politeness = self.intake.politeness.as_ref();
        let left_out = |row, why: String| {
            Turn::End(backfill::left_out(row, format!("{}: {why}", document.url), politeness.clock.now()))
        };
        let Ok(url) = address::parse(&document.url, None) else { return Ok(left_out(row, "no address".to_owned())) };
        if row.visited.contains(&address::hash64(url.as_str())) {
            return Ok(left_out(row, "it was read already".to_owned()));
        }
        let Ok(key) = politeness.key_of(&url) else { return Ok(left_out(row, "it has no host".to_owned())) };
        let mut visit = match self.open(&row, site, &key, &document.url).await? {
            Ok(visit) => visit,
            Err(turn) => return Ok(turn),
        };
        let now = self.now();
        let grant = |state| backfill::grant(state, 1, &politeness.rules, now);
        let granted = update_host(politeness.ledger.as_ref(), &key, grant).await;
        if !matches!(granted, Ok(1)) {
            visit.close().await?;
            granted?;
            return Ok(Turn::End(backfill::set_back(row, Setback::BudgetSpent, self.now())));
        }
        let kind = match document.kind {
            DocumentKind::Feed { .. } => CallKind::Feed,
            DocumentKind::Sitemap { .. } => CallKind::Sitemap,
        };
        let got = visit.get_listing(&url, kind, KnownDocument { validators: &Validators::default(), url: &url }).await;
        let held = got.as_ref().ok().and_then(|got| match &got.end {
            CallEnd::Reply(reply) => visit.url_held_until(reply, row.failures),
            _ => None,
        });
        visit.close().await?;
        let got = got?;
        row.documents = row.documents.saturating_add(1);
        let reply = match &got.end {
            CallEnd::Reply(reply) => reply,
            CallEnd::Rejected(why) => return Ok(left_out(row, why.to_string())),
            end => {
                let Some((until, why)) = waits(end) else { return Ok(left_out(row, "no answer".to_owned())) };
                return Ok(Turn::End(backfill::set_back(row, Setback::Trouble(until, why), self.now())));
            }
        };
        if let Some(until) = held {
            let why = Setback::Trouble(until, format!("{url} answered {}", reply.status));
            return Ok(Turn::End(backfill::set_back(row, why, self.now())));
        }
        if let (DocumentKind::Feed { number: 2.., .. }, 404 | 410) = (&document.kind, reply.status) {
            return Ok(Turn::End(backfill::left_out(row, backfill::ARCHIVE_READ.to_owned(), self.now())));
        }
        if reply.status != 200 {
            // A missing document, such as one at a usual address, does not replace an earlier reason.
            let known = row.outcome.clone().filter(|_| matches!(reply.status, 404 | 410));
            return Ok(match known {
                Some(why) => Turn::End(backfill::left_out(row, why, self.now())),
                None => left_out(row, format!("it answered {}", reply.status)),
            });
        }
        backfill::visit(&mut row, address::hash64(url.as_str()));
        let row = Backfill { next: None, failures: 0, ..row };
        let read = Document { url: &url, kind: &document.kind, got: &got, reply };
        match &document.kind {
            DocumentKind::Feed { feed, .. } => self.read_feed(row, read, feed, site).await,
            DocumentKind::Sitemap { depth } => self.read_sitemap(row, read, *depth, &site.home).await,
        }
    }

    async fn read_feed(&self, mut row: Backfill, document: Document<'_>, key: &SourceKey, site: &Site) -> Result<Turn> {
        let (now, Document { url, kind, got, reply }) = (self.now(), document);
        let feed = match feed_row::parse(self.intake.politeness.pool.as_ref(), reply, &got.url).await? {
            Ok(feed) => feed,
            Err(why) => return Ok(Turn::End(backfill::left_out(row, format!("{url}: {why}"), now))),
        };
        let source = self.source(&row, Some(key)).await?;
        let mut pages = self.pages_of(&row, &feed.entries, now);
        row.found = row.found.saturating_add(pages.len() as u64);
        let portion = self.portion(&row, &source, &pages, site).await?;
        let has_new = portion.sent > 0 || portion.done < pages.len();
        let links = Links::read(&feed, &source.url, kind);
        let facts = FeedFacts {
            dates: feed.entries.iter().map(|entry| entry.published.or(entry.updated)).collect(),
            content: content(&feed),
            has_new,
            is_complete: feed.paging.is_complete,
            prev_archive: links.prev_archive.as_ref(),
            next: links.next.as_ref(),
            usual: links.usual.as_ref(),
        };
        let then = backfill::older(&row, url, kind, &facts, now);
        backfill::visit(&mut row, facts.content);
        row.has_archive |= feed.paging.is_complete || matches!(kind, DocumentKind::Feed { number: 2.., .. });
        let then = then.map_err(|why| row.outcome = Some(why)).ok();
        let rest = pages.split_off(portion.done);
        let row = self.list(row, rest, &Listed::Pages(Some(key.clone())), then).await?;
        Ok(Turn::End(self.progress(row, portion.sent, 1)))
    }

    /// Parses a sitemap, and lists its pages and sitemaps for later steps.
    async fn read_sitemap(&self, mut row: Backfill, document: Document<'_>, depth: u8, home: &Url) -> Result<Turn> {
        let (now, Document { url, got, reply, .. }) = (self.now(), document);
        let (body, media, base) = (reply.body.clone(), reply.headers.content_type.clone(), got.url.clone());
        let read = move || sitemap::parse(&body, media.as_deref(), &base, &SitemapLimits::default());
        let read = parsed(self.intake.politeness.pool.as_ref(), reply.body.len(), read).await?;
        let read = read.map_err(|why| why.to_string()).and_then(|read| read.map_err(|why| why.to_string()));
        let sitemap = match read {
            Ok(sitemap) => sitemap,
            Err(why) => return Ok(Turn::End(backfill::left_out(row, format!("{url}: {why}"), now))),
        };
        if sitemap.is_cut {
            row.outcome = Some(format!("{url}: it is larger than a sitemap may be; the rest of it was left out"));
        }
        let mut known = BTreeSet::new();
        let mut is_ours = |loc: &str| {
            let url = address::parse(loc, None).ok().filter(|url| backfill::is_same_host(url, home));
            url.is_some_and(|url| known.insert(address::hash64(url.as_str())))
        };
        let believed = |stated: Option<Timestamp>| stated.and_then(|stated| backfill::date(stated, now));
        let sitemaps = sitemap.sitemaps.into_iter().filter(|_| backfill::may_descend(depth));
        let sitemaps = sitemaps.filter(|link| backfill::is_wanted(row.since, believed(link.lastmod)));
        let sitemaps = sitemaps.filter(|link| is_ours(&link.loc));
        let sitemaps = sitemaps.map(|link| PageAddress { url: link.loc, ..PageAddress::default() }).collect();
        let pages = sitemap.pages.into_iter().filter_map(|page| {
            let published = believed(page.published).or(believed(page.lastmod));
            let is_wanted = backfill::is_wanted(row.since, published) && is_ours(&page.loc);
            is_wanted.then_some(PageAddress { url: page.loc, title: page.title, published, author: None })
        });
        let pages: Vec<PageAddress> = pages.collect();
        row.found = row.found.saturating_add(pages.len() as u64);
        // The list of pages is added last, since the last list is used first.
        let row = self.list(row, sitemaps, &Listed::Sitemaps(depth.saturating_add(1)), None).await?;
        let row = self.list(row, pages, &Listed::Pages(None), None).await?;
        Ok(Turn::End(self.progress(row, 0, 1)))
    }

    fn pages_of(&self, row: &Backfill, entries: &[Entry], now: Timestamp) -> Vec<PageAddress> {
        let mut known = BTreeSet::new();
        let pages = entries.iter().filter_map(|entry| {
            let url = entry.link.clone().filter(|link| known.insert(address::hash64(link)))?;
            let dates = [entry.published, entry.updated].into_iter().flatten();
            let published = dates.filter_map(|stated| backfill::date(stated, now)).next();
            let page = PageAddress { url, title: entry.title.clone(), published, author: entry.author.clone() };
            backfill::is_wanted(row.since, published).then_some(page)
        });
        pages.collect()
    }
}

struct Links {
    prev_archive: Option<Url>,
    next: Option<Url>,
    usual: Option<Url>,
}

impl Links {
    fn read(feed: &Feed, address: &str, kind: &DocumentKind) -> Links {
        let link = |text: &Option<String>| text.as_ref().and_then(|text| address::parse(text, None).ok());
        let usual = match (feed.generator, kind, Url::parse(address)) {
            (Some(generator), DocumentKind::Feed { number, entries, .. }, Ok(first)) => {
                let entries = entries.saturating_add(u32::try_from(feed.entries.len()).unwrap_or(u32::MAX));
                usual(&first, generator, number.saturating_add(1), entries)
            }
            _ => None,
        };
        Links { prev_archive: link(&feed.paging.prev_archive), next: link(&feed.paging.next), usual }
    }
}

/// Returns a hash of the entries that a document lists, in any order.
fn content(feed: &Feed) -> u64 {
    feed.entries.iter().fold(feed.entries.len() as u64, |hash, entry| hash.wrapping_add(entry.key()))
}
