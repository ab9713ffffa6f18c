//! Sources: feeds to poll, sites whose feeds are still unknown, and backfills.

use crate::{
    Backfill, Failure, Faults, Millis, Polling, SourceKey, Timestamp, packed, polling::is_default, with_defaults,
};
use serde::{Deserialize, Serialize};

/// A row that dispatch finds by its slot: a feed, a site or a backfill.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[allow(clippy::large_enum_variant, reason = "nearly all sources are feeds, so a box would only cost")]
pub enum Source {
    /// A feed.
    Feed(FeedSource),
    /// A site that a person named.
    Site(SiteSource),
    /// An additional slot of a feed that is polled more than once per cycle.
    Extra(ExtraSlot),
    /// A backfill of a site or feed.
    Backfill(Backfill),
}

impl Source {
    /// Returns the key of the row.
    pub fn key(&self) -> &SourceKey {
        self.place().0
    }

    /// Returns the minute of the cycle at which the source is examined.
    pub fn slot(&self) -> Slot {
        self.place().1
    }

    /// Returns the address of the source.
    pub fn url(&self) -> &str {
        self.place().2
    }

    fn place(&self) -> (&SourceKey, Slot, &str) {
        match self {
            Source::Feed(row) => (&row.key, row.slot, &row.url),
            Source::Site(row) => (&row.key, row.slot, &row.url),
            Source::Extra(row) => (&row.key, row.slot, &row.url),
            Source::Backfill(row) => (&row.key, row.slot, &row.url),
        }
    }
}

/// Validators from a server's answer, byte for byte, for conditional requests (RFC 9110 §8.8).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Validators {
    /// `ETag`, including its quotes and `W/`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub etag: Option<String>,
    /// `Last-Modified`, unparsed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_modified: Option<String>,
}

impl Validators {
    /// True if there are no validators, so that a conditional request is not possible.
    pub fn is_empty(&self) -> bool {
        self.etag.is_none() && self.last_modified.is_none()
    }
}

with_defaults! {
    /// A feed, with its stored state.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub struct FeedSource {
        /// Hash of the feed's URL.
        pub key: SourceKey,
        /// Minute of the cycle at which the feed is polled.
        pub slot: Slot,
        /// The feed's URL.
        pub url: String = url.into(),
        /// Site on whose pages discovery found the feed, if any.
        pub site: Option<SourceKey> = None,
        /// Format: `rss2`, `atom`, `json`, …
        #[serde(default)]
        pub format: String = String::new(),
        /// The feed's title.
        pub title: Option<String> = None,
        /// The feed's description or subtitle.
        pub description: Option<String> = None,
        /// Path of folders in an imported feed list, outermost first; empty if the feed is in none.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub folder: Vec<String> = vec![],
        /// The page that the feed belongs to.
        pub link: Option<String> = None,
        /// BCP 47 language tag that the feed declares.
        pub language: Option<String> = None,
        /// The site's image: logo, icon or the home page's main image.
        pub image: Option<String> = None,
        /// Validators for the next conditional request.
        #[serde(default)]
        pub validators: Validators = Validators::default(),
        /// URL that sent the validators, if it is the target of redirects.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub validators_of: Option<String> = None,
        /// Interval between polls. If it is longer than a cycle, cycles are skipped.
        pub interval: Millis = Millis::ZERO,
        /// Instant before which the feed is not polled (Retry-After, max-age, ttl, back-off after failures).
        pub not_before: Timestamp = Timestamp::MIN,
        /// Time of the last poll that changed this row; a 304 is not recorded.
        pub polled_at: Timestamp = Timestamp::MIN,
        /// Number of consecutive failed polls.
        #[serde(default)]
        pub failures: u32 = 0,
        /// Description of the last failure.
        pub trouble: Option<String> = None,
        /// True if polling has stopped permanently: 410 (RFC 9110 §15.5.11), 404 for months, or moved.
        #[serde(default)]
        pub gone: bool = false,
        /// Target of permanent redirects, and the number of consecutive polls that were redirected there.
        pub moved: Option<(String, u32)> = None,
        /// Data that determine the time of the next poll.
        #[serde(default, skip_serializing_if = "is_default")]
        pub polling: Polling = Polling::default(),
        /// Keys of recently seen entries, newest first, as base64 of eight little-endian bytes each. An older format, a
        /// list of numbers, is still accepted.
        #[serde(default, with = "packed::keys")]
        pub seen: Vec<u64> = vec![],
        /// Short content hashes of entries at the last poll, in the order of [`FeedSource::seen`]; zero if unknown.
        #[serde(default, with = "packed::stamps", skip_serializing_if = "Vec::is_empty")]
        pub stamps: Vec<u16> = vec![],
        /// Format faults of the document, truncated to the row's limit.
        #[serde(default, skip_serializing_if = "Faults::is_empty")]
        pub faults: Faults = Faults::default(),
    }

    /// Creates a feed of which only the address is known.
    new(key: SourceKey, slot: Slot, url: impl Into<String>)
}

/// An additional slot of a feed whose interval is shorter than the cycle. The row is kept when the interval grows; the
/// feed's row decides whether a poll is due.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExtraSlot {
    /// Key derived from the feed's key and the slot.
    pub key: SourceKey,
    /// Minute of the cycle.
    pub slot: Slot,
    /// The feed's key.
    pub feed: SourceKey,
    /// URL of the feed when this row was written, for people who read it.
    pub url: String,
}

/// A site that a person named, and its outcome.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SiteSource {
    /// Hash of the start URL.
    pub key: SourceKey,
    /// Minute of the cycle at which the site is examined while it waits.
    pub slot: Slot,
    /// The start URL.
    pub url: String,
    /// State of the site.
    pub state: SiteState,
    /// The site's own image, found on its home page.
    pub image: Option<String>,
    /// Instant before which no discovery starts.
    pub not_before: Timestamp,
    /// Number of consecutive failed discoveries.
    #[serde(default)]
    pub failures: u32,
    /// Failure of the last discovery; `None` if it succeeded or none has run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
}

/// State of a site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum SiteState {
    /// The site's feeds are not yet known.
    Waiting,
    /// The site has working feeds and is never scanned again.
    Working {
        /// Keys of its feeds.
        feeds: Vec<SourceKey>,
    },
    /// No feed was found. Discovery is retried after a long time.
    Feedless {
        /// Step that failed, in words for people.
        reason: String,
    },
    /// Crawling the site is not allowed.
    Refused {
        /// Reason, in words for people.
        reason: String,
    },
    /// The site was never reached, and was named again under the other scheme (http or https).
    Replaced {
        /// The address under which it was named again.
        by: String,
    },
}

/// Minute of the eight-hour cycle at which a source is due: 0 to [`Slot::COUNT`] - 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Slot(u16);

impl Slot {
    /// Number of minutes in a cycle; three cycles make a day.
    pub const COUNT: u16 = 480;

    /// Returns the slot for a hash or a minute: its remainder modulo [`Slot::COUNT`].
    pub const fn from_hash(hash: u64) -> Slot {
        Slot((hash % Slot::COUNT as u64) as u16)
    }

    /// Returns the index, 0 to 479.
    pub const fn index(self) -> u16 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ring_is_written_in_little_room_and_read_as_it_was_once() -> Result<(), Box<dyn std::error::Error>> {
        let key = SourceKey::new("0123456789abcdef0123456789abcdef")?;
        let mut feed = FeedSource::new(key, Slot::from_hash(7), "https://example.org/feed.xml");
        feed.seen = (0..50).map(|n| u64::MAX - n).collect();
        feed.stamps = vec![u16::MAX; 25];
        let json = serde_json::to_string(&feed)?;
        assert!(json.len() < 1_024, "{} bytes", json.len());
        assert_eq!(serde_json::from_str::<FeedSource>(&json)?, feed);
        let mut old = serde_json::to_value(&feed)?;
        old["seen"] = serde_json::to_value(&feed.seen)?;
        assert_eq!(serde_json::from_value::<FeedSource>(old.clone())?, feed);
        old["seen"] = "AAAA".into();
        assert!(serde_json::from_value::<FeedSource>(old).is_err());
        Ok(())
    }
}
