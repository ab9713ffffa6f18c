//! Scoring by words: how dense and how varied those of a topic are, and in what company.

use crate::lexicon::{ENGLISH, Entry, LANGUAGES, LEXICON, Side};
use crate::{Topic, TopicScore, fold::fold};

/// Bytes of a text that are read; what comes after is more of the same.
pub const MAX_TEXT_BYTES: usize = 512 * 1024;
/// Bytes of a title that are read.
pub const MAX_TITLE_BYTES: usize = 1024;

/// A word in the title counts as so many in the text.
const TITLE_FACTOR: f32 = 2.5;
/// Points that make half of a full score in a text of no length.
const HALF_AT: f32 = 20.0;
/// Points that each word of the text adds to that: the same words tell less in a longer text.
const HALF_PER_WORD: f32 = 0.05;
/// Points of context that halve, in a short text, what ambiguous words say.
const CONTEXT_HALVES: f32 = 6.0;
/// Context never divides by more than this, so that it cannot be stuffed in.
const MAX_RELIEF: f32 = 4.0;
/// Unmistakable words are weakened by context only so much.
const RELIEF_OF_EXPLICIT: f32 = 0.6;
/// From this weight on a word is unmistakable.
const EXPLICIT_FROM: f32 = 10.0;
/// A topic that none, one, two or three different words speak for is weakened: pages of a topic use many.
const FEW_WORDS: [f32; 4] = [0.0, 0.4, 0.6, 0.85];

/// Where nobody says the language, a list counts if a text has this part of the common words of the one it has most of.
const SPOKEN_FROM: f32 = 0.5;

/// How much of each topic there is in a page, by its words. Takes time in proportion to the text.
pub fn score(title: &str, text: &str, language: Option<&str>) -> Vec<TopicScore> {
    let (title, text) = (fold(head(title, MAX_TITLE_BYTES)), fold(head(text, MAX_TEXT_BYTES)));
    let spoken = language.map_or_else(|| Spoken::guess(&[&title.text, &text.text]), Spoken::named);
    let mut counts = vec![Count::default(); LEXICON.len()];
    let wanted = |e: &Entry| e.side != Side::Common && spoken.has(e.language);
    LEXICON.find(&title.text, wanted).iter().for_each(|w| counts[*w].in_title = true);
    LEXICON.find(&text.text, wanted).iter().for_each(|w| counts[*w].in_text += 1);
    let tally = Tally::of(&counts, &spoken);
    let half_at = HALF_AT + HALF_PER_WORD * text.words as f32;
    Topic::ALL.into_iter().map(|topic| TopicScore { topic, score: tally.score(topic, half_at) }).collect()
}

/// How often a listed word was found.
#[derive(Clone, Copy, Default)]
struct Count {
    in_title: bool,
    in_text: u32,
}

impl Count {
    /// The tenth time tells less than the first.
    fn points(self) -> f32 {
        let text = if self.in_text == 0 { 0.0 } else { 1.0 + (self.in_text as f32).ln() };
        text + if self.in_title { TITLE_FACTOR } else { 0.0 }
    }
}

/// Which lists count.
struct Spoken {
    /// The language of the page; where several lists hold a word, this one says what it means.
    own: usize,
    /// Of which lists words count; English always.
    lists: [bool; LANGUAGES.len()],
}

impl Spoken {
    /// The list of a BCP 47 tag and the English one; only that if the language has none.
    fn named(tag: &str) -> Spoken {
        let primary = tag.split(['-', '_']).next().unwrap_or_default();
        let own = LANGUAGES.iter().position(|l| l.eq_ignore_ascii_case(primary)).unwrap_or(ENGLISH);
        Spoken { own, lists: std::array::from_fn(|l| l == ENGLISH || l == own) }
    }

    /// By the words that every text of a language holds; all lists if there is none of them.
    fn guess(texts: &[&str]) -> Spoken {
        let mut told = [0.0_f32; LANGUAGES.len()];
        for text in texts {
            for word in LEXICON.find(text, |e| e.side == Side::Common) {
                let common = LEXICON.entries(word).iter().filter(|e| e.side == Side::Common);
                common.for_each(|e| told[e.language] += 1.0);
            }
        }
        let most = told.iter().copied().fold(0.0, f32::max);
        let own = if most > 0.0 { told.iter().position(|t| *t == most).unwrap_or(ENGLISH) } else { ENGLISH };
        Spoken { own, lists: std::array::from_fn(|l| l == ENGLISH || told[l] >= SPOKEN_FROM * most) }
    }

    fn has(&self, language: usize) -> bool {
        self.lists.get(language).copied().unwrap_or(false)
    }

    /// Whether this entry counts beside the others of the same word, which counts once: as the page's own language
    /// has it, so that a word is harmless if that says so, whatever it means in English.
    fn lets(&self, entry: &Entry, entries: &[Entry]) -> bool {
        let held = |language| entries.iter().any(|e| e.language == language && e.side == entry.side);
        let first = if held(self.own) { self.own } else { ENGLISH };
        self.has(entry.language) && (entry.language == first || !held(first))
    }
}

/// What was found for one topic in one language.
#[derive(Clone, Copy, Default)]
struct Finding {
    /// Points of words that are unmistakable.
    explicit: f32,
    /// Points of all others.
    ambiguous: f32,
    /// How many different words with more than the least weight.
    different: usize,
}

impl Finding {
    fn with(self, other: Finding) -> Finding {
        Finding {
            explicit: self.explicit + other.explicit,
            ambiguous: self.ambiguous + other.ambiguous,
            different: self.different + other.different,
        }
    }

    fn sum(&self) -> f32 {
        self.explicit + self.ambiguous
    }
}

#[derive(Default)]
struct Tally {
    topics: [[Finding; LANGUAGES.len()]; Topic::ALL.len()],
    context: [f32; LANGUAGES.len()],
}

impl Tally {
    fn of(counts: &[Count], spoken: &Spoken) -> Tally {
        let mut tally = Tally::default();
        for (word, count) in counts.iter().enumerate().filter(|(_, c)| c.in_title || c.in_text > 0) {
            let entries = LEXICON.entries(word);
            for entry in entries.iter().filter(|e| e.weight > 0.0 && spoken.lets(e, entries)) {
                tally.add(entry, count.points());
            }
        }
        tally
    }

    fn add(&mut self, entry: &Entry, times: f32) {
        let points = entry.weight * times;
        match entry.side {
            Side::Common => {}
            Side::Context => self.context[entry.language] += points,
            Side::Topic(topic) => {
                let finding = &mut self.topics[topic as usize][entry.language];
                if entry.weight >= EXPLICIT_FROM {
                    finding.explicit += points;
                } else {
                    finding.ambiguous += points;
                }
                finding.different += usize::from(entry.weight > 1.0);
            }
        }
    }

    /// From 0 to 1, in thousandths.
    fn score(&self, topic: Topic, half_at: f32) -> f32 {
        let [english, others @ ..] = &self.topics[topic as usize];
        let best = others.iter().copied().max_by(|a, b| a.sum().total_cmp(&b.sum())).unwrap_or_default();
        let finding = english.with(best);
        let [english, others @ ..] = &self.context;
        let context = english + others.iter().copied().fold(0.0, f32::max);
        // In a long text a few words of context are found by chance, as are a few of any topic.
        let relief = (context / (CONTEXT_HALVES * half_at / HALF_AT)).min(MAX_RELIEF - 1.0);
        let points = finding.explicit / (1.0 + RELIEF_OF_EXPLICIT * relief) + finding.ambiguous / (1.0 + relief);
        let points = points * FEW_WORDS.get(finding.different).copied().unwrap_or(1.0);
        (points / (points + half_at) * 1_000.0).round() / 1_000.0
    }
}

fn head(text: &str, bytes: usize) -> &str {
    text.get(..text.floor_char_boundary(bytes)).unwrap_or(text)
}
