//! `curlew export` and `curlew import`. Writes OPML; `curlew_feed` reads it.

use super::blocks::explain;
use super::named::{self, LeftOut};
use crate::args::Export;
use crate::output;
use crate::world::{World, each_source};
use anyhow::Result;
use curlew_model::{FeedSource, Source, Timestamp};
use curlew_people::actions::ImportReport;
use curlew_people::audit_log::COMMAND_LINE;
use quick_xml::escape::escape;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// Internal fields of a feed's row, which exports omit; `curlew feeds list --json` prints them.
const INTERNAL: [&str; 4] = ["slot", "seen", "validators", "polling"];

pub(super) async fn export(world: &World, what: Export) -> Result<()> {
    match what {
        Export::Records(args) => crate::export::records(world, args).await,
        Export::Bulk(args) => crate::export::bulk::bulk(world, args).await,
        Export::Feeds { since } => each_feed(world, since, export_feed).await,
        Export::Opml { since } => {
            let mut feeds = Folders::new();
            each_feed(world, since, |feed| {
                if !feed.gone {
                    feeds.entry(feed.folder.clone()).or_default().push(outline(feed));
                }
                Ok(())
            })
            .await?;
            output::line(document(&feeds))
        }
        Export::Warc(args) => super::warc::export(world, args).await,
    }
}

/// Returns the canonical name of the host in a flag.
pub(crate) fn site_named(world: &World, site: Option<&str>) -> Result<Option<String>> {
    Ok(site.map(|site| world.desk.blocks.name(site).map_err(explain)).transpose()?.map(|(name, _)| name))
}

async fn each_feed(
    world: &World,
    since: Option<Timestamp>,
    mut take: impl FnMut(&FeedSource) -> Result<()>,
) -> Result<()> {
    each_source(world, |row| match row {
        Source::Feed(feed) if since.is_none_or(|since| feed.polled_at >= since) => take(feed),
        _ => Ok(()),
    })
    .await
}

fn export_feed(feed: &FeedSource) -> Result<()> {
    let mut whole = json!(feed);
    if let Value::Object(fields) = &mut whole {
        fields.retain(|name, _| !INTERNAL.contains(&name.as_str()));
    }
    output::json(&whole)
}

pub(super) async fn import_opml(world: &World, file: &Path, as_json: bool) -> Result<()> {
    let ImportReport { new, known, refused } = world.desk.actions.import(COMMAND_LINE, &named::opml(file)?).await?;
    let left_out: Vec<LeftOut> = refused.iter().map(|(url, why)| LeftOut::told("the feed", url, why)).collect();
    let line = format!(
        "{} new, {known} already known, {} skipped; each is polled at its scheduled time, within eight hours",
        output::count_are(new, "feed"),
        left_out.len()
    );
    output::answer(as_json, &json!({"new": new, "known": known, "left_out": left_out}), line)
}

type Folders = BTreeMap<Vec<String>, Vec<String>>;

/// Returns an OPML document of the feeds in their folders, without a final line break.
fn document(feeds: &Folders) -> String {
    let mut text = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <opml version=\"2.0\">\n  <head><title>Curlew</title></head>\n  <body>\n",
    );
    let indent = |depth: usize| "  ".repeat(depth + 2);
    let mut open: &[String] = &[];
    // The map's order puts a folder before its subfolders, and these before the next folder.
    for (folder, outlines) in feeds.iter().map(|(folder, outlines)| (folder.as_slice(), outlines)).chain([END]) {
        let common = open.iter().zip(folder).take_while(|(a, b)| a == b).count();
        for depth in (common..open.len()).rev() {
            text += &format!("{}</outline>\n", indent(depth));
        }
        for (depth, name) in folder.iter().enumerate().skip(common) {
            text += &format!("{}<outline text=\"{}\">\n", indent(depth), escape(clean(name)));
        }
        for outline in outlines {
            text += &format!("{}{outline}\n", indent(folder.len()));
        }
        open = folder;
    }
    text + "  </body>\n</opml>"
}

/// End of the list, which closes all open folders.
const END: (&[String], &Vec<String>) = (&[], &Vec::new());

fn outline(FeedSource { title, url, link, .. }: &FeedSource) -> String {
    let text = |text: &str| escape(clean(text)).into_owned();
    let site = link.as_ref().map(|link| format!(" htmlUrl=\"{}\"", text(link))).unwrap_or_default();
    let title = text(title.as_ref().unwrap_or(url));
    format!("<outline type=\"rss\" text=\"{title}\" xmlUrl=\"{}\"{site}/>", text(url))
}

/// Removes the characters that XML 1.0 does not allow.
fn clean(text: &str) -> String {
    text.chars().filter(|c| !c.is_control() && !matches!(c, '\u{fffe}' | '\u{ffff}')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use curlew_model::Slot;
    use curlew_policy::address;
    use url::Url;

    #[test]
    fn what_is_written_reads_back() {
        let folder = |path: &[&str]| path.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let feed = |title: &str, url: &str, link: Option<&str>| {
            let key = address::source_key(&Url::parse(url).unwrap_or_else(|e| panic!("{e}")));
            let (title, link) = (Some(title.to_owned()), link.map(str::to_owned));
            outline(&FeedSource { title, link, ..FeedSource::new(key, Slot::from_hash(0), url) })
        };
        let other = feed("Other\u{0}", "https://example.net/rss.xml", Some("https://example.net/"));
        let hens = "Hens & \"eggs\" <script>1</script>\u{1b}[31m";
        let document = document(&BTreeMap::from([
            (folder(&["A & B", "Inner"]), vec![feed(hens, "https://example.org/feed?a=1&b=2", None)]),
            (folder(&["A & B", "Other"]), vec![other.clone()]),
            (folder(&["A & B"]), vec![other.clone()]),
            (folder(&["Z", "Inner"]), vec![other.clone()]),
            (vec![], vec![other]),
        ]));
        let feeds = curlew_feed::feeds_of_opml(document.as_bytes()).unwrap_or_default();
        let folders: Vec<String> = feeds.iter().map(|feed| feed.folder.join("/")).collect();
        assert_eq!(folders, ["", "A & B", "A & B/Inner", "A & B/Other", "Z/Inner"], "{document}");
        assert_eq!(document.matches("<outline").count(), 5 + 5, "each folder once");
        let read: Vec<_> = feeds.iter().map(|feed| (feed.url.as_str(), feed.title.as_deref())).collect();
        let other = ("https://example.net/rss.xml", Some("Other"));
        let hens = ("https://example.org/feed?a=1&b=2", Some("Hens & \"eggs\" <script>1</script>[31m"));
        assert_eq!(read, [other, other, hens, other, other]);
        assert!(!document.contains("<script>"), "{document}");
    }
}
