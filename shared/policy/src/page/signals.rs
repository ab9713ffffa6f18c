//! Content signals of robots.txt (contentsignals.org): `Content-Signal: search=yes, ai-train=no` applies to its
//! user-agent group. Curlew obeys `search=no`, and for assistants `ai-input=no` and `use=reference`.

use std::collections::BTreeMap;

/// Maximum length of a statement in bytes; longer ones are ignored.
pub const MAX_SIGNAL_BYTES: usize = 1_024;
const MAX_SIGNALS: usize = 8;
/// Maximum length of a signal's name, and of its value, in bytes.
const MAX_WORD_BYTES: usize = 32;

/// Signals by name, with their values; both in lower case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContentSignals(BTreeMap<Box<str>, Box<str>>);

impl ContentSignals {
    /// Parses `name=value` pairs and skips everything else. Of repeated names, `no` wins, otherwise the first value.
    pub fn parse(statement: &[u8]) -> ContentSignals {
        let mut signals = ContentSignals::default();
        let text = std::str::from_utf8(statement).unwrap_or_default();
        if text.len() > MAX_SIGNAL_BYTES {
            return signals;
        }
        for (name, value) in text.split([',', ';']).filter_map(|pair| pair.split_once('=')) {
            if let (Some(name), Some(value)) = (word(name), word(value)) {
                signals.add(name, value);
            }
        }
        signals
    }

    /// Returns true for `search=yes`, false for `search=no`; `None` otherwise.
    pub fn search(&self) -> Option<bool> {
        match self.get("search") {
            Some("yes") => Some(true),
            Some("no") => Some(false),
            _ => None,
        }
    }

    /// Returns the value of a signal, in lower case.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(AsRef::as_ref)
    }

    /// Combines two statements about one page: "no" wins.
    #[must_use]
    pub fn and(mut self, other: &ContentSignals) -> ContentSignals {
        for (name, value) in &other.0 {
            self.add(name.clone(), value.clone());
        }
        self
    }

    /// True if there are no signals.
    pub fn is_silent(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn weight(&self) -> usize {
        self.0.iter().map(|(name, value)| name.len() + value.len() + 2 * size_of::<Box<str>>()).sum()
    }

    fn add(&mut self, name: Box<str>, value: Box<str>) {
        if self.0.len() < MAX_SIGNALS || self.0.contains_key(&name) {
            let kept = self.0.entry(name).or_insert_with(|| value.clone());
            if *value == *"no" {
                *kept = value;
            }
        }
    }
}

/// Returns a name or value in lower case, without quotes; `None` unless it has only letters, digits, `-` and `_`.
fn word(text: &str) -> Option<Box<str>> {
    let text = text.trim().trim_matches('"');
    let is_word = !text.is_empty()
        && text.len() <= MAX_WORD_BYTES
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
    is_word.then(|| text.to_ascii_lowercase().into())
}

impl std::fmt::Display for ContentSignals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let pairs: Vec<String> = self.0.iter().map(|(name, value)| format!("{name}={value}")).collect();
        f.write_str(&pairs.join(", "))
    }
}
