//! The operator's settings: topics with thresholds, persons to leave out, and sites to allow.

use crate::topic::Topic;
use curlew_model::{is_at_or_below, with_defaults};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;

/// Default score from which a topic rejects a page.
pub const REJECT_AT: f32 = 0.5;
/// Share of the threshold that words and image must both reach to be combined.
pub const TOGETHER_FROM: f32 = 0.75;
/// Maximum number of persons.
pub const MAX_PERSONS: usize = 10_000;
/// Maximum size of a list of persons, in bytes.
pub const MAX_PERSONS_BYTES: usize = 2 * 1024 * 1024;

/// Settings for screening.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// Topics with rules other than the default.
    pub topics: BTreeMap<Topic, TopicRule>,
    /// Persons to leave out. Pages that name one of them are rejected.
    pub persons: Vec<Person>,
    /// Sites that may show topics.
    pub allow: Vec<Allowed>,
}

impl Settings {
    /// Returns the rule for a topic.
    pub fn rule(&self, topic: Topic) -> TopicRule {
        self.topics.get(&topic).copied().unwrap_or_default()
    }

    /// Returns the setting that allows this topic on this host.
    pub fn allowed(&self, host: Option<&str>, topic: Topic) -> Option<&Allowed> {
        let covers = |allowed: &Allowed| allowed.topics.is_empty() || allowed.topics.contains(&topic);
        self.allow.iter().find(|a| covers(a) && host.is_some_and(|h| is_of(h, &a.site)))
    }

    /// Checks the settings. The error is one line that names the unusable setting.
    pub fn check(&self) -> Result<(), String> {
        if let Some((topic, _)) = self.topics.iter().find(|(_, r)| !(0.0..=1.0).contains(&r.threshold)) {
            return Err(format!("the threshold of '{topic}' must be from 0 to 1"));
        }
        if self.persons.len() > MAX_PERSONS {
            return Err(format!("more than {MAX_PERSONS} persons"));
        }
        let mut names = self.persons.iter().flat_map(Person::names);
        match names.find(|name| !crate::persons::is_long_enough(name)) {
            Some(short) => Err(format!("the name '{short}' is too short to be looked for")),
            None => Ok(()),
        }
    }
}

with_defaults! {
    /// Rule for a topic.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct TopicRule {
        /// True if the topic can reject a page.
        pub on: bool = true,
        /// Score from which the topic rejects a page.
        pub threshold: f32 = REJECT_AT,
    }
}

/// Deserializes `"on"`, `"off"`, true, false, or a threshold from 0 to 1.
impl<'de> Deserialize<'de> for TopicRule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<TopicRule, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "a topic is \"on\", \"off\" or a threshold from 0 to 1")]
        enum Written {
            Switch(bool),
            Threshold(f32),
            Word(String),
        }
        let on = match Written::deserialize(deserializer)? {
            Written::Threshold(threshold) if (0.0..=1.0).contains(&threshold) => {
                return Ok(TopicRule { on: true, threshold });
            }
            Written::Switch(switch) => switch,
            Written::Word(word) if word == "on" || word == "off" => word == "on",
            _ => return Err(serde::de::Error::custom("a topic is \"on\", \"off\" or a threshold from 0 to 1")),
        };
        Ok(TopicRule { on, ..TopicRule::default() })
    }
}

/// A person to leave out, with all names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Person {
    /// Full name.
    pub name: String,
    /// Other full names of the person.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
}

impl Person {
    /// Minimum number of letters in a name. Two letters occur everywhere.
    pub(crate) const MIN_NAME: usize = 3;

    /// Parses a list of at most [`MAX_PERSONS_BYTES`]: one person per line, names separated by `;`, comments after `#`.
    pub fn read_list(text: &str) -> Result<Vec<Person>, String> {
        if text.len() > MAX_PERSONS_BYTES {
            return Err(format!("it has more than {MAX_PERSONS_BYTES} bytes"));
        }
        let lines = text.trim_start_matches('\u{feff}').lines().map(str::trim);
        let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
        let person = |line: &str| {
            let mut names = line.split(';').map(|name| name.trim().to_owned());
            let name = names.next().unwrap_or_default();
            Person { name, aliases: names.filter(|name| !name.is_empty()).collect() }
        };
        // One more than the maximum, so that the check of the settings reports it.
        Ok(lines.take(MAX_PERSONS + 1).map(person).collect())
    }

    /// Returns the name and the aliases.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.name.as_str()).chain(self.aliases.iter().map(String::as_str))
    }
}

/// A site that is allowed, for all or some topics.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Allowed {
    /// Host. Subdomains are included.
    pub site: String,
    /// Topics; an empty list stands for all topics.
    pub topics: Vec<Topic>,
}

/// Parses `example.org`, or `example.org: violence, hate`.
impl std::str::FromStr for Allowed {
    type Err = String;

    fn from_str(written: &str) -> Result<Allowed, String> {
        let (site, topics) = written.split_once(':').unwrap_or((written, ""));
        let site = site.trim().trim_end_matches('.').to_ascii_lowercase();
        if site.is_empty() || site.contains(['/', ' ', '*']) {
            return Err(format!("'{written}' names no host"));
        }
        let names = topics.split(',').map(str::trim).filter(|t| !t.is_empty());
        let topics: Result<Vec<Topic>, String> =
            names.map(|t| Topic::named(t).ok_or_else(|| format!("there is no topic '{t}'"))).collect();
        Ok(Allowed { site, topics: topics? })
    }
}

/// True if a host equals `site` or is a subdomain of it, ignoring case and a trailing dot.
pub(crate) fn is_of(host: &str, site: &str) -> bool {
    is_at_or_below(&host.trim_end_matches('.').to_ascii_lowercase(), site)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;
    use serde_json::json;

    #[test]
    fn a_topic_is_a_switch_or_a_threshold() {
        let read = |v: serde_json::Value| serde_json::from_value::<TopicRule>(v);
        assert_eq!(read(json!("off")).unwrap(), TopicRule { on: false, threshold: REJECT_AT });
        assert_eq!(read(json!(true)).unwrap(), TopicRule::default());
        assert_eq!(read(json!(0.8)).unwrap(), TopicRule { on: true, threshold: 0.8 });
        for wrong in [json!("maybe"), json!(1.5), json!([])] {
            assert!(read(wrong).unwrap_err().to_string().contains("from 0 to 1"));
        }
    }

    #[test]
    fn a_site_covers_what_is_below_it() {
        let all: Allowed = "Museum.example.".parse().unwrap();
        let some: Allowed = "news.example: violence, self-harm".parse().unwrap();
        let settings = Settings { allow: vec![all, some], ..Settings::default() };
        let lets = |host, topic| settings.allowed(host, topic).is_some();
        assert!(lets(Some("museum.example"), Topic::Adult) && lets(Some("WWW.museum.example."), Topic::Hate));
        assert!(!lets(Some("notmuseum.example"), Topic::Adult) && !lets(None, Topic::Adult));
        assert!(lets(Some("news.example"), Topic::SelfHarm) && !lets(Some("news.example"), Topic::Adult));
        assert!("a b".parse::<Allowed>().is_err() && "a.example: cats".parse::<Allowed>().is_err());
    }

    #[test]
    fn a_list_has_a_person_a_line() {
        let read = Person::read_list("\u{feff}# Left out\n\n Zoe Álvarez ; Z. Álvarez;\r\n张伟\n").unwrap();
        let person = |name: &str, aliases: &[&str]| Person {
            name: name.to_owned(),
            aliases: aliases.iter().map(|alias| (*alias).to_owned()).collect(),
        };
        assert_eq!(read, [person("Zoe Álvarez", &["Z. Álvarez"]), person("张伟", &[])]);
        assert!(Person::read_list(&"x".repeat(MAX_PERSONS_BYTES + 1)).unwrap_err().contains("more than 2097152 bytes"));
        let persons = Person::read_list(&"Zoe Álvarez\n".repeat(MAX_PERSONS + 7)).unwrap();
        assert!(Settings { persons, ..Settings::default() }.check().unwrap_err().contains("more than 10000"));
    }

    #[test]
    fn what_cannot_be_used_is_said() {
        let person = Person { name: "Al".into(), aliases: vec![] };
        let short = Settings { persons: vec![person], ..Settings::default() };
        assert!(short.check().unwrap_err().contains("too short"));
        let rule = TopicRule { on: true, threshold: 2.0 };
        let wrong = Settings { topics: [(Topic::Adult, rule)].into(), ..Settings::default() };
        assert!(wrong.check().unwrap_err().contains("adult"));
        assert!(Settings::default().check().is_ok());
    }
}
