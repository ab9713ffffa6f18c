use crate::image::Region;
use crate::overrides::Override;
use crate::topic::{Topic, Verdict, in_thousandths};
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;

/// Minimum score of reported findings.
pub const REPORT_AT: f32 = 0.05;
/// Maximum number of words named in one sentence of an explanation.
const WORDS_NAMED: usize = 5;

/// Result of screening a page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Screening {
    /// The verdict.
    pub verdict: Verdict,
    /// Findings with a score of at least [`REPORT_AT`], highest score first.
    pub topics: Vec<Finding>,
    /// Persons to leave out that the page names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub persons: Vec<NamedPerson>,
    /// The operator's override, if it decided the verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overridden: Option<Override>,
    /// Reason why the page's image was not classified, if it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image_not_classified: Option<String>,
}

/// Finding for one topic in a page, with its evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The topic.
    pub topic: Topic,
    /// From 0 (nothing of the topic) to 1 (nothing else), rounded to thousandths.
    #[serde(serialize_with = "in_thousandths")]
    pub score: f32,
    /// Score from which the topic rejects a page.
    #[serde(serialize_with = "in_thousandths")]
    pub threshold: f32,
    /// True if this finding rejects the page.
    pub rejects: bool,
    /// Reason why a score above the threshold does not reject the page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waived: Option<String>,
    /// Listed terms that contributed to the score.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub terms: Vec<Evidence>,
    /// Terms against the topic: words of people who warn, treat, teach or report.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub counter_evidence: Vec<Evidence>,
    /// Description of an image that indicates the topic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// Region of the image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<Region>,
}

/// A listed term found in the page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// Term as in the word list. A star stands for any further letters.
    pub term: String,
    /// Number of points that the term added.
    #[serde(serialize_with = "in_thousandths")]
    pub points: f32,
    /// Number of occurrences.
    pub count: u32,
    /// Places of the first occurrences.
    pub places: Vec<Place>,
}

/// A place in the page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// `title` or `text`.
    pub r#in: String,
    /// Offset of the place, in characters.
    pub at: usize,
    /// Text at that place.
    pub text: String,
}

/// A person to leave out, and the place in the page with the name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedPerson {
    /// The person's name, as in the settings.
    pub name: String,
    /// Place of the first occurrence.
    pub place: Place,
}

impl Override {
    /// Applies the override to a result. Its findings are kept.
    pub fn apply(&self, mut screening: Screening) -> Screening {
        let lifts = |topic: Topic| self.topics.is_empty() || self.topics.contains(&topic);
        let remains = screening.topics.iter().any(|t| t.rejects && !lifts(t.topic))
            || (!self.topics.is_empty() && !screening.persons.is_empty());
        if self.verdict == Verdict::Pass && remains {
            return screening;
        }
        screening.verdict = self.verdict;
        screening.overridden = Some(self.clone());
        screening
    }
}

impl Screening {
    pub(crate) fn from_findings(findings: impl IntoIterator<Item = Finding>, persons: Vec<NamedPerson>) -> Screening {
        let mut topics: Vec<Finding> = Vec::new();
        for finding in findings.into_iter().filter(|f| f.score >= REPORT_AT) {
            match topics.iter_mut().find(|t| t.topic == finding.topic) {
                Some(known) if known.score < finding.score => *known = finding,
                Some(_) => {}
                None => topics.push(finding),
            }
        }
        topics.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.topic.cmp(&b.topic)));
        let rejected = !persons.is_empty() || topics.iter().any(|t| t.rejects);
        let verdict = if rejected { Verdict::Reject } else { Verdict::Pass };
        Screening { verdict, topics, persons, overridden: None, image_not_classified: None }
    }

    /// Returns the reasons for a rejection: names of topics, `person` or `operator`.
    pub fn rejected_for(&self) -> Vec<String> {
        if self.verdict == Verdict::Pass {
            return Vec::new();
        }
        let topics = self.topics.iter().filter(|t| t.rejects).map(|t| t.topic.to_string());
        let person = (!self.persons.is_empty()).then(|| "person".to_owned());
        let mut reasons: Vec<String> = topics.chain(person).collect();
        if reasons.is_empty() && self.overridden.is_some() {
            reasons.push("operator".to_owned());
        }
        reasons
    }

    /// True if the page's image contributed to its rejection.
    pub fn is_rejected_for_image(&self) -> bool {
        self.verdict == Verdict::Reject && self.topics.iter().any(|topic| topic.rejects && topic.image.is_some())
    }

    /// Explains a rejection, with the same sentences as [`Screening::explain`]; `None` if the page passes.
    pub fn because(&self) -> Option<String> {
        if self.verdict == Verdict::Pass {
            return None;
        }
        let rule = self.overridden.iter().map(Override::explain);
        let persons = self.persons.iter().map(NamedPerson::explain);
        let topics = self.topics.iter().filter(|t| t.rejects).map(Finding::explain);
        Some(rule.chain(persons).chain(topics).collect::<Vec<_>>().join(" "))
    }

    /// Returns one sentence per finding, for readers without knowledge of scores and lists.
    pub fn explain(&self) -> String {
        let mut text = match self.verdict {
            Verdict::Reject => "The page is kept out.".to_owned(),
            Verdict::Pass if self.topics.is_empty() => "Nothing was found; the page passes.".to_owned(),
            Verdict::Pass => "The page passes.".to_owned(),
        };
        let rule = self.overridden.iter().map(Override::explain);
        let findings = self.persons.iter().map(NamedPerson::explain).chain(self.topics.iter().map(Finding::explain));
        for sentence in rule.chain(findings) {
            text.extend([" ", &sentence]);
        }
        if let Some(why) = &self.image_not_classified {
            let _ = write!(text, " Its image was not looked at: {why}.");
        }
        if !self.topics.is_empty() {
            text.push_str(" Scores go from 0, nothing of it, to 1, nothing else.");
        }
        if self.verdict == Verdict::Reject && self.overridden.is_none() {
            text.push_str(" Whoever runs this crawler can let the page or its site pass all the same.");
        }
        text
    }
}

impl NamedPerson {
    fn explain(&self) -> String {
        format!("It names {}, whose pages are left out here.", self.name)
    }
}

impl Finding {
    fn explain(&self) -> String {
        let (score, threshold, topic) = (self.score, self.threshold, self.topic);
        let judged = if self.rejects { "It looks like" } else { "It has something of" };
        let limit = if self.score >= threshold { "the limit is" } else { "below the limit of" };
        let mut text = format!("{judged} {} ({topic}: {score:.2}, {limit} {threshold:.2})", topic.meaning());
        if !self.terms.is_empty() {
            let _ = write!(text, " because of {}", named(&self.terms));
        }
        if let Some(image) = &self.image {
            let and = if self.terms.is_empty() { "" } else { " and" };
            let _ = write!(text, "{and} because of its image: {image}");
            if let Some(region) = &self.region {
                let _ = write!(text, " ({region})");
            }
        }
        if !self.counter_evidence.is_empty() {
            let _ = write!(text, "; {} spoke against it", named(&self.counter_evidence));
        }
        if let Some(why) = &self.waived {
            let _ = write!(text, "; it does not count: {why}");
        }
        text.push('.');
        text
    }
}

fn named(evidence: &[Evidence]) -> String {
    let words = evidence.iter().take(WORDS_NAMED).map(|e| {
        let written = e.places.first().map_or(e.term.as_str(), |p| p.text.as_str());
        let times = if e.count > 1 { format!(" ({} times)", e.count) } else { String::new() };
        format!("“{written}”{times}")
    });
    let mut text = words.collect::<Vec<_>>().join(", ");
    if evidence.len() > WORDS_NAMED {
        let _ = write!(text, " and {} more", evidence.len() - WORDS_NAMED);
    }
    text
}
