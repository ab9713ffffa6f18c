//! Topics for which a page may be rejected.

use curlew_model::words;
use serde::{Deserialize, Serialize, Serializer};
use std::fmt;

words! {
    /// A topic for which a page may be rejected, with the name used in lists, settings and summaries.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    #[non_exhaustive]
    pub enum Topic {
        /// Pornography, and offers related to it.
        Adult = "adult",
        /// Violence for its own sake, and incitement to violence.
        Violence = "violence",
        /// Slurs, and hatred of groups of people.
        Hate = "hate",
        /// Praise of suicide, self-injury or eating disorders.
        SelfHarm = "self-harm",
        /// Advertising of gambling.
        Gambling = "gambling",
        /// Fraudulent offers: false prizes, profits or alarms.
        Scams = "scams",
        /// Advertising of drugs, or of medicines without prescription.
        Drugs = "drugs",
    }
}

impl Topic {
    /// Returns a description that can follow "looks like" in a sentence.
    pub const fn meaning(self) -> &'static str {
        match self {
            Topic::Adult => "pornography or an offer of sex",
            Topic::Violence => "violence shown for its own sake or a call to it",
            Topic::Hate => "hate against a group of people",
            Topic::SelfHarm => "praise of suicide, self-injury or an eating disorder",
            Topic::Gambling => "advertising of gambling",
            Topic::Scams => "an offer made to cheat",
            Topic::Drugs => "advertising of drugs or of medicines without prescription",
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
