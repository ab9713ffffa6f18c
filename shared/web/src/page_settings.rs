//! Settings of the pages, which the operator chooses.

use curlew_model::Millis;

/// Settings of the router. They are read once at the start; nothing here is read from the environment.
#[derive(Clone, Debug)]
pub struct PageSettings {
    /// The name of the search engine, as its pages show it.
    pub title: String,
    /// Public URL of the pages, such as `https://search.example`. Only its origin is used. Without it, features that
    /// need an absolute URL of our own (OpenSearch, feeds, the robots and security files' own addresses) are left out:
    /// the `Host` header is never trusted.
    pub base_url: Option<String>,
    /// Our product token in robots.txt files (RFC 9309 §2.2.1).
    pub user_agent_token: String,
    /// The full `User-Agent` value, for people who read their logs.
    pub user_agent: String,
    /// The operator's contact: a URL or a mail address.
    pub contact: Option<String>,
    /// Secret that signs forms' tokens and hashes callers' addresses. It must be the same in all processes that serve
    /// one site, and known to nobody else.
    pub secret: [u8; 32],
    /// Maximum number of forms that one address may send a minute.
    pub forms_per_minute: u32,
    /// Number of forms an hour, from all callers of one process together, after which each form needs proof of work or
    /// a wait. 0: each does. Values above 8,192 count as 8,192.
    pub calm_forms_per_hour: usize,
    /// Maximum number of searches, page or API, that one address may make a minute. Calls from the loopback address are
    /// not counted while `base_url` names no address but this machine's: they are then its user's own.
    pub searches_per_minute: u32,
    /// The requests that are signed, for the bot page.
    pub signatures: ShownSignatures,
    /// The crawler's politeness as the bot page states it.
    pub politeness: ShownPoliteness,
}

/// Requests of the crawler that are signed, once there is a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ShownSignatures {
    /// None.
    #[default]
    None,
    /// Those to sites that ask for it.
    Asked,
    /// All.
    All,
}

/// Politeness of the crawler, as it is configured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShownPoliteness {
    /// The usual time between two polls of a feed.
    pub poll_interval: Millis,
    /// Minimum time between two polls of a feed with news more often than that, if such a feed is polled more often.
    pub poll_floor: Option<Millis>,
    /// Minimum time between two calls to a host key.
    pub min_pause: Millis,
    /// Minimum time for which a host is left alone after it has refused.
    pub hold_refused: Millis,
    /// Minimum time for which a host is left alone after server errors.
    pub hold_server_error: Millis,
    /// The longest Crawl-delay that is kept between two calls.
    pub crawl_delay: Millis,
    /// True if AIPREF usage preferences are heeded.
    pub aipref: bool,
    /// True if TDMRep reservations are heeded.
    pub tdmrep: bool,
}

impl Default for ShownPoliteness {
    fn default() -> ShownPoliteness {
        ShownPoliteness {
            poll_interval: Millis::from_hours(8),
            poll_floor: Some(Millis::from_hours(1)),
            min_pause: Millis::from_secs(1),
            hold_refused: Millis::from_days(3),
            hold_server_error: Millis::from_days(2),
            crawl_delay: Millis::from_mins(10),
            aipref: false,
            tdmrep: false,
        }
    }
}

/// Default of [`PageSettings::forms_per_minute`].
const FORMS_PER_MINUTE: u32 = 10;
/// Default of [`PageSettings::calm_forms_per_hour`].
const CALM_FORMS_PER_HOUR: usize = 120;
/// Default of [`PageSettings::searches_per_minute`].
const SEARCHES_PER_MINUTE: u32 = 120;

impl PageSettings {
    /// Returns the defaults. The secret has none: one that everybody knows signs nothing.
    pub fn new(secret: [u8; 32]) -> PageSettings {
        PageSettings {
            title: "Curlew".to_owned(),
            base_url: None,
            user_agent_token: "CurlewBot".to_owned(),
            user_agent: concat!("CurlewBot/", env!("CARGO_PKG_VERSION")).to_owned(),
            contact: None,
            secret,
            forms_per_minute: FORMS_PER_MINUTE,
            calm_forms_per_hour: CALM_FORMS_PER_HOUR,
            searches_per_minute: SEARCHES_PER_MINUTE,
            signatures: ShownSignatures::None,
            politeness: ShownPoliteness::default(),
        }
    }
}
