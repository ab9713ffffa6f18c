//! Decides where a request may go, given a URL and the addresses of its name. The check and the request use the same
//! URL parser, so they cannot disagree about the host.

mod blocks;
mod rules;

pub use blocks::classify;
pub use rules::{Endpoint, Guard, HostPattern, InvalidRule, ResolveRule};

use curlew_model::is_at_or_below;
use std::net::IpAddr;
use url::{Host, Url};

/// Maximum length of a URL that is called, in bytes.
pub const MAX_URL_BYTES: usize = 2_048;
/// Maximum number of addresses of a name; an answer with more is refused as a whole.
pub const MAX_ADDRESSES: usize = 32;
/// Maximum length of a name in octets, without its trailing dot (RFC 1035 §2.3.4).
const MAX_NAME_OCTETS: usize = 253;
/// Maximum length of a label in a name, in octets (RFC 1035 §2.3.4).
const MAX_LABEL_OCTETS: usize = 63;

/// Names of this machine or of the local network, and zones without websites: RFC 6761 (localhost), RFC 6762 with its
/// appendix G (local and the private ones), RFC 7686 (onion), RFC 9476 (alt), RFC 3172 and RFC 8375 (arpa with
/// home.arpa), ICANN's reservation of internal, and localdomain by custom.
const PRIVATE_ZONES: &str = "localhost localdomain local internal intranet private corp home lan onion alt arpa";

/// Reason for not making a call. Its text is one short sentence without the URL's path or query.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The text is not an absolute URL.
    #[error("not a valid URL: {0}")]
    NotAUrl(String),
    /// The URL is longer than [`MAX_URL_BYTES`].
    #[error("the URL is longer than {MAX_URL_BYTES} bytes")]
    TooLong,
    /// The scheme is neither http nor https.
    #[error("the scheme '{0}' is neither http nor https")]
    Scheme(String),
    /// The URL has a user name or a password, which would be sent as credentials.
    #[error("the URL carries a user name or a password")]
    UserInfo,
    /// The port is not on the list.
    #[error("port {0} is not allowed")]
    Port(u16),
    /// The name cannot be that of a public host.
    #[error("the name '{name}' {reason}")]
    Name {
        /// The name, cut to a readable length.
        name: String,
        /// The reason.
        reason: &'static str,
    },
    /// The host is one of Curlew's own: crawling it would be a loop that costs money.
    #[error("'{0}' is one of our own hosts")]
    OwnHost(String),
    /// The URL names a service of the machine that must not be called even if other rules allow it.
    #[error("{0} is a service of this machine")]
    Endpoint(Endpoint),
    /// The address is not public.
    #[error("the address {address} is not public: {block}")]
    Address {
        /// The address.
        address: IpAddr,
        /// The block it lies in.
        block: &'static str,
    },
    /// The name has no address.
    #[error("the name '{0}' has no address")]
    NoAddress(String),
    /// The name has more than [`MAX_ADDRESSES`] addresses.
    #[error("the name '{0}' has more than {MAX_ADDRESSES} addresses")]
    TooManyAddresses(String),
}

/// Checks a URL without resolving its name, and returns it as it is to be sent: the host in lower case, in A-labels,
/// without a trailing dot.
///
/// # Errors
/// The first fault of the URL.
pub fn vet_url(url: &str, rules: &Guard) -> Result<Url, Refusal> {
    if url.len() > MAX_URL_BYTES {
        return Err(Refusal::TooLong);
    }
    let mut url = Url::parse(url).map_err(|e| Refusal::NotAUrl(e.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(Refusal::Scheme(short(url.scheme())));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(Refusal::UserInfo);
    }
    let no_host = || Refusal::NotAUrl("no host".into());
    let port = url.port_or_known_default().ok_or_else(no_host)?;
    let host = canonical(url.host().ok_or_else(no_host)?);
    if let Host::Domain(name) = &host
        && url.host_str() != Some(name)
    {
        let refused = name_refusal(name, "is no host name");
        url.set_host(Some(name)).map_err(|_| refused)?;
    }
    if let Some(endpoint) = rules.refused_endpoints.iter().find(|e| e.host == host && e.port == port) {
        return Err(Refusal::Endpoint(endpoint.clone()));
    }
    match &host {
        Host::Domain(name) => vet_name(name, port, rules)?,
        Host::Ipv4(ip) => vet_literal(IpAddr::V4(*ip), port, rules)?,
        Host::Ipv6(ip) => vet_literal(IpAddr::V6(*ip), port, rules)?,
    }
    Ok(url)
}

/// Checks the addresses of a name. One address that is not public refuses the whole name, since a later look-up may
/// return that one first.
///
/// # Errors
/// The first fault of the addresses, or their absence.
pub fn vet_addresses(host: &str, addresses: &[IpAddr], rules: &Guard) -> Result<(), Refusal> {
    if addresses.is_empty() {
        return Err(Refusal::NoAddress(short(host)));
    }
    if addresses.len() > MAX_ADDRESSES {
        return Err(Refusal::TooManyAddresses(short(host)));
    }
    if rules.rule_for(host).is_some() {
        return Ok(());
    }
    addresses.iter().try_for_each(|ip| vet_address(*ip, rules))
}

/// Returns the address of a host that is a literal address.
pub(crate) fn literal<S>(host: &Host<S>) -> Option<IpAddr> {
    match host {
        Host::Domain(_) => None,
        Host::Ipv4(ip) => Some(IpAddr::V4(*ip)),
        Host::Ipv6(ip) => Some(IpAddr::V6(*ip)),
    }
}

/// Returns the form of a host in which hosts are compared: in lower case, without a trailing dot.
fn canonical(host: Host<&str>) -> Host<String> {
    match host {
        Host::Domain(name) => Host::Domain(name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase()),
        Host::Ipv4(ip) => Host::Ipv4(ip),
        Host::Ipv6(ip) => Host::Ipv6(ip),
    }
}

/// Checks a name in lower case without its trailing dot.
fn vet_name(name: &str, port: u16, rules: &Guard) -> Result<(), Refusal> {
    if rules.own_hosts.iter().any(|own| own.matches(name)) {
        return Err(Refusal::OwnHost(short(name)));
    }
    if name.len() > MAX_NAME_OCTETS {
        return Err(name_refusal(name, "is longer than 253 octets"));
    }
    if name.split('.').any(str::is_empty) {
        return Err(name_refusal(name, "has an empty label"));
    }
    if name.split('.').any(|label| label.len() > MAX_LABEL_OCTETS) {
        return Err(name_refusal(name, "has a label longer than 63 octets"));
    }
    // From here on an operator's rule for the host decides, on any port.
    if rules.rule_for(name).is_some() {
        return Ok(());
    }
    if PRIVATE_ZONES.split(' ').any(|zone| is_at_or_below(name, zone)) {
        return Err(name_refusal(name, "is not a public name"));
    }
    if !name.contains('.') {
        return Err(name_refusal(name, "has no dot, so it is the name of no public site"));
    }
    vet_port(port, rules)
}

fn vet_literal(ip: IpAddr, port: u16, rules: &Guard) -> Result<(), Refusal> {
    vet_address(ip, rules)?;
    // A network that the operator allows is allowed on any port, as is a host with a rule.
    if port != 0 && rules.allow_nets.iter().any(|net| net.contains(&ip)) { Ok(()) } else { vet_port(port, rules) }
}

fn vet_port(port: u16, rules: &Guard) -> Result<(), Refusal> {
    if port == 0 || !rules.ports.contains(&port) { Err(Refusal::Port(port)) } else { Ok(()) }
}

fn vet_address(ip: IpAddr, rules: &Guard) -> Result<(), Refusal> {
    // The port is not known when addresses are checked, so an endpoint's address is refused if its port may be called.
    let endpoint = |e: &&Endpoint| literal(&e.host) == Some(ip) && rules.ports.contains(&e.port);
    if let Some(endpoint) = rules.refused_endpoints.iter().find(endpoint) {
        return Err(Refusal::Endpoint(endpoint.clone()));
    }
    let is_opened = || rules.allow_nets.iter().any(|net| net.contains(&ip));
    classify(ip).or_else(|block| if is_opened() { Ok(()) } else { Err(Refusal::Address { address: ip, block }) })
}

fn name_refusal(name: &str, reason: &'static str) -> Refusal {
    Refusal::Name { name: short(name), reason }
}

/// Cuts a hostile text so that it fits into a sentence.
fn short(text: &str) -> String {
    const READABLE_CHARS: usize = 80;
    let mut cut: String = text.chars().take(READABLE_CHARS).collect();
    if cut.len() < text.len() {
        cut.push('…');
    }
    cut
}
