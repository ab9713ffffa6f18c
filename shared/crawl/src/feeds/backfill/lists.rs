//! Stores lists of addresses for later steps, so that a sitemap of 50,000 pages is called once and not every day.

use super::*;
use curlew_catalog::frames::compressed;
use curlew_catalog::object::json;
use serde::{Deserialize, Serialize};

/// Prefix of the keys of lists; the key of the backfill follows.
const PREFIX: &str = "backfill/";
/// Maximum number of addresses in one object.
const TOGETHER: usize = 5_000;
/// Number of objects that one request lists when lists are erased.
const AT_ONCE: usize = 1_000;
const TITLE_CHARS: usize = 300;
/// Maximum decompressed size of an object in bytes: [`TOGETHER`] addresses with the longest titles.
const UNPACK_LIMIT: usize = 32 * 1024 * 1024;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct PageAddress {
    #[serde(rename = "u")]
    pub(super) url: String,
    #[serde(rename = "t", default, skip_serializing_if = "Option::is_none")]
    pub(super) title: Option<String>,
    #[serde(rename = "p", default, skip_serializing_if = "Option::is_none")]
    pub(super) published: Option<Timestamp>,
    #[serde(rename = "a", default, skip_serializing_if = "Option::is_none")]
    pub(super) author: Option<String>,
}

impl PageAddress {
    pub(super) fn entry(&self) -> Entry {
        Entry {
            id: self.url.clone(),
            title: self.title.clone(),
            title_html: None,
            link: Some(self.url.clone()),
            published: self.published,
            updated: None,
            author: self.author.clone(),
            summary: None,
            content: None,
            tags: Vec::new(),
        }
    }
}

impl Backfills {
    /// Stores addresses for later steps, to be used before the existing lists; the document `then` follows them.
    pub(super) async fn list(
        &self,
        mut row: Backfill,
        mut addresses: Vec<PageAddress>,
        of: &Listed,
        then: Option<BackfillDocument>,
    ) -> Result<Backfill> {
        if addresses.is_empty() {
            row.next = then;
            return Ok(row);
        }
        for title in addresses.iter_mut().filter_map(|address| address.title.as_mut()) {
            if let Some((end, _)) = title.char_indices().nth(TITLE_CHARS) {
                title.truncate(end);
            }
        }
        // The last list is used first, so `then` goes to the one below the others.
        let mut then = then;
        for (n, part) in addresses.chunks(TOGETHER).enumerate().rev() {
            let kind = if matches!(of, Listed::Pages(_)) { "pages" } else { "sitemaps" };
            let packed = compressed(&json(&part)?)?;
            // The name contains a hash of the content, so that two runs of a step do not overwrite each other's lists.
            let hash = address::hash_hex(&packed);
            let object = format!("{PREFIX}{}/{}-{kind}-{n}-{}.json.zst", row.key, row.documents, &hash[..16]);
            self.intake.politeness.blobs.put(&object, packed.into()).await?;
            let count = u32::try_from(part.len()).unwrap_or(u32::MAX);
            row.lists.push(AddressList { object, done: 0, count, of: of.clone(), then: then.take() });
        }
        Ok(row)
    }

    /// Erases all lists of a backfill that has ended, including those of steps that ended late.
    pub(super) async fn erase_lists(&self, key: &SourceKey) -> Result<()> {
        let (blobs, prefix) = (self.intake.politeness.blobs.as_ref(), format!("{PREFIX}{key}/"));
        loop {
            let objects = blobs.list(&prefix, None, AT_ONCE).await?;
            for object in &objects {
                blobs.delete(object).await?;
            }
            if objects.len() < AT_ONCE {
                return Ok(());
            }
        }
    }

    /// Returns the remaining addresses of a list; `None` if its object is lost or none remain.
    pub(super) async fn listed(&self, list: &AddressList) -> Result<Option<Vec<PageAddress>>> {
        let Some(blob) = self.intake.politeness.blobs.get(&list.object).await? else { return Ok(None) };
        let all = zstd::bulk::decompress(&blob.bytes, UNPACK_LIMIT).ok();
        let all: Option<Vec<PageAddress>> = all.and_then(|json| serde_json::from_slice(&json).ok());
        let done = usize::try_from(list.done).unwrap_or(usize::MAX);
        Ok(all.map(|all| all.into_iter().skip(done).collect::<Vec<_>>()).filter(|left| !left.is_empty()))
    }
}
