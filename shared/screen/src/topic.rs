//! Topics for which a page may be rejected.

use serde::{Deserialize, Serialize, Serializer};
use std::fmt;

/// A topic for which a page may be rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Topic {
    /// Pornography, and offers related to it.
    Adult,
    /// Violence for its own sake, and incitement to violence.
    Violence,
    /// Slurs, and hatred of groups of people.
    Hate,
    /// Praise of suicide, self-injury or eating disorders.
    SelfHarm,
    /// Advertising of gambling.
    Gambling,
    /// Fraudulent offers: false prizes, profits or alarms.
    Scams,
    /// Advertising of drugs, or of medicines without prescription.
    Drugs,
}

impl Topic {
    /// All topics.
    pub const ALL: [Topic; 7] =
        [Topic::Adult, Topic::Violence, Topic::Hate, Topic::SelfHarm, Topic::Gambling, Topic::Scams, Topic::Drugs];

    /// Returns the name used in lists, settings and summaries.
    pub const fn as_str(self) -> &'static str {
        self.words().0
    }

    /// Returns a description that can follow "looks like" in a sentence.
    pub const fn meaning(self) -> &'static str {
        self.words().1
    }

    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Topic::Adult => ("adult", "pornography or an offer of sex"),
            Topic::Violence => ("violence", "violence shown for its own sake or a call to it"),
            Topic::Hate => ("hate", "hate against a group of people"),
            Topic::SelfHarm => ("self-harm", "praise of suicide, self-injury or an eating disorder"),
            Topic::Gambling => ("gambling", "advertising of gambling"),
            Topic::Scams => ("scams", "an offer made to cheat"),
            Topic::Drugs => ("drugs", "advertising of drugs or of medicines without prescription"),
        }
    }

    /// Returns the topic with this name.
    pub fn named(name: &str) -> Option<Topic> {
        Topic::ALL.into_iter().find(|t| t.as_str() == name)
    }
}

impl fmt::Display for Topic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Decision on whether a page may be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The page may be shown.
    Pass,
    /// The page must not be shown.
    Reject,
}

/// Score of a page or an image for a topic.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TopicScore {
    /// The topic.
    pub topic: Topic,
    /// From 0 (nothing of the topic) to 1 (nothing else), rounded to thousandths.
    #[serde(serialize_with = "in_thousandths")]
    pub score: f32,
}

/// Serializes a number rounded to thousandths. Without rounding, the f32 would be printed as the nearest f64.
pub(crate) fn in_thousandths<S: Serializer>(number: &f32, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64((f64::from(*number) * 1_000.0).round() / 1_000.0)
}
