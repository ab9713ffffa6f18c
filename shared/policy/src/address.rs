//! URLs: their canonical form, the ids derived from them, and their host key.

use curlew_model::{HostKey, ImageId, Origin, PageId, Slot, SourceKey, Work, is_at_or_below, with_defaults};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::{borrow::Cow, collections::BTreeMap};
use url::{Host, Url};

pub use curlew_text::leftovers::is_leftover_address;

/// Maximum length of an accepted URL in bytes.
pub const MAX_URL: usize = 2_048;
/// Maximum number of path segments, and of query parameters; traps have more.
const MAX_PARTS: usize = 32;
/// Maximum number of occurrences of one segment in a path; traps have more.
const MAX_SAME_SEGMENTS: usize = 4;

/// Query parameters for tracking and sessions, which do not identify a page.
const TRACKING: &str = "fbclid gclid gclsrc dclid gbraid wbraid msclkid yclid twclid igshid igsh mc_cid mc_eid mkt_tok \
    _hsenc _hsmi vero_id vero_conv oly_anon_id oly_enc_id s_cid wickedid ref_src ref_url cmpid ncid xtor \
    at_medium at_campaign _openstat phpsessid jsessionid";

/// Reason why an address is not accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadAddress(pub String);

/// Parses an HTTP(S) URL, relative to `base` if given. Fails if it is invalid, too long, a trap or has credentials.
pub fn parse(text: &str, base: Option<&Url>) -> Result<Url, BadAddress> {
    let bad = |why: &str| Err(BadAddress(why.to_owned()));
    if text.len() > MAX_URL {
        return bad("the URL is longer than 2048 bytes");
    }
    let mut url = curlew_text::url::parse(text.trim(), base).map_err(|e| BadAddress(format!("no URL ({e})")))?;
    if !matches!(url.scheme(), "http" | "https") {
        return bad("the scheme is neither http nor https");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return bad("the URL carries a user name or password");
    }
    if url.as_str().len() > MAX_URL {
        return bad("the URL is longer than 2048 bytes");
    }
    if let Some(name) = url.host_str().and_then(|h| h.strip_suffix('.')).map(str::to_owned) {
        url.set_host(Some(&name)).map_err(|e| BadAddress(format!("no host ({e})")))?;
    }
    if is_trap(&url) {
        return bad("the path or query has the form of a crawler trap");
    }
    url.set_fragment(None);
    Ok(url)
}

/// Parses an address that a person typed; a bare host name means its home page. Fails as [`parse`] does.
pub fn parse_typed(text: &str) -> Result<Url, BadAddress> {
    parse(&with_scheme(text), None)
}

/// Returns a typed address with a scheme: `https` unless it has one.
pub fn with_scheme(text: &str) -> Cow<'_, str> {
    let text = text.trim();
    if text.contains("://") { text.into() } else { format!("https://{text}").into() }
}

/// Returns the canonical URL: without tracking parameters, with uniform percent-encoding (RFC 3986 §6.2.2).
pub fn canonical(url: &Url) -> Url {
    let mut url = url.clone();
    url.set_fragment(None);
    if url.query().is_some() {
        let kept: Vec<&str> = raw_pairs(&url).filter(|pair| !is_tracking(pair)).collect();
        let kept = (!kept.is_empty()).then(|| uniform_encoding(&kept.join("&")));
        url.set_query(kept.as_deref());
    }
    let path = uniform_encoding(url.path());
    url.set_path(&path);
    url
}

/// Returns the URL of the current page for a wiki's URL of an old version or of a comparison; other URLs stay
/// unchanged. Only combinations of parameters identify a wiki, since other sites use each of them alone.
pub fn current_version(url: &Url) -> Url {
    let pairs: Vec<_> = url.query_pairs().collect();
    let value = |name: &str| pairs.iter().find(|(it, _)| it == name).map(|(_, value)| value.as_ref());
    let is_in = |name: &str, words: &[&str]| value(name).is_some_and(|value| words.contains(&value));
    let is_number = |name: &&str| {
        value(name).is_some_and(|value| !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let has_diff = is_number(&"diff") || is_in("diff", &["prev", "next", "cur"]);
    let is_script = |name: &str| url.path().split('/').any(|segment| segment == name);
    let has_title = is_script("index.php") && value("title").is_some();
    let shows = |names: &[&str]| names.iter().any(is_number);
    let parameters: &[&str] = if (has_diff && is_number(&"oldid"))
        || (has_title && (has_diff || shows(&["oldid", "rcid"]) || is_in("action", &["history", "info"])))
    {
        // MediaWiki.
        &["diff", "oldid", "rcid", "action"]
    } else if (is_in("do", &["diff"]) && shows(&["rev", "rev2", "rev2[0]", "rev2[1]"]))
        || (is_script("doku.php") && (shows(&["rev"]) || is_in("do", &["diff", "revisions"])))
    {
        // DokuWiki.
        &["do", "rev", "rev2", "rev2[0]", "rev2[1]", "difftype"]
    } else if is_in("action", &["diff"]) && shows(&["rev", "rev1", "rev2", "version", "date"]) {
        // MoinMoin, Trac.
        &["action", "rev", "rev1", "rev2", "version", "date"]
    } else {
        return url.clone();
    };
    let kept: Vec<&str> = raw_pairs(url)
        .zip(&pairs)
        .filter(|(_, (name, _))| !parameters.contains(&name.as_ref()))
        .map(|(raw, _)| raw)
        .collect();
    let mut page = url.clone();
    page.set_query((!kept.is_empty()).then(|| kept.join("&")).as_deref());
    page
}

/// True if a canonical link only omits parameters, none of which looks like a page's name or number.
pub fn drops_only_extras(link: &Url, answered: &Url) -> bool {
    const NAMES: [&str; 12] = ["p", "q", "s", "n", "t", "v", "page", "post", "article", "story", "slug", "title"];
    let (kept, all): (Vec<&str>, Vec<&str>) = (raw_pairs(link).collect(), raw_pairs(answered).collect());
    let is_extra = |pair: &&str| {
        let name = parameter_name(pair);
        !name.ends_with("id") && !NAMES.contains(&name.as_str()) && pair.contains('=')
    };
    link.path() == answered.path()
        && kept.iter().all(|pair| all.contains(pair))
        && all.iter().filter(|pair| !kept.contains(pair)).all(is_extra)
}

fn raw_pairs(url: &Url) -> impl Iterator<Item = &str> {
    url.query().unwrap_or_default().split('&').filter(|pair| !pair.is_empty())
}

fn parameter_name(pair: &str) -> String {
    pair.split('=').next().unwrap_or(pair).to_ascii_lowercase()
}

fn is_tracking(pair: &str) -> bool {
    let name = parameter_name(pair);
    name.starts_with("utm_")
        || name.starts_with("pk_")
        || name.starts_with("mtm_")
        || TRACKING.split(' ').any(|known| known == name)
}

/// Returns a part of a parsed URL, which is ASCII, with upper-case hex digits, and unreserved characters unescaped.
fn uniform_encoding(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        let byte = rest.get(at + 1..at + 3).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match byte {
            Some(byte) if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) => out.push(char::from(byte)),
            Some(byte) => out.push_str(&format!("%{byte:02X}")),
            None => out.push('%'),
        }
        rest = &rest[at + if byte.is_some() { 3 } else { 1 }..];
    }
    out + rest
}

fn is_trap(url: &Url) -> bool {
    let segments: Vec<&str> = url.path().split('/').filter(|s| !s.is_empty()).collect();
    if segments.len() > MAX_PARTS || url.query().is_some_and(|q| q.split('&').count() > MAX_PARTS) {
        return true;
    }
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    segments.iter().any(|s| {
        let n = counts.entry(s).or_default();
        *n += 1;
        *n > MAX_SAME_SEGMENTS
    })
}

/// Blog platforms whose subdomains share machines, and by default one host key, although they have many owners.
pub const PLATFORMS: [&str; 5] = ["tumblr.com", "blogspot.com", "substack.com", "wordpress.com", "medium.com"];

with_defaults! {
    /// Exceptions to the rule that each registrable domain is one host key.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct HostGroups {
        /// Domains that form one host key with all their subdomains. [`PLATFORMS`] by default.
        pub platforms: Vec<String> = PLATFORMS.iter().map(|name| (*name).to_owned()).collect(),
        /// Domains whose direct subdomains each form a host key, such as a blog platform.
        pub split: Vec<String> = Vec::new(),
        /// Domains, with all their subdomains, mapped to the host key that they share.
        pub group: BTreeMap<String, String> = BTreeMap::new(),
    }
}

/// True if subdomains of a name may have other host keys than the name: it is a public suffix, or a split platform.
pub fn has_keys_below(name: &str, groups: &HostGroups) -> bool {
    let below = format!("x.{name}");
    let is_split = groups.split.iter().any(|platform| is_at_or_below(platform, name));
    is_split || domain_key(&below, groups) != domain_key(name, groups)
}

/// True if this host key covers sites of many owners.
pub fn is_platform(key: &HostKey, groups: &HostGroups) -> bool {
    groups.platforms.iter().chain(groups.group.values()).any(|name| name == key.as_str())
}

/// Returns the host key of a URL: its IP address, group, subdomain of a split platform or platform, or else its
/// registrable domain according to the Public Suffix List. Fails if the URL has no host.
pub fn host_key(url: &Url, groups: &HostGroups) -> Result<HostKey, BadAddress> {
    let no_host = || BadAddress("the URL has no host".to_owned());
    let key = match url.host().ok_or_else(no_host)? {
        Host::Ipv4(ip) => ip.to_string(),
        Host::Ipv6(ip) => format!("[{ip}]"),
        Host::Domain(name) => domain_key(name.trim_end_matches('.'), groups),
    };
    HostKey::new(&key).map_err(|e| BadAddress(e.to_string()))
}

/// Returns the host key of a URL given as text; `None` if [`parse`] rejects the text.
pub fn host_key_of(text: &str, groups: &HostGroups) -> Option<HostKey> {
    host_key(&parse(text, None).ok()?, groups).ok()
}

/// Returns the host key that a job calls first, or that it is about if it calls no host; `None` if it concerns several
/// hosts, or extraction, or if its URL is invalid.
pub fn host_key_of_work(work: &Work, groups: &HostGroups) -> Option<HostKey> {
    let url = match work {
        Work::Fetch(visit) => return Some(visit.host.clone()),
        Work::Poll(poll) => &poll.url,
        Work::Subscribe(subscribe) => &subscribe.url,
        Work::Backfill(backfill) => &backfill.url,
        Work::Deliver(delivery) => &delivery.url,
        Work::Discover(discover) => &discover.url,
        Work::Own(own) => &format!("https://{}/", own.host),
        Work::TakeUp(job) => &format!("https://{}/", job.host),
        Work::Remove(removal) => &removal.url,
        Work::Polls(_) | Work::Extract(_) => return None,
    };
    host_key_of(url, groups)
}

fn domain_key(name: &str, groups: &HostGroups) -> String {
    if let Some(key) = groups.group.iter().find_map(|(domain, key)| is_at_or_below(name, domain).then_some(key)) {
        return key.clone();
    }
    for platform in &groups.split {
        if let Some(rest) = name.strip_suffix(platform.as_str()).and_then(|r| r.strip_suffix('.')) {
            let label = rest.rsplit('.').next().unwrap_or(rest);
            return format!("{label}.{platform}");
        }
    }
    if let Some(platform) = groups.platforms.iter().find(|platform| is_at_or_below(name, platform)) {
        return platform.clone();
    }
    curlew_suffix::registrable(name).unwrap_or(name).to_owned()
}

/// Returns the origin of a URL: the scope of its robots.txt (RFC 9309 §2.3). Fails without a host or a known port.
pub fn origin(url: &Url) -> Result<Origin, BadAddress> {
    let host = url.host_str().ok_or_else(|| BadAddress("the URL has no host".to_owned()))?;
    let port = url.port_or_known_default().ok_or_else(|| BadAddress("the URL has no port".to_owned()))?;
    Origin::new(&format!("{}://{}:{}", url.scheme(), host, port)).map_err(|e| BadAddress(e.to_string()))
}

/// Derives the id of a page from its canonical URL.
pub fn page_id(canonical: &Url) -> PageId {
    hashed(canonical.as_str(), PageId::new)
}

/// Derives the id of an image from its URL.
pub fn image_id(url: &Url) -> ImageId {
    hashed(url.as_str(), ImageId::new)
}

/// True if the host of a URL is `localhost` or a loopback address.
pub fn is_of_this_machine(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        None => false,
    }
}

/// Returns a typed address, valid or not, without user name and password, for display and logs.
pub fn without_credentials(typed: &str) -> Cow<'_, str> {
    let (scheme, rest) = typed.split_at(typed.find("://").map_or(0, |at| at + 3));
    let authority = &rest[..rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len())];
    // Text after the colon that is no port is a password. It may contain a slash, so the authority may end later.
    let is_no_port = |(host, port): (&str, &str)| !host.starts_with('[') && !port.bytes().all(|b| b.is_ascii_digit());
    let is_cut = !authority.contains('@') && authority.rsplit_once(':').is_some_and(is_no_port);
    match if is_cut { rest } else { authority }.rfind('@') {
        Some(at) => format!("{scheme}…{}", &rest[at..]).into(),
        None => typed.into(),
    }
}

/// Derives the key of a feed or a site from its URL.
pub fn source_key(url: &Url) -> SourceKey {
    hashed(url.as_str(), SourceKey::new)
}

/// Returns the minute of the cycle at which a source is due.
pub fn slot(key: &SourceKey) -> Slot {
    Slot::from_hash(u64::from_str_radix(&key.as_str()[..16], 16).unwrap_or(0))
}

/// Returns the first 32 hexadecimal digits of the SHA-256 of some bytes.
pub fn hash_hex(bytes: &[u8]) -> String {
    curlew_model::hex(&Sha256::digest(bytes)[..16])
}

/// Returns the first 64 bits of the SHA-256 of a text.
pub fn hash64(text: &str) -> u64 {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().take(8).fold(0, |number, byte| (number << 8) | u64::from(*byte))
}

/// Returns a short hash (FNV-1a), for the small row of a host key, where one collision among a few texts does no harm.
pub(crate) fn hash32(bytes: impl IntoIterator<Item = u8>) -> u32 {
    bytes.into_iter().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

fn hashed<T>(text: &str, id: fn(&str) -> Result<T, curlew_model::InvalidId>) -> T {
    match id(&hash_hex(text.as_bytes())) {
        Ok(id) => id,
        Err(error) => unreachable!("hash_hex gives the form of every id: {error}"),
    }
}

#[cfg(test)]
mod tests;
