//! The scope of the crawl: the operator's exclusions, and the sites whose robots.txt or meta tags are ignored. These
//! must be the operator's own sites, named one by one.

use crate::page::directives::Directives;
use crate::site::exclusions::{Exclusions, Reason};
use curlew_model::is_at_or_below;
use ipnet::IpNet;
use std::net::IpAddr;
use url::{Host, Url};

/// Maximum number of hosts and networks in one list.
pub const MAX_OWN_HOSTS: usize = 1_000;
/// Minimum prefix length in bits of an IPv4 network in a list.
const LEAST_PREFIX_V4: u8 = 8;
/// Minimum prefix length in bits of an IPv6 network in a list.
const LEAST_PREFIX_V6: u8 = 32;

/// The scope of this crawl.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// URLs that are never called.
    pub exclusions: Exclusions,
    /// The operator's own sites whose robots.txt is ignored.
    pub robots_ignored: OwnHosts,
    /// The operator's own sites whose robots meta tags and X-Robots-Tag headers are ignored.
    pub meta_ignored: OwnHosts,
}

impl Scope {
    /// Returns the operator's rule that excludes a URL, if there is one.
    pub fn excludes(&self, url: &Url) -> Option<Reason> {
        self.exclusions.excludes(url)
    }

    /// Returns the directives of a page, or none if they are ignored; see [`Directives::gather`].
    pub fn directives(&self, url: &Url, meta: &[(String, String)], header: &[String], token: &str) -> Directives {
        if self.meta_ignored.contains(url) { Directives::default() } else { Directives::gather(meta, header, token) }
    }
}

/// Hosts that the operator has declared as its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnHosts(Vec<Own>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Own {
    Name(String),
    Net(IpNet),
}

impl OwnHosts {
    /// Parses a list of host names, IP addresses and networks (`192.0.2.0/24`); the error names the first invalid item.
    pub fn read(list: &[String]) -> Result<OwnHosts, String> {
        if list.len() > MAX_OWN_HOSTS {
            return Err(format!("at most {MAX_OWN_HOSTS} hosts may be named"));
        }
        list.iter().map(|text| own(text.trim())).collect::<Result<_, _>>().map(OwnHosts)
    }

    /// True if the host of a URL is one of these hosts, or a subdomain of one.
    pub fn contains(&self, url: &Url) -> bool {
        let Some(host) = url.host() else { return false };
        self.0.iter().any(|own| match (own, &host) {
            (Own::Name(name), Host::Domain(host)) => is_at_or_below(host.trim_end_matches('.'), name),
            (Own::Net(net), Host::Ipv4(ip)) => net.contains(&IpAddr::V4(*ip)),
            (Own::Net(net), Host::Ipv6(ip)) => net.contains(&IpAddr::V6(*ip)),
            _ => false,
        })
    }

    /// True if the list is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl std::fmt::Display for OwnHosts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = |own: &Own| match own {
            Own::Name(name) => name.clone(),
            Own::Net(net) => net.to_string(),
        };
        f.write_str(&self.0.iter().map(text).collect::<Vec<_>>().join(", "))
    }
}

fn own(text: &str) -> Result<Own, String> {
    if let Ok(net) = text.parse::<IpNet>() {
        let least = if matches!(net, IpNet::V4(_)) { LEAST_PREFIX_V4 } else { LEAST_PREFIX_V6 };
        if net.prefix_len() < least {
            return Err(format!("'{text}' is more of the Internet than anybody owns"));
        }
        return Ok(Own::Net(net));
    }
    match Host::parse(text) {
        Ok(Host::Ipv4(ip)) => Ok(Own::Net(IpAddr::V4(ip).into())),
        Ok(Host::Ipv6(ip)) => Ok(Own::Net(IpAddr::V6(ip).into())),
        Ok(Host::Domain(name)) => match name.trim_end_matches('.') {
            // `com`, `co.uk`, `github.io`: names below them have many owners.
            name if curlew_suffix::is_public(name) => Err(format!("'{text}' is a public suffix, and not one owner's")),
            // A name covers all its subdomains, so there is no wildcard.
            name if !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b".-_".contains(&b)) => {
                Ok(Own::Name(name.to_owned()))
            }
            _ => Err(format!("'{text}' is neither a host nor a network")),
        },
        Err(why) => Err(format!("'{text}' is neither a host nor a network ({why})")),
    }
}
