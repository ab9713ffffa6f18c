//! Maps the labels of classifiers to topics with a table.

use super::Detection;
use crate::settings::REJECT_AT;
use crate::topic::{Topic, TopicScore};
use serde::Deserialize;

/// Meaning of a classifier's label.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Label {
    /// Label as the classifier names it.
    pub name: String,
    /// Topic that it indicates; `None` if it is harmless.
    #[serde(default)]
    pub topic: Option<Topic>,
    /// Probability, above 0 and below 1, that corresponds to a score of [`REJECT_AT`].
    #[serde(default = "half")]
    pub from: f32,
}

fn half() -> f32 {
    0.5
}

impl Label {
    /// True if [`Label::from`] is within its range.
    pub fn is_usable(&self) -> bool {
        self.from > 0.0 && self.from < 1.0
    }

    /// Returns the score of a probability: linear from 0 to `from`, and from there to 1.
    fn score(&self, probability: f32) -> f32 {
        let p = probability.clamp(0.0, 1.0);
        let score = if p < self.from {
            p / self.from * REJECT_AT
        } else {
            REJECT_AT + (p - self.from) / (1.0 - self.from) * (1.0 - REJECT_AT)
        };
        (score * 1_000.0).round() / 1_000.0
    }
}

/// Converts labels with probabilities to findings: the highest score of each topic, and the label that gave it.
pub fn detections<'a>(labels: impl IntoIterator<Item = (&'a Label, f32)>, classifier: &str) -> Vec<Detection> {
    let mut all: Vec<Detection> = Vec::new();
    for (label, probability) in labels {
        let Some(topic) = label.topic.filter(|_| probability.is_finite()) else { continue };
        let score = TopicScore { topic, score: label.score(probability) };
        let why = format!("{classifier} calls it “{}” with {:.0} %", label.name, probability.clamp(0.0, 1.0) * 100.0);
        let one = Detection { score, why, region: None };
        match all.iter_mut().find(|known| known.score.topic == topic) {
            Some(known) if known.score.score < score.score => *known = one,
            Some(_) => {}
            None => all.push(one),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label(name: &str, topic: Option<Topic>, from: f32) -> Label {
        Label { name: name.into(), topic, from }
    }

    #[test]
    fn a_probability_counts_from_its_own_threshold_on() {
        let strict = label("drawing", Some(Topic::Adult), 0.9);
        for (probability, score) in [(0.0, 0.0), (0.45, 0.25), (0.9, 0.5), (0.95, 0.75), (1.0, 1.0), (7.0, 1.0)] {
            assert!((strict.score(probability) - score).abs() < 0.002, "{probability}");
        }
        assert!(!label("x", None, 0.0).is_usable() && !label("x", None, 1.0).is_usable());
    }

    #[test]
    fn the_surest_label_of_a_topic_speaks() {
        let (neutral, mild) = (label("neutral", None, 0.5), label("swimwear", Some(Topic::Adult), 0.95));
        let (strong, weapons) =
            (label("nudity", Some(Topic::Adult), 0.5), label("weapons", Some(Topic::Violence), 0.5));
        let all = detections([(&neutral, 0.9), (&mild, 0.6), (&strong, 0.7), (&weapons, f32::NAN)], "a model");
        assert_eq!(all.len(), 1);
        assert_eq!((all[0].score.topic, all[0].score.score), (Topic::Adult, 0.7));
        assert_eq!(all[0].why, "a model calls it “nudity” with 70 %");
    }
}
