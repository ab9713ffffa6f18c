//! Scores words by their density, variety and context.

use crate::fold::Folded;
use crate::lexicon::{Entry, Hit, Lexicon};
use crate::lists::{ENGLISH, LANGUAGES, Side};
use crate::topic::Topic;
use std::collections::BTreeMap;

/// Factor for a word in the title, relative to one in the text.
const TITLE_FACTOR: f32 = 2.5;
/// Points for half of the full score, in a text of zero length without context.
const HALF_AT: f32 = 18.0;
/// Points added to [`HALF_AT`] per word of the text: equal points mean less in a longer text.
const HALF_PER_WORD: f32 = 0.05;
/// Points against a topic that halve the weight of ambiguous words in a short text.
const AGAINST_HALVES: f32 = 6.0;
/// Maximum that points against a topic add to the divisor, so that stuffed pages gain little.
const MAX_RELIEF: f32 = 6.0;
/// Share of that addition which applies to explicit words.
const RELIEF_OF_EXPLICIT: f32 = 0.6;
/// Minimum weight of explicit words, which are unmistakable.
const EXPLICIT_FROM: f32 = 10.0;
/// Factors for topics with zero, one, two or three different words. Real pages of a topic use many.
const FEW_WORDS: [f32; 4] = [0.0, 0.4, 0.6, 0.85];
/// Minimum factor for a topic with fewer different words for it than against it, as in reports.
const LEAST_FOR_ABOUT: f32 = 0.5;
/// Number of common words from which the language they identify outweighs the page's tag.
const TOLD_FROM: f32 = 6.0;
/// Minimum share of a language's common words, relative to the most frequent language, in a page without a tag.
const SPOKEN_FROM: f32 = 0.5;
const MAX_PLACES: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum In {
    Title,
    Text,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Weighed {
    /// Index in the lexicon.
    pub(crate) word: usize,
    pub(crate) points: f32,
    pub(crate) count: u32,
    /// First places, as byte ranges in the given title or text.
    pub(crate) places: Vec<(In, usize, usize)>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Scored {
    pub(crate) topic: Topic,
    /// From 0 (nothing of the topic) to 1 (nothing else), rounded to thousandths.
    pub(crate) score: f32,
    /// Words for the topic, those with most points first.
    pub(crate) terms: Vec<Weighed>,
    /// Words against the topic, including context.
    pub(crate) against: Vec<Weighed>,
}

/// Returns the page's score for each topic by its words. Topics without a score are omitted.
pub(crate) fn score(lexicon: &Lexicon, title: &Folded, text: &Folded, language: Option<&str>) -> Vec<Scored> {
    let spoken = Spoken::detect(lexicon, &[&title.text, &text.text], language);
    let wanted = |e: &Entry| e.side != Side::Common && spoken.lists[e.language];
    let mut counts = BTreeMap::new();
    for (part, folded) in [(In::Title, title), (In::Text, text)] {
        for hit in lexicon.find(&folded.text, wanted) {
            count(&mut counts, part, folded, hit);
        }
    }
    let half_at = |topic| half_of(topic) + HALF_PER_WORD * text.len() as f32;
    let scored = Topic::ALL.into_iter().map(|topic| weigh(lexicon, &spoken, &counts, topic, half_at(topic)));
    scored.filter(|s| s.score > 0.0).collect()
}

/// Returns the points for half of the full score. It is lower for hate, violence and self-harm, which have fewer listed
/// words because they use everyday words. Advertisers repeat the words of their trade.
fn half_of(topic: Topic) -> f32 {
    match topic {
        Topic::SelfHarm => 12.0,
        Topic::Hate => 13.0,
        Topic::Violence => 14.0,
        Topic::Scams => 17.0,
        Topic::Adult | Topic::Gambling | Topic::Drugs => HALF_AT,
    }
}

#[derive(Default)]
struct Count {
    in_title: bool,
    in_text: u32,
    places: Vec<(In, usize, usize)>,
}

impl Count {
    /// Returns the weighted count. Each further occurrence adds less than the one before.
    fn times(&self) -> f32 {
        let text = if self.in_text == 0 { 0.0 } else { 1.0 + (self.in_text as f32).ln() };
        text + if self.in_title { TITLE_FACTOR } else { 0.0 }
    }
}

fn count(counts: &mut BTreeMap<usize, Count>, part: In, folded: &Folded, hit: Hit) {
    let count: &mut Count = counts.entry(hit.word).or_default();
    match part {
        In::Title => count.in_title = true,
        In::Text => count.in_text += 1,
    }
    if count.places.len() < MAX_PLACES {
        let (from, to) = folded.origin(hit.start, hit.end);
        count.places.push((part, from, to));
    }
}

fn weigh(lexicon: &Lexicon, spoken: &Spoken, counts: &BTreeMap<usize, Count>, topic: Topic, half_at: f32) -> Scored {
    let mut tally = Tally::default();
    let (mut terms, mut against) = (Vec::new(), Vec::new());
    for (word, count) in counts {
        // A word counts once per topic. Entries of the topic's list take precedence.
        let sides = [Side::Topic(topic), Side::Against(topic), Side::Context];
        let meant = sides.iter().find_map(|side| Some((*side, spoken.meant(lexicon.entries(*word), *side)?)));
        if let Some((side, entry)) = meant.filter(|(_, e)| e.weight > 0.0) {
            let points = entry.weight * count.times();
            tally.add(side, entry.weight, points);
            let weighed = Weighed {
                word: *word,
                points,
                count: count.in_text + u32::from(count.in_title),
                places: count.places.clone(),
            };
            if side == Side::Topic(topic) { terms.push(weighed) } else { against.push(weighed) }
        }
    }
    for words in [&mut terms, &mut against] {
        words.sort_by(|a: &Weighed, b: &Weighed| b.points.total_cmp(&a.points));
    }
    Scored { topic, score: tally.score(topic, half_at), terms, against }
}

#[derive(Default)]
struct Tally {
    /// Points of explicit words.
    explicit: f32,
    ambiguous: f32,
    /// Number of different words with a weight above 1.
    different: usize,
    /// Sum of points against the topic, including words of context.
    against: f32,
    different_against: usize,
}

impl Tally {
    fn add(&mut self, side: Side, weight: f32, points: f32) {
        match side {
            Side::Common => {}
            Side::Context | Side::Against(_) => {
                self.against += points;
                self.different_against += usize::from(weight > 1.0);
            }
            Side::Topic(_) => {
                let kind = if weight >= EXPLICIT_FROM { &mut self.explicit } else { &mut self.ambiguous };
                *kind += points;
                self.different += usize::from(weight > 1.0);
            }
        }
    }

    fn score(&self, topic: Topic, half_at: f32) -> f32 {
        // A long text contains some words of context, and of any topic, by chance.
        let relief = (self.against / (AGAINST_HALVES * half_at / HALF_AT)).min(MAX_RELIEF);
        let share = self.different as f32 / (self.different_against + 1) as f32;
        // Reports also name a trade, so one more word is needed if none is explicit.
        let is_trade = matches!(topic, Topic::Adult | Topic::Gambling | Topic::Drugs);
        let telling = self.different - usize::from(is_trade && self.explicit == 0.0 && self.different > 1);
        let variety = FEW_WORDS.get(telling).copied().unwrap_or(1.0) * share.clamp(LEAST_FOR_ABOUT, 1.0);
        let points = variety * (self.explicit / (1.0 + RELIEF_OF_EXPLICIT * relief) + self.ambiguous / (1.0 + relief));
        (points / (points + half_at) * 1_000.0).round() / 1_000.0
    }
}

struct Spoken {
    /// Language of the page, which takes precedence if several lists contain a word.
    own: usize,
    /// True for each language whose lists apply. English always does.
    lists: [bool; LANGUAGES.len()],
}

impl Spoken {
    /// Determines the lists that apply by counting the common words of each language. Sufficiently many outweigh the
    /// page's BCP 47 tag, which often describes the template. A tag of a language without lists is trusted.
    fn detect(lexicon: &Lexicon, texts: &[&str], tag: Option<&str>) -> Spoken {
        let primary = tag.and_then(|t| t.split(['-', '_']).next()).filter(|p| !p.is_empty());
        let named = primary.map(|p| LANGUAGES.iter().position(|l| l.eq_ignore_ascii_case(p)));
        if named == Some(None) {
            return Spoken { own: ENGLISH, lists: std::array::from_fn(|l| l == ENGLISH) };
        }
        let told = common_words(lexicon, texts);
        let most = told.iter().copied().fold(0.0, f32::max);
        let guess = told.iter().position(|t| *t == most).filter(|_| most > 0.0).unwrap_or(ENGLISH);
        let own = named.flatten().filter(|_| most < TOLD_FROM).unwrap_or(guess);
        let counts = |l: usize| match named.flatten() {
            Some(named) => l == own || l == named,
            None => told[l] >= SPOKEN_FROM * most,
        };
        Spoken { own, lists: std::array::from_fn(|l| l == ENGLISH || counts(l)) }
    }

    /// Returns the entry for this side: in the page's language, else in English, else in any language that applies.
    fn meant<'a>(&self, entries: &'a [Entry], side: Side) -> Option<&'a Entry> {
        let of = |language| entries.iter().find(|e| e.side == side && e.language == language);
        let any = || entries.iter().find(|e| e.side == side && self.lists[e.language]);
        of(self.own).or_else(|| of(ENGLISH)).or_else(any)
    }
}

fn common_words(lexicon: &Lexicon, texts: &[&str]) -> [f32; LANGUAGES.len()] {
    let mut told = [0.0_f32; LANGUAGES.len()];
    let hits = texts.iter().flat_map(|text| lexicon.find(text, |e| e.side == Side::Common));
    for entry in hits.flat_map(|hit| lexicon.entries(hit.word)).filter(|e| e.side == Side::Common) {
        told[entry.language] += 1.0;
    }
    told
}
