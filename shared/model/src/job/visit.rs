//! Visits of host keys.

use crate::{EntryHints, HostKey, ImageId, PageId, SourceKey, TraceId};
use serde::{Deserialize, Serialize};

/// Facts about a feed that the records of its pages take from it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedBy {
    /// The feed's address.
    pub url: String,
    /// Title of the feed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Address of its image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// Language of the feed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
}

/// Job that visits one host key for a list of URLs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VisitJob {
    /// Host key whose lease the visit needs.
    pub host: HostKey,
    /// Feed that the items come from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feed: Option<SourceKey>,
    /// Facts about that feed; if they are missing, its row has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub named_by: Option<NamedBy>,
    /// The site's image, for pages that have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site_image: Option<String>,
    /// URLs to visit, at most [`VisitJob::MAX_ITEMS`].
    pub items: Vec<VisitItem>,
}

impl VisitJob {
    /// Name of the kind.
    pub const NAME: &str = "fetch";
    /// Maximum number of URLs in one visit.
    pub const MAX_ITEMS: usize = 100;

    /// Creates a visit of a host key for these URLs, which no feed names.
    pub fn new(host: HostKey, items: Vec<VisitItem>) -> VisitJob {
        VisitJob { host, feed: None, named_by: None, site_image: None, items }
    }

    /// Returns a visit for each item, so that one that kills its process kills no other item's.
    pub fn singles(&self) -> impl Iterator<Item = VisitJob> {
        self.items.iter().map(|item| VisitJob { items: vec![item.clone()], ..self.clone() })
    }

    /// Splits items into visits to one host key.
    pub fn several(host: &HostKey, feed: Option<&SourceKey>, items: &[VisitItem]) -> impl Iterator<Item = VisitJob> {
        let visit = |items: &[VisitItem]| VisitJob::new(host.clone(), items.to_vec());
        items.chunks(VisitJob::MAX_ITEMS).map(move |items| VisitJob { feed: feed.cloned(), ..visit(items) })
    }
}

/// A URL of a visit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VisitItem {
    /// The URL to call.
    pub url: String,
    /// Page at that URL, or for an image the page that it belongs to.
    pub page: PageId,
    /// Purpose.
    pub purpose: Purpose,
}

/// Purpose of visiting a URL.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "for", rename_all = "snake_case")]
pub enum Purpose {
    /// A page that a feed named.
    New {
        /// Metadata from the feed.
        #[serde(default)]
        hints: EntryHints,
    },
    /// Checks that an indexed page still exists and may still be shown.
    Recheck,
    /// The main image of a page, located on another host key.
    Image {
        /// Id under which its thumbnail is stored.
        image: ImageId,
        /// Chain of jobs that the page belongs to: a visit may ask for images of several chains.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        trace: Option<TraceId>,
    },
}

impl Purpose {
    /// Returns the chain of jobs that the item belongs to, where that need not be its visit's.
    pub const fn trace(&self) -> Option<&TraceId> {
        match self {
            Purpose::Image { trace, .. } => trace.as_ref(),
            Purpose::New { .. } | Purpose::Recheck => None,
        }
    }
}
