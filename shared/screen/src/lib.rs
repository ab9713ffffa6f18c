//! Content screening: is this a page that the index should not show?
//!
//! Pure: words are weighed against lists that are compiled in, nothing is asked of anybody. A page is judged by how
//! dense and how varied the words of a topic are, its title above all; words of medicine, law, learning and news
//! weaken them, since a text *about* such things is not one *of* them.
//!
//! [`words::score`] is one scorer. Another, of images or of persons, joins by handing its own [`TopicScore`]s to
//! [`judge`] together with these.

mod fold;
mod lexicon;
pub mod words;

use serde::{Deserialize, Serialize};
use std::fmt;

/// From this score on a topic rejects a page.
pub const REJECT_AT: f32 = 0.5;
/// A score below this is not worth reporting.
pub const REPORT_AT: f32 = 0.05;

/// What a page may be rejected for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Topic {
    /// Pornography and the offers around it.
    Adult,
    /// Slurs and hate against groups of people.
    Offensive,
    /// Violence shown for its own sake.
    Violence,
    /// Advertising of gambling.
    Gambling,
    /// Advertising of drugs and of medicines without prescription.
    Drugs,
}

impl Topic {
    /// All of them.
    pub const ALL: [Topic; 5] = [Topic::Adult, Topic::Offensive, Topic::Violence, Topic::Gambling, Topic::Drugs];

    /// The name that lists and summaries use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Topic::Adult => "adult",
            Topic::Offensive => "offensive",
            Topic::Violence => "violence",
            Topic::Gambling => "gambling",
            Topic::Drugs => "drugs",
        }
    }
}

impl fmt::Display for Topic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How much of a topic there is in a page.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TopicScore {
    /// The topic.
    pub topic: Topic,
    /// From 0, nothing, to 1, nothing else; rounded to thousandths.
    pub score: f32,
}

/// Whether a page may be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It may.
    Pass,
    /// It may not.
    Reject,
}

/// The result of screening.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Screening {
    /// Whether the page may be shown.
    pub verdict: Verdict,
    /// What was found, the highest score first; nothing below [`REPORT_AT`].
    pub topics: Vec<TopicScore>,
}

impl Screening {
    /// The names of the topics that reject the page.
    pub fn rejected_for(&self) -> Vec<String> {
        self.topics.iter().filter(|t| t.score >= REJECT_AT).map(|t| t.topic.to_string()).collect()
    }
}

/// Screens a page by its title and text, both plain text.
///
/// `language` is a BCP 47 tag such as `it` or `it-IT`. Its list counts together with the English one; for a language
/// without a list the English one alone does. Without a tag the language is told by its most common words.
pub fn screen(title: &str, text: &str, language: Option<&str>) -> Screening {
    judge(words::score(title, text, language))
}

/// Puts the findings of all scorers together: the highest score of each topic counts.
pub fn judge(scores: impl IntoIterator<Item = TopicScore>) -> Screening {
    let mut topics: Vec<TopicScore> = Vec::new();
    for score in scores.into_iter().filter(|s| s.score >= REPORT_AT) {
        match topics.iter_mut().find(|t| t.topic == score.topic) {
            Some(known) => known.score = known.score.max(score.score),
            None => topics.push(score),
        }
    }
    topics.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.topic.cmp(&b.topic)));
    let rejected = topics.iter().any(|t| t.score >= REJECT_AT);
    Screening { verdict: if rejected { Verdict::Reject } else { Verdict::Pass }, topics }
}
