//! Jobs that visit host keys.

use crate::{EntryHints, HostKey, ImageId, PageId, SourceKey, TraceId};
use serde::{Deserialize, Serialize};

/// Facts about a feed that are copied to the records of its pages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedBy {
    /// The feed's address.
    pub url: String,
    /// Title of the feed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Address of the feed's image.
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
    /// Facts about that feed; `None` if they must be read from its row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub named_by: Option<NamedBy>,
    /// The site's image, used for pages without one.
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

    /// Creates a visit to a host key for URLs that no feed named.
    pub fn new(host: HostKey, items: Vec<VisitItem>) -> VisitJob {
        VisitJob { host, feed: None, named_by: None, site_image: None, items }
    }

    /// Returns one visit per item, so that an item that crashes its process does not affect the others.
    pub fn singles(&self) -> impl Iterator<Item = VisitJob> {
        self.items.iter().map(|item| VisitJob { items: vec![item.clone()], ..self.clone() })
    }

    /// Splits items into visits to one host key, of at most [`VisitJob::MAX_ITEMS`] each.
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
    /// Page at that URL; for an image, the page that contains it.
    pub page: PageId,
    /// Purpose of the call.
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
    /// A check that an indexed page still exists and may still be shown.
    Recheck,
    /// The main image of a page, on a host key other than the page's.
    Image {
        /// Id under which the image's thumbnail is stored.
        image: ImageId,
        /// Chain of jobs of the page. One visit may request images of several chains.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        trace: Option<TraceId>,
    },
}

impl Purpose {
    /// Returns the chain of jobs of an image, which may differ from that of its visit; `None` for other purposes.
    pub const fn trace(&self) -> Option<&TraceId> {
        match self {
            Purpose::Image { trace, .. } => trace.as_ref(),
            Purpose::New { .. } | Purpose::Recheck => None,
        }
    }
}
