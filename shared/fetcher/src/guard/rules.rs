//! The operator's rules for the guard, and their syntax.

use super::{MAX_NAME_OCTETS, short};
use curlew_model::with_defaults;
use ipnet::IpNet;
use std::collections::BTreeSet;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;
use url::Host;

with_defaults! {
    /// The guard's rules; the default allows public addresses on ports 80 and 443 and nothing else.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Guard {
        /// The ports that may be called.
        pub ports: BTreeSet<u16> = BTreeSet::from([80, 443]),
        /// Networks that may be called although they are not public: literal addresses on any port, names that
        /// resolve to them on the ports above.
        pub allow_nets: Vec<IpNet> = Vec::new(),
        /// Hosts that are called at a given address; they are allowed on any port. The first matching rule is used.
        pub resolve: Vec<ResolveRule> = Vec::new(),
        /// Our own web, function and bucket hosts, which are never called.
        pub own_hosts: Vec<HostPattern> = Vec::new(),
        /// Services of the machine that are never called, even if a network or a rule would allow it.
        pub refused_endpoints: Vec<Endpoint> = Vec::new(),
    }
}

impl Guard {
    /// Returns the rule that sets the address of this host. Names are compared in lower case without a trailing dot.
    pub fn rule_for(&self, host: &str) -> Option<&ResolveRule> {
        let host = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
        self.resolve.iter().find(|rule| rule.pattern.matches(&host))
    }
}

/// A host name, or `*.name` for every name below it at any depth, but not for `name` itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum HostPattern {
    /// This name, in lower case, with A-labels, without a trailing dot.
    Exact(String),
    /// Every name below this one.
    Below(String),
}

impl HostPattern {
    /// Returns true if a canonical name (lower case, no trailing dot) matches.
    pub fn matches(&self, name: &str) -> bool {
        match self {
            HostPattern::Exact(own) => own == name,
            HostPattern::Below(zone) => {
                name.strip_suffix(zone.as_str()).is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'))
            }
        }
    }
}

impl FromStr for HostPattern {
    type Err = InvalidRule;
    fn from_str(text: &str) -> Result<HostPattern, InvalidRule> {
        let (below, name) = text.strip_prefix("*.").map_or((false, text), |rest| (true, rest));
        let wrong = || InvalidRule::new(text, "the name is no host name");
        let Ok(Host::Domain(name)) = Host::parse(name) else { return Err(wrong()) };
        let name = name.strip_suffix('.').unwrap_or(&name).to_string();
        if name.len() > MAX_NAME_OCTETS || name.contains('*') || name.split('.').any(str::is_empty) {
            return Err(wrong());
        }
        Ok(if below { HostPattern::Below(name) } else { HostPattern::Exact(name) })
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HostPattern::Exact(name) => f.write_str(name),
            HostPattern::Below(zone) => write!(f, "*.{zone}"),
        }
    }
}

/// `NAME=ADDR[:PORT]`: a host is called at this address, as with curl's `--connect-to`. The `Host` header and the name
/// in TLS stay; the URL's port is replaced only for connecting. An IPv6 address is written in brackets, with or without
/// a port.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ResolveRule {
    /// The hosts to which the rule applies.
    pub pattern: HostPattern,
    /// The address at which they are called.
    pub addr: IpAddr,
    /// The port that replaces the URL's, if any.
    pub port: Option<u16>,
}

impl FromStr for ResolveRule {
    type Err = InvalidRule;
    fn from_str(text: &str) -> Result<ResolveRule, InvalidRule> {
        let (name, target) = text.split_once('=').ok_or_else(|| InvalidRule::new(text, "there is no '='"))?;
        let pattern = name.trim().parse()?;
        let (addr, port) = address_and_port(target.trim())
            .ok_or_else(|| InvalidRule::new(text, "the address is not ADDR[:PORT], IPv6 in brackets"))?;
        Ok(ResolveRule { pattern, addr, port })
    }
}

impl fmt::Display for ResolveRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}=", self.pattern)?;
        match (self.addr, self.port) {
            (addr, Some(port)) => write!(f, "{}", SocketAddr::new(addr, port)),
            (IpAddr::V4(addr), None) => write!(f, "{addr}"),
            (IpAddr::V6(addr), None) => write!(f, "[{addr}]"),
        }
    }
}

fn address_and_port(text: &str) -> Option<(IpAddr, Option<u16>)> {
    if let Ok(both) = text.parse::<SocketAddr>() {
        return (both.port() != 0).then_some((both.ip(), Some(both.port())));
    }
    if let Ok(v4) = text.parse() {
        return Some((IpAddr::V4(v4), None));
    }
    let v6 = text.strip_prefix('[')?.strip_suffix(']')?.parse().ok()?;
    Some((IpAddr::V6(v6), None))
}

/// A service, written `host:port`, with an IPv6 address in brackets.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Endpoint {
    /// Host of the endpoint, canonical.
    pub host: Host<String>,
    /// Port of the endpoint.
    pub port: u16,
}

impl FromStr for Endpoint {
    type Err = InvalidRule;
    fn from_str(text: &str) -> Result<Endpoint, InvalidRule> {
        let wrong = || InvalidRule::new(text, "it is not HOST:PORT");
        let (host, port) = text.rsplit_once(':').ok_or_else(wrong)?;
        let host = match Host::parse(host).map_err(|_| wrong())? {
            Host::Domain(name) => Host::Domain(name.strip_suffix('.').unwrap_or(&name).to_string()),
            address => address,
        };
        Ok(Endpoint { host, port: port.parse().map_err(|_| wrong())? })
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

/// A rule that cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{text}' is not a valid rule: {reason}")]
pub struct InvalidRule {
    text: String,
    reason: &'static str,
}

impl InvalidRule {
    fn new(text: &str, reason: &'static str) -> InvalidRule {
        InvalidRule { text: short(text), reason }
    }
}
