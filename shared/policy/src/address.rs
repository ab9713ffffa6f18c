//! URLs: their canonical form, the ids derived from them, and their host key.

use curlew_model::{HostKey, ImageId, Origin, PageId, Slot, SourceKey, Work, is_at_or_below};
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

/// Returns the text with upper-case hex digits, and unreserved characters unescaped.
fn uniform_encoding(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len());
    let mut i = 0;
    while i < bytes.len() {
        let hex = (bytes[i] == b'%')
            .then(|| bytes.get(i + 1..i + 3))
            .flatten()
            .and_then(|h| std::str::from_utf8(h).ok())
            .and_then(|h| u8::from_str_radix(h, 16).ok());
        match hex {
            Some(b) if b.is_ascii_alphanumeric() || b"-._~".contains(&b) => out.push(char::from(b)),
            Some(b) => out.push_str(&format!("%{b:02X}")),
            None => {
                // A parsed URL is ASCII, so a byte is a character.
                out.push(char::from(bytes[i]));
                i += 1;
                continue;
            }
        }
        i += 3;
    }
    out
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

/// Exceptions to the rule that each registrable domain is one host key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HostGroups {
    /// Domains that form one host key with all their subdomains. [`PLATFORMS`] by default.
    pub platforms: Vec<String>,
    /// Domains whose direct subdomains each form a host key, such as a blog platform.
    pub split: Vec<String>,
    /// Domains, with all their subdomains, mapped to the host key that they share.
    pub group: BTreeMap<String, String>,
}

impl Default for HostGroups {
    fn default() -> HostGroups {
        let platforms = PLATFORMS.iter().map(|name| (*name).to_owned()).collect();
        HostGroups { platforms, split: vec![], group: BTreeMap::new() }
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

/// Returns the host key that a job calls first; `None` if the job calls no host or several, or its URL is invalid.
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
mod tests {
    use super::*;

    #[test]
    fn a_link_that_drops_what_a_feed_added_is_told_from_one_that_drops_the_article() {
        let url = |path: &str| Url::parse(&format!("https://example.org{path}")).expect("the path of an address");
        for (link, answered, only_extras) in [
            ("/a", "/a?source=rss", true),
            ("/a?lang=de", "/a?lang=de&from=feed-7", true),
            ("/a", "/a?id=7", false),
            ("/a", "/a?p=7", false),
            ("/a", "/a?7", false),
            ("/a?id=8", "/a?id=7", false),
            ("/b", "/a?source=rss", false),
        ] {
            assert_eq!(drops_only_extras(&url(link), &url(answered)), only_extras, "{link} {answered}");
        }
    }

    #[test]
    fn a_typed_address_is_shown_without_its_password() {
        for (typed, is_shown) in [
            ("http://me:secret@a.example/b@c", "http://…@a.example/b@c"),
            ("https://token@a.example", "https://…@a.example"),
            ("me:secret@a.example", "…@a.example"),
            ("https://me:se@cret@a.example/", "https://…@a.example/"),
            ("https://me:se/c?r#et@a.example/", "https://…@a.example/"),
            ("https://a.example:8443/@me", "https://a.example:8443/@me"),
            ("https://[::1]/@me", "https://[::1]/@me"),
            ("https://a.example/?to=me@b.example", "https://a.example/?to=me@b.example"),
            ("::nonsense::", "::nonsense::"),
        ] {
            assert_eq!(without_credentials(typed), is_shown);
        }
    }

    fn url(text: &str) -> Url {
        parse(text, None).unwrap_or_else(|e| panic!("{text}: {e}"))
    }

    fn key(text: &str, groups: &HostGroups) -> String {
        host_key(&url(text), groups).unwrap_or_else(|e| panic!("{text}: {e}")).to_string()
    }

    #[test]
    fn o06_o07_what_is_stored_is_named_by_a_hash_and_never_by_what_a_site_says() {
        let long = format!("https://example.org/{}", "a".repeat(2_000));
        for text in [
            "https://example.org/../../etc/passwd",
            "https://example.org//%2e%2e/%00",
            "https://example.org/CON",
            "https://nul/",
            "https://example.org/?a=../..\\..&b=\u{202e}",
            &long,
        ] {
            let url = url(text);
            for name in [page_id(&url).to_string(), source_key(&url).to_string(), image_id(&url).to_string()] {
                assert!(name.len() == 32 && name.bytes().all(|b| b.is_ascii_hexdigit()), "{name}");
            }
        }
        let (upper, lower) = (url("https://example.org/A"), url("https://example.org/a"));
        assert_ne!(page_id(&upper).as_str().to_lowercase(), page_id(&lower).as_str().to_lowercase());
    }

    #[test]
    fn tracking_goes_the_rest_stays_and_the_form_is_stable() {
        for (text, form) in [
            ("HTTP://Example.ORG:80/a?utm_source=x&id=7&fbclid=1#top", "http://example.org/a?id=7"),
            ("https://example.org/?utm_medium=rss", "https://example.org/"),
            ("https://example.org/%7euser/%c3%a9?q=%2f", "https://example.org/~user/%C3%A9?q=%2F"),
            ("https://example.org./a", "https://example.org/a"),
            ("https://example.org/a%2fb?x=1&&y=%41", "https://example.org/a%2Fb?x=1&y=A"),
            ("http://[2001:db8::1]/", "http://[2001:db8::1]/"),
            ("https://例え.テスト/あ?い=う", "https://xn--r8jz45g.xn--zckzah/%E3%81%82?%E3%81%84=%E3%81%86"),
        ] {
            let once = canonical(&url(text));
            assert_eq!(once.as_str(), form);
            assert_eq!((canonical(&once), url(once.as_str())), (once.clone(), once));
        }
    }

    #[test]
    fn what_wikis_say_of_a_change_leads_to_the_page_itself() {
        let current = |text: &str| current_version(&url(text)).to_string();
        for (change, page) in [
            ("/index.php?title=Tern&diff=18&oldid=0", "/index.php?title=Tern"),
            ("/w/index.php?title=Tern:A%26B&diff=prev&oldid=17&rcid=4", "/w/index.php?title=Tern:A%26B"),
            ("/w/index.php?title=Tern&oldid=17", "/w/index.php?title=Tern"),
            ("/w/index.php?title=Tern&action=history", "/w/index.php?title=Tern"),
            ("/wiki/Tern?diff=18&oldid=17", "/wiki/Tern"),
            ("/index.php/Tern?diff=next&oldid=17&uselang=fr", "/index.php/Tern?uselang=fr"),
            ("/doku.php?id=birds:tern&rev=1700000000&do=diff", "/doku.php?id=birds:tern"),
            ("/doku.php/birds:tern?do=revisions", "/doku.php/birds:tern"),
            ("/birds/tern?rev=1700000000&do=diff", "/birds/tern"),
            ("/birds/tern?do=diff&rev2%5B0%5D=17&rev2%5B1%5D=18&difftype=inline", "/birds/tern"),
            ("/Tern?action=diff&rev1=3&rev2=4", "/Tern"),
            ("/wiki/Tern?action=diff&version=4", "/wiki/Tern"),
        ] {
            assert_eq!(current(&format!("https://wiki.example{change}")), format!("https://wiki.example{page}"));
        }
    }

    #[test]
    fn parameters_of_wikis_mean_what_they_mean_on_other_sites() {
        for page in [
            "/photo?rev=3",
            "/compare?diff=18",
            "/post?oldid=17",
            "/index.php?id=7&rev=3",
            "/index.php?title=Tern&action=edit",
            "/shop?action=diff",
            "/shop?action=history&id=7",
            "/news?do=diff",
            "/news?do=show&rev=3",
            "/events?action=show&date=20260101",
            "/a?diff=one&oldid=two",
            "/a",
        ] {
            let page = format!("https://other.example{page}");
            assert_eq!(current_version(&url(&page)).as_str(), page);
        }
    }

    #[test]
    fn what_is_no_address_of_a_page_is_refused() {
        let long = format!("https://example.org/{}", "x".repeat(3_000));
        let many = format!("https://example.org/?{}", "a=1&".repeat(40));
        let schemes = ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "mailto:a@example.org"];
        let others = ["nonsense", "http://u:p@example.org/", "http://u@example.org/", "http:///", &long, &many];
        for bad in schemes.into_iter().chain(others).chain(["https://example.org/a/a/a/a/a/a"]) {
            assert!(parse(bad, None).is_err(), "{bad}");
        }
    }

    #[test]
    fn politeness_counts_registrable_domains_unless_groups_and_splits_are_configured() {
        let preset = HostGroups::default();
        let own = HostGroups {
            split: vec!["blogs.example.org".into()],
            group: [("github.io".to_owned(), "github.io".to_owned())].into(),
            ..HostGroups::default()
        };
        for (text, groups, expected) in [
            ("https://www.example.co.uk/", &preset, "example.co.uk"),
            ("https://a.b.example.org/", &preset, "example.org"),
            ("https://one.github.io/", &preset, "one.github.io"),
            ("http://192.0.2.7:8080/", &preset, "192.0.2.7"),
            ("http://[2001:db8::1]/", &preset, "[2001:db8::1]"),
            ("http://farm-01.test/", &preset, "farm-01.test"),
            ("https://x.anna.blogs.example.org/", &own, "anna.blogs.example.org"),
            ("https://blogs.example.org/", &own, "example.org"),
            ("https://one.github.io/", &own, "github.io"),
        ] {
            assert_eq!(key(text, groups), expected, "{text}");
        }
    }

    #[test]
    fn the_blogs_of_a_platform_share_one_budget_unless_configured() {
        let preset = HostGroups::default();
        for platform in PLATFORMS {
            for name in [platform.to_owned(), format!("anna.{platform}"), format!("www.ben.{platform}")] {
                assert_eq!(key(&format!("https://{name}/"), &preset), platform);
            }
            assert_eq!(key(&format!("https://no{platform}/"), &preset), format!("no{platform}"));
        }
        let without = HostGroups { platforms: vec![], ..HostGroups::default() };
        assert_eq!(key("https://anna.blogspot.com/", &without), "anna.blogspot.com");
        let split = HostGroups { split: vec!["tumblr.com".into()], ..HostGroups::default() };
        assert_eq!(key("https://anna.tumblr.com/", &split), "anna.tumblr.com");
    }

    #[test]
    fn below_a_public_suffix_there_are_other_host_keys() {
        let preset = HostGroups::default();
        for (name, has) in [
            ("github.io", true),
            ("co.uk", true),
            ("example.org", false),
            ("one.github.io", false),
            ("blogspot.com", false),
        ] {
            assert_eq!(has_keys_below(name, &preset), has, "{name}");
        }
        let split = HostGroups { split: vec!["blogs.example.org".into()], ..HostGroups::default() };
        assert!(["blogs.example.org", "example.org"].into_iter().all(|name| has_keys_below(name, &split)));
    }

    #[test]
    fn robots_scope_has_scheme_host_and_port() {
        for (text, scope) in [
            ("https://example.org/a", "https://example.org:443"),
            ("http://example.org:8080/", "http://example.org:8080"),
        ] {
            assert_eq!(origin(&url(text)).map(String::from).as_deref(), Ok(scope));
        }
    }
}
