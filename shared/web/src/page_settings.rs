//! What the operator decides about the pages.

use curlew_model::Millis;

/// Settings of the router. Read once at the start; nothing here is read from the environment.
#[derive(Clone, Debug)]
pub struct PageSettings {
    /// The name of the search engine, as its pages show it.
    pub title: String,
    /// Where the pages are reached from outside, such as `https://search.example`. Only its origin is used.
    /// Without it, what needs an absolute URL of our own (OpenSearch, the robots and security files' own
    /// addresses) is left out: the `Host` header is never believed.
    pub base_url: Option<String>,
    /// The product token that robots.txt files name us by (RFC 9309 §2.2.1).
    pub user_agent_token: String,
    /// The full `User-Agent` value, for people who look into their logs.
    pub user_agent: String,
    /// Where to write to: a URL or a mail address.
    pub contact: Option<String>,
    /// Signs the form's token and hashes callers' addresses. Must be the same in all processes that serve
    /// one site, and known to nobody else.
    pub secret: [u8; 32],
    /// How many forms one address may send a minute.
    pub forms_per_minute: u32,
    /// How many forms an hour are taken of all callers together, by one process, before each has to be worked or waited
    /// for. 0: each has to. More than 8,192 count as so many.
    pub calm_forms_per_hour: usize,
    /// How many searches, page or API, one address may make a minute. Calls from the loopback address are not counted while
    /// `base_url` names no address but this machine's: then they are its user's own.
    pub searches_per_minute: u32,
    /// What the bot page says of the crawler's politeness.
    pub politeness: ShownPoliteness,
}

/// Politeness of the crawler, as they are configured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShownPoliteness {
    /// The usual time between two polls of a feed.
    pub poll_interval: Millis,
    /// The least time between two calls to a host key.
    pub min_pause: Millis,
    /// How long a host is left alone after it has refused, at least.
    pub hold_refused: Millis,
    /// How long it is left alone after errors of its server, at least.
    pub hold_server_error: Millis,
}

impl Default for ShownPoliteness {
    fn default() -> ShownPoliteness {
        ShownPoliteness {
            poll_interval: Millis::from_hours(8),
            min_pause: Millis::from_secs(1),
            hold_refused: Millis::from_days(3),
            hold_server_error: Millis::from_days(2),
        }
    }
}

/// Forms of one address a minute, unless configured.
const FORMS_PER_MINUTE: u32 = 10;
/// Forms of all callers an hour that are no rush, unless configured.
const CALM_FORMS_PER_HOUR: usize = 120;
/// Searches of one address a minute, unless configured.
const SEARCHES_PER_MINUTE: u32 = 120;

impl PageSettings {
    /// The defaults. There is none for the secret: one that everybody knows signs nothing.
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
            politeness: ShownPoliteness::default(),
        }
    }
}
