//! Settings of the pages, which the operator chooses.

use curlew_crawl::politeness::signing::SignatureMode;
use curlew_policy::rules::Rules;

/// Settings of the router. They are read once at the start; nothing here is read from the environment.
#[derive(Clone, Debug)]
pub struct PageSettings {
    /// The name of the search engine, as its pages show it.
    pub title: String,
    /// Public URL of the pages, such as `https://search.example`. Only its origin is used. Without it, features that
    /// need an absolute URL of our own (OpenSearch, feeds, the robots and security files' own addresses) are left out:
    /// the `Host` header is never trusted.
    pub base_url: Option<String>,
    /// True if whatever passes requests on decides which names lead here, as the URL of a function does. Otherwise,
    /// while `base_url` names no address but this machine's, a request under a name of others is refused: a page in a
    /// browser may have led its own name here (DNS rebinding).
    pub any_host: bool,
    /// Our product token in robots.txt files (RFC 9309 §2.2.1).
    pub user_agent_token: String,
    /// The full `User-Agent` value, for people who read their logs.
    pub user_agent: String,
    /// The operator's contact: a URL or a mail address.
    pub contact: Option<String>,
    /// Secret that signs forms' tokens and hashes callers' addresses. It must be the same in all processes that serve
    /// one site, and known to nobody else.
    pub secret: [u8; 32],
    /// Number of forms an hour, from all callers of one process together, after which each form has to be open for a
    /// minute. 0: each has. Values above 8,192 count as 8,192.
    pub calm_forms_per_hour: usize,
    /// Maximum number of searches, page or API, that one address may make a minute. Calls from the loopback address are
    /// not counted while `base_url` names no address but this machine's: they are then its user's own.
    pub searches_per_minute: u32,
    /// True to serve the tools for assistants (MCP) at `/mcp`.
    pub mcp: bool,
    /// The requests that are signed once there is a key, if any, for the bot page.
    pub signatures: Option<SignatureMode>,
    /// The crawler's politeness rules, for the bot page.
    pub rules: Rules,
}

impl PageSettings {
    /// Returns the defaults. The secret has none: one that everybody knows signs nothing.
    pub fn new(secret: [u8; 32]) -> PageSettings {
        PageSettings {
            title: "Curlew".to_owned(),
            base_url: None,
            any_host: false,
            user_agent_token: "CurlewBot".to_owned(),
            user_agent: concat!("CurlewBot/", env!("CARGO_PKG_VERSION")).to_owned(),
            contact: None,
            secret,
            calm_forms_per_hour: 120,
            searches_per_minute: 120,
            mcp: false,
            signatures: None,
            rules: Rules::default(),
        }
    }
}
