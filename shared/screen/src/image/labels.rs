//! Maps labels of classifiers to topics.

use super::Detection;
use crate::settings::{REJECT_AT, TOGETHER_FROM};
use crate::topic::{Topic, TopicScore};
use serde::Deserialize;

/// Meaning of a classifier's label.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Label {
    /// Name of the label in the classifier.
    pub name: String,
    /// Topic that the label indicates; `None` if harmless.
    #[serde(default)]
    pub topic: Option<Topic>,
    /// Probability, above 0 and below 1, that corresponds to a score of [`REJECT_AT`].
    #[serde(default = "half")]
    pub from: f32,
    /// Probability, above 0 and below [`Label::from`], from which the label counts together with words: a score of
    /// [`TOGETHER_FROM`] × [`REJECT_AT`]. The default is [`TOGETHER_FROM`] × [`Label::from`].
    #[serde(default)]
    pub hint: Option<f32>,
}

fn half() -> f32 {
    0.5
}

impl Label {
    /// True if [`Label::from`] and [`Label::hint`] are within their ranges.
    pub fn is_usable(&self) -> bool {
        self.from > 0.0 && self.from < 1.0 && self.hint.is_none_or(|hint| hint > 0.0 && hint < self.from)
    }

    /// Returns the score for a probability: piecewise linear, with the given points at `hint` and `from`.
    fn score(&self, probability: f32) -> f32 {
        let p = probability.clamp(0.0, 1.0);
        let hint = self.hint.unwrap_or(self.from * TOGETHER_FROM);
        let hint_score = REJECT_AT * TOGETHER_FROM;
        let score = if p < hint {
            p / hint * hint_score
        } else if p < self.from {
            hint_score + (p - hint) / (self.from - hint) * (REJECT_AT - hint_score)
        } else {
            REJECT_AT + (p - self.from) / (1.0 - self.from) * (1.0 - REJECT_AT)
        };
        (score * 1_000.0).round() / 1_000.0
    }
}

/// Converts probabilities of labels to findings: for each topic the highest score, and its label.
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
        Label { name: name.into(), topic, from, hint: None }
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
    fn from_its_hint_on_a_label_counts_with_words() {
        let label = Label { hint: Some(0.3), ..label("nudity", Some(Topic::Adult), 0.8) };
        for (probability, score) in [(0.15, 0.188), (0.3, 0.375), (0.55, 0.438), (0.8, 0.5), (0.9, 0.75)] {
            assert!((label.score(probability) - score).abs() < 0.002, "{probability}");
        }
        assert!(label.score(0.3) >= REJECT_AT * TOGETHER_FROM && label.score(0.299) < REJECT_AT * TOGETHER_FROM);
        assert!(label.is_usable() && !Label { hint: Some(0.8), ..label.clone() }.is_usable());
        assert!(!Label { hint: Some(0.0), ..label }.is_usable());
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
