//! TDMRep: a reservation of rights to text and data mining (W3C Community Group report "TDM Reservation Protocol").

use crate::robots::pattern::{self, Steps};
use crate::robots::{MAX_STEPS, path_and_query};
use serde_json::Value;
use url::Url;

/// Path of a site's file.
const FILE_PATH: &str = "/.well-known/tdmrep.json";
/// Maximum size of the file in bytes; a longer one counts as malformed.
const MAX_BYTES: usize = 512 * 1024;
/// Maximum number of rules that are read.
const MAX_RULES: usize = 10_000;

/// Returns the address of the file for a URL: at its own scheme, host and port. `None` for schemes other than http and
/// https.
pub fn tdm_url(url: &Url) -> Option<Url> {
    crate::robots::robots_url(url)?.join(FILE_PATH).ok()
}

/// The rules of a site's `tdmrep.json`.
#[derive(Clone, Debug, Default)]
pub struct TdmFile(Vec<TdmRule>);

#[derive(Clone, Debug)]
struct TdmRule {
    pattern: Vec<u8>,
    anchored: bool,
    /// `None` for any value that the report does not define.
    reserved: Option<bool>,
}

impl TdmFile {
    /// Parses the file: a list of objects with `location` and `tdm-reservation`. Never fails: anything but such a list
    /// has no rules, and anything but such an object is skipped.
    pub fn parse(body: &[u8]) -> TdmFile {
        if body.len() > MAX_BYTES {
            return TdmFile::default();
        }
        let body = body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(body);
        let Ok(Value::Array(list)) = serde_json::from_slice(body) else { return TdmFile::default() };
        let rule = |entry: &Value| {
            let pattern = pattern::canonical_pattern(entry.get("location")?.as_str()?.as_bytes());
            let reserved = match entry.get("tdm-reservation") {
                Some(Value::String(text)) => reserved(text),
                Some(number) => number.as_u64().and_then(|n| reserved(&n.to_string())),
                None => None,
            };
            Some(TdmRule { pattern: pattern.bytes, anchored: pattern.anchored, reserved })
        };
        TdmFile(list.iter().take(MAX_RULES).filter_map(rule).collect())
    }

    /// Returns the reservation of the first rule whose location matches a URL, as robots.txt matches paths. `None` if
    /// there is no such rule, if it states none, or if matching takes too long.
    pub fn reservation(&self, url: &Url) -> Option<bool> {
        let path = path_and_query(url);
        let path = pattern::canonical_path(path.as_bytes());
        let mut steps = Steps::new(MAX_STEPS);
        for rule in &self.0 {
            if pattern::matches(&rule.pattern, rule.anchored, &path, &mut steps).ok()? {
                return rule.reserved;
            }
        }
        None
    }
}

/// Parses a value of `tdm-reservation`, `0` or `1`; anything else counts as absent.
pub fn reserved(value: &str) -> Option<bool> {
    match value.trim() {
        "1" => Some(true),
        "0" => Some(false),
        _ => None,
    }
}

/// True if rights to a page are reserved: the file comes first, then the header, then the page's own meta tags. Each
/// overrides the ones before, if it states anything.
pub fn reservation_of(file: Option<bool>, header: Option<&str>, meta: &[(String, String)]) -> bool {
    let tag = meta.iter().filter(|(name, _)| name.trim().eq_ignore_ascii_case("tdm-reservation"));
    // If several tags contradict each other, the one that reserves wins.
    let page = tag.filter_map(|(_, content)| reserved(content)).max();
    page.or_else(|| header.and_then(reserved)).or(file).unwrap_or(false)
}
