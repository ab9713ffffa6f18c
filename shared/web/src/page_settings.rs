//! Settings of the pages.

use curlew_crawl::politeness::signing::SignatureMode;
use curlew_policy::rules::Rules;

/// Settings of the router, read once at the start. Nothing here reads the environment.
#[derive(Clone, Debug)]
pub struct PageSettings {
    /// The name of the search engine, as its pages show it.
    pub title: String,
    /// Public URL of the pages, such as `https://search.example`. Only its origin is used. Without it, features that
    /// need an absolute URL (OpenSearch, feeds, `Canonical` in security.txt) are left out, because the `Host` header is
    /// never trusted.
    pub base_url: Option<String>,
    /// True if something in front of the router decides which host names lead here, such as a Lambda function URL. If
    /// false, and `base_url` is unset or names this machine, requests under foreign host names are refused: a web page
    /// may have pointed its own name here (DNS rebinding).
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
    /// Number of forms per hour, from all callers of one process together, after which each form must be open for a
    /// minute before it is sent. With 0, every form must. Values above 8,192 count as 8,192.
    pub calm_forms_per_hour: usize,
    /// Maximum number of searches per minute by one address, on the pages and the API together. Calls from loopback are
    /// not limited if `base_url` is unset or names this machine: they come from its user.
    pub searches_per_minute: u32,
    /// True to serve the tools for assistants (MCP) at `/mcp`.
    pub mcp: bool,
    /// Requests that are signed once there is a key, if any; stated on the bot page.
    pub signatures: Option<SignatureMode>,
    /// The crawler's politeness rules, stated on the bot page.
    pub rules: Rules,
}

impl PageSettings {
    /// Returns the default settings. The secret has no default, because it must not be public.
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
