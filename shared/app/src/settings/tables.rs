//! The settings file: a struct for each table, and checks that concern one table.

use super::bad;
use crate::screening::Screen;
use crate::settings::BadSettings;
use curlew_catalog::library::RAW_LIFETIME;
use curlew_crawl::politeness::signing::SignatureMode;
use curlew_model::{Millis, with_defaults};
use curlew_policy::address::HostGroups;
use curlew_policy::rules::Rules;
use curlew_policy::site::exclusions::Lists;
use ipnet::IpNet;
use serde::{Deserialize, Deserializer, Serialize, de};
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::PathBuf;
use url::Url;

/// Default address of the metrics, with a port that is usual for exporters.
pub(super) const METRICS: &str = "127.0.0.1:9464";
const METRICS_TOKEN: usize = 16;
const FRONT_SECRET: usize = 24;
/// Headers that browsers or proxies send for other purposes, so they cannot name the operator.
const CALLERS_HEADERS: &str =
    "host cookie origin referer user-agent authorization x-forwarded-for x-real-ip accept content-type";

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct File {
    pub(super) data: Option<PathBuf>,
    pub(super) contact: Option<String>,
    pub(super) workers: Option<usize>,
    pub(super) log: Option<String>,
    pub(super) publish_every: Option<Millis>,
    pub(super) paused: Option<bool>,
    pub(super) agent: Agent,
    pub(super) rules: Rules,
    pub(super) hosts: HostGroups,
    pub(super) network: Network,
    pub(super) limits: Limits,
    pub(super) pages: Pages,
    pub(super) web: Web,
    pub(super) metrics: Metrics,
    pub(super) admin: AdminPages,
    pub(super) exclude: Lists,
    pub(super) robots: Robots,
    pub(super) signatures: Signatures,
    pub(super) raw: Raw,
    #[serde(skip_serializing)]
    pub(super) screen: Screen,
}

/// The operator's own sites, whose robots.txt or meta tags are ignored.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Robots {
    pub(super) ignored_hosts: Vec<String>,
    pub(super) meta_ignored_hosts: Vec<String>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Pages {
    pub(super) image: Option<String>,
}

impl Pages {
    pub(super) fn are_images_optional(&self) -> Result<bool, BadSettings> {
        match self.image.as_deref().unwrap_or("required") {
            "required" => Ok(false),
            "optional" => Ok(true),
            other => bad(format!("[pages] image must be 'required' or 'optional', not '{other}'")),
        }
    }
}

with_defaults! {
    #[derive(Clone, Copy, Debug, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct Raw {
        /// True if accepted pages are stored as they were fetched.
        pub keep: bool = false,
        pub days: u32 = u32::try_from(RAW_LIFETIME.0 / Millis::from_days(1).0).unwrap_or(u32::MAX),
    }
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Signatures {
    pub(super) mode: Option<String>,
}

impl Signatures {
    pub(super) fn mode(&self) -> Result<Option<SignatureMode>, BadSettings> {
        match self.mode.as_deref() {
            None | Some("asked") => Ok(Some(SignatureMode::Asked)),
            Some("always") => Ok(Some(SignatureMode::Always)),
            Some("off") => Ok(None),
            Some(other) => bad(format!("[signatures] mode must be 'off', 'asked' or 'always', not '{other}'")),
        }
    }
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Agent {
    pub(super) name: Option<String>,
    pub(super) pages: Option<String>,
    pub(super) feeds: Option<String>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Network {
    pub(super) allow_net: Vec<IpNet>,
    pub(super) resolve: Vec<String>,
    pub(super) name_server: Option<SocketAddr>,
    pub(super) ports: Option<BTreeSet<u16>>,
    pub(super) own_hosts: Vec<String>,
}

/// Limits of single calls, and of decoding and parsing their responses.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    pub connect_timeout: Option<Millis>,
    pub read_timeout: Option<Millis>,
    pub page_bytes: Option<usize>,
    pub feed_bytes: Option<usize>,
    pub sitemap_bytes: Option<usize>,
    pub image_bytes: Option<usize>,
    /// Maximum number of bytes of memory for decoding an image.
    pub decoded_bytes: Option<u64>,
    /// Maximum processor time for parsing one document.
    pub parse_time: Option<Millis>,
    /// Maximum number of bytes of all large bodies together.
    pub bodies_bytes: Option<usize>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Web {
    pub title: Option<String>,
    #[serde(deserialize_with = "origin")]
    pub base_url: Option<String>,
    /// True if proofs of ownership are fetched over http, for a private network without TLS.
    pub proof_over_http: bool,
    /// Number of forms per hour, from all callers together, after which each form must wait before it is sent.
    pub calm_forms_per_hour: Option<usize>,
    /// Maximum number of searches per minute from one address.
    pub searches_per_minute: Option<NonZeroU32>,
    pub mcp: bool,
    /// Proxies in front of the search page whose `X-Forwarded-For` is trusted.
    pub trusted_proxies: Vec<IpNet>,
    /// Secret that the CDN in front of a stack's search page sends; if set, requests without it are refused.
    #[serde(deserialize_with = "front_secret")]
    pub front_secret: Option<String>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Metrics {
    pub(super) listen: Option<String>,
    pub(super) token: Option<String>,
}

/// Address at which metrics are served, and the token for access.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetricsAccess {
    pub listen: SocketAddr,
    /// Bearer token (RFC 6750) that callers must send, if set; always set unless the address is loopback.
    pub token: Option<String>,
}

impl Metrics {
    pub(super) fn access(self) -> Result<Option<MetricsAccess>, BadSettings> {
        let listen = self.listen.as_deref().unwrap_or(METRICS);
        if listen == "off" {
            return Ok(None);
        }
        let Ok(listen) = listen.parse::<SocketAddr>() else {
            return bad("[metrics] listen must be 'off' or an address with a port, such as '127.0.0.1:9464'");
        };
        if self.token.as_ref().is_some_and(|token| !is_token(token, METRICS_TOKEN)) {
            return bad(format!("[metrics] token {}", token_rule(METRICS_TOKEN)));
        }
        if self.token.is_none() && !listen.ip().is_loopback() {
            let why = "can be reached by others, so [metrics] token must be set";
            return bad(format!("[metrics] listen = '{listen}' {why}"));
        }
        Ok(Some(MetricsAccess { listen, token: self.token }))
    }
}

/// Settings of the operator's pages under `/admin`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AdminPages {
    /// True if the pages are served; if not set, they are served only on loopback without `base_url`.
    pub enabled: Option<bool>,
    /// Name of the header in which a proxy of `[web] trusted_proxies` names the operator.
    pub trusted_header: Option<String>,
}

impl AdminPages {
    pub(super) fn check(&self, web: &Web) -> Result<(), BadSettings> {
        let Some(name) = &self.trusted_header else { return Ok(()) };
        let is_name = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
        if !is_name || CALLERS_HEADERS.split(' ').any(|known| name.eq_ignore_ascii_case(known)) {
            return bad(format!("[admin] trusted_header cannot be '{name}': write a name such as \"Remote-User\""));
        }
        if web.trusted_proxies.is_empty() {
            return bad("[admin] trusted_header needs the proxy that writes it in [web] trusted_proxies");
        }
        Ok(())
    }
}

/// True if a text has at least `least` characters, all visible ASCII, so that a header can contain it.
fn is_token(text: &str, least: usize) -> bool {
    text.len() >= least && text.bytes().all(|b| b.is_ascii_graphic())
}

fn token_rule(least: usize) -> String {
    format!("must be at least {least} ASCII characters without spaces: `openssl rand -hex 16` prints one")
}

fn front_secret<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    let secret: Option<String> = Option::deserialize(from)?;
    if secret.as_ref().is_some_and(|text| !is_token(text, FRONT_SECRET)) {
        return Err(de::Error::custom(format!("front_secret {}", token_rule(FRONT_SECRET))));
    }
    Ok(secret)
}

/// Deserializes an http or https origin, with or without a final slash.
fn origin<'de, D: Deserializer<'de>>(value: D) -> Result<Option<String>, D::Error> {
    let text: Option<String> = Option::deserialize(value)?;
    let is_origin = |text: &String| {
        let url = Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
        url.is_some_and(|url| url.as_str() == format!("{}/", url.origin().ascii_serialization()))
    };
    match text {
        Some(text) if !is_origin(&text) => {
            Err(de::Error::custom(format!("'{text}' is no origin of http or https, such as https://search.example")))
        }
        text => Ok(text),
    }
}
