use crate::fold::fold;
use crate::image::Detection;
use crate::lexicon::Lexicon;
use crate::lists::{EMBEDDED, List, read};
use crate::persons::Persons;
use crate::score::{In, Scored, Weighed, score};
use crate::settings::{Settings, TOGETHER_FROM};
use crate::topic::{Topic, TopicScore};
use crate::verdict::{Evidence, Finding, NamedPerson, Place, REPORT_AT, Screening};
use curlew_text::hygiene::head_bytes;
use std::fmt;
use std::sync::LazyLock;

/// Maximum number of bytes of a text that are screened. The rest is likely to be similar.
pub const MAX_TEXT_BYTES: usize = 512 * 1024;
/// Maximum number of bytes of a title that are screened.
pub const MAX_TITLE_BYTES: usize = 1024;
/// Maximum number of terms for a topic, and against it, in an explanation.
const MAX_TERMS: usize = 12;
const MAX_COUNTER: usize = 8;
/// Maximum length in bytes of a quotation from the page in an explanation.
const MAX_QUOTE: usize = 80;

static STANDARD: LazyLock<Screener> = LazyLock::new(|| {
    // The lists are compiled in and tests build them; a hundred times as many words would fit.
    Screener::new(Settings::default(), &[]).unwrap_or_else(|why| unreachable!("{why}"))
});

/// A page to screen.
#[derive(Clone, Copy, Debug, Default)]
pub struct Page<'a> {
    /// Plain-text title of the page.
    pub title: &'a str,
    /// Plain text of the page.
    pub text: &'a str,
    /// BCP 47 tag such as `it` or `it-IT`. Lists in this language apply in addition to English ones. If the tag is
    /// missing or contradicts the text, the most common words identify the language.
    pub language: Option<&'a str>,
    /// Host of the page, for sites that the operator allows.
    pub host: Option<&'a str>,
}

/// Screens pages. Building a screener takes milliseconds, so reuse it.
pub struct Screener {
    settings: Settings,
    lexicon: Lexicon,
    persons: Persons,
}

impl fmt::Debug for Screener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Screener").field("settings", &self.settings).finish_non_exhaustive()
    }
}

/// An unusable setting or list: one line with its name and the reason.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unusable(String);

impl Screener {
    /// Builds a screener from the compiled-in lists and `further` lists, whose lines replace those for the same word.
    pub fn new(settings: Settings, further: &[List]) -> Result<Screener, Unusable> {
        settings.check().map_err(Unusable)?;
        let mut lines = Vec::new();
        let further = further.iter().map(|list| (list.name.as_str(), list.text.as_str()));
        for (name, text) in EMBEDDED.iter().copied().chain(further) {
            lines.extend(read(name, text).map_err(Unusable)?);
        }
        let lexicon = Lexicon::new(lines);
        let persons = Persons::new(&settings.persons);
        let persons = persons.map_err(|why| Unusable(format!("there are too many persons: {why}")))?;
        Ok(Screener { settings, lexicon, persons })
    }

    /// Returns the screener with default settings and the compiled-in lists.
    pub fn standard() -> &'static Screener {
        &STANDARD
    }

    /// Returns the number of persons to leave out.
    pub fn persons(&self) -> usize {
        self.settings.persons.len()
    }

    /// Screens a page, in time proportional to its text, of which at most [`MAX_TEXT_BYTES`] are read.
    pub fn screen(&self, page: &Page<'_>) -> Screening {
        self.screen_with(page, &[])
    }

    /// Screens a page together with a classifier's findings in its image. Of two findings for a topic, the higher score
    /// counts. If both reach [`TOGETHER_FROM`] of the threshold, they are combined as independent evidence.
    pub fn screen_with(&self, page: &Page<'_>, image: &[Detection]) -> Screening {
        let (title, text) = (head_bytes(page.title, MAX_TITLE_BYTES), head_bytes(page.text, MAX_TEXT_BYTES));
        let page = Page { title, text, ..*page };
        let title = fold(page.title, |w| self.lexicon.knows(w));
        let text = fold(page.text, |w| self.lexicon.knows(w));
        let mut named = Vec::new();
        for (part, written, folded) in [(In::Title, page.title, &title), (In::Text, page.text, &text)] {
            for person in self.persons.find(written, folded) {
                let place = place(&page, part, person.from, person.to);
                named.push(NamedPerson { name: person.person, place });
            }
        }
        let scored = score(&self.lexicon, &title, &text, page.language);
        let words = scored.into_iter().filter(|s| s.score >= REPORT_AT).map(|s| self.finding(&page, &s));
        let images = image.iter().map(|detection| self.image_finding(&page, detection));
        let mut found: Vec<Finding> = words.chain(images).collect();
        let together: Vec<Finding> =
            Topic::ALL.iter().filter_map(|topic| self.together(&page, *topic, &found)).collect();
        found.extend(together);
        Screening::from_findings(found, named)
    }

    /// True if an image alone can reject a page, given the highest score of its classifier.
    pub fn may_reject_at(&self, highest: f32) -> bool {
        Topic::ALL.into_iter().map(|topic| self.settings.rule(topic)).any(|rule| rule.on && rule.threshold <= highest)
    }

    /// Combines the findings for a topic in words and image, if both are strong enough.
    fn together(&self, page: &Page<'_>, topic: Topic, found: &[Finding]) -> Option<Finding> {
        let highest = |of_image: bool| {
            let of_one = found.iter().filter(|f| f.topic == topic && f.image.is_some() == of_image);
            of_one.max_by(|a, b| a.score.total_cmp(&b.score))
        };
        let (words, image) = (highest(false)?, highest(true)?);
        let least = self.settings.rule(topic).threshold * TOGETHER_FROM;
        if words.score.min(image.score) < least {
            return None;
        }
        let score = 1.0 - (1.0 - words.score) * (1.0 - image.score);
        let score = (score * 1_000.0).round() / 1_000.0;
        Some(Finding {
            terms: words.terms.clone(),
            counter_evidence: words.counter_evidence.clone(),
            image: image.image.clone(),
            region: image.region,
            ..self.judged(page, TopicScore { topic, score })
        })
    }

    fn finding(&self, page: &Page<'_>, scored: &Scored) -> Finding {
        let evidence = |list: &[Weighed], most: usize| list.iter().take(most).map(|w| self.evidence(page, w)).collect();
        Finding {
            terms: evidence(&scored.terms, MAX_TERMS),
            counter_evidence: evidence(&scored.against, MAX_COUNTER),
            ..self.judged(page, TopicScore { topic: scored.topic, score: scored.score })
        }
    }

    fn image_finding(&self, page: &Page<'_>, detection: &Detection) -> Finding {
        let Detection { score, why, region } = detection;
        Finding { image: Some(why.clone()), region: *region, ..self.judged(page, *score) }
    }

    fn judged(&self, page: &Page<'_>, TopicScore { topic, score }: TopicScore) -> Finding {
        let rule = self.settings.rule(topic);
        let reached = score >= rule.threshold;
        let waived = match self.settings.allowed(page.host, topic) {
            _ if reached && !rule.on => Some(format!("{topic} is switched off")),
            Some(allowed) if reached => Some(format!("{} is let through", allowed.site)),
            _ => None,
        };
        Finding {
            topic,
            score,
            threshold: rule.threshold,
            rejects: reached && waived.is_none(),
            waived,
            terms: Vec::new(),
            counter_evidence: Vec::new(),
            image: None,
            region: None,
        }
    }

    fn evidence(&self, page: &Page<'_>, weighed: &Weighed) -> Evidence {
        Evidence {
            term: self.lexicon.written(weighed.word).to_owned(),
            points: (weighed.points * 10.0).round() / 10.0,
            count: weighed.count,
            places: weighed.places.iter().map(|(part, from, to)| place(page, *part, *from, *to)).collect(),
        }
    }
}

fn place(page: &Page<'_>, part: In, from: usize, to: usize) -> Place {
    let (name, text) = match part {
        In::Title => ("title", page.title),
        In::Text => ("text", page.text),
    };
    let quote = head_bytes(text.get(from..to).unwrap_or_default(), MAX_QUOTE);
    Place { r#in: name.to_owned(), at: text.get(..from).map_or(0, |t| t.chars().count()), text: quote.to_owned() }
}
