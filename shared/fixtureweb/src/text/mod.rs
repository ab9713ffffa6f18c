//! Banks of sentences, and articles composed from them. The same bank and seed always give the same article.

use serde::Serialize;
use std::sync::LazyLock;

/// Sentences in one language on one subject, with the slots `{p}` for a place, `{a}` for a person, `{m}` for a month,
/// and `{n}` for a small number.
#[derive(Debug)]
pub(crate) struct Bank {
    pub(crate) lang: &'static str,
    titles: Vec<&'static str>,
    openings: Vec<&'static str>,
    body: Vec<&'static str>,
    closings: Vec<&'static str>,
    places: Vec<&'static str>,
    people: Vec<&'static str>,
    months: Vec<&'static str>,
}

impl Bank {
    /// Parses a file in `banks/`: a section is a line with its name, followed by lines up to the next empty line.
    fn parse(file: &'static str) -> Bank {
        let section = |name: &str| -> Vec<&'static str> {
            file.lines().skip_while(|line| *line != name).skip(1).take_while(|line| !line.is_empty()).collect()
        };
        Bank {
            lang: section("lang").first().copied().unwrap_or(""),
            titles: section("titles"),
            openings: section("openings"),
            body: section("body"),
            closings: section("closings"),
            places: section("places"),
            people: section("people"),
            months: section("months"),
        }
    }
}

/// Declares the banks and their list; a subject's name is also the name of its file.
macro_rules! banks {
    ($($name:ident: $subject:literal,)*) => {
        $(
            pub(crate) static $name: LazyLock<Bank> =
                LazyLock::new(|| Bank::parse(include_str!(concat!("banks/", $subject, ".txt"))));
        )*
        /// All banks, by subject.
        static SUBJECTS: &[(&str, &LazyLock<Bank>)] = &[$(($subject, &$name)),*];
    };
}

banks! {
    HARBOUR: "harbour",
    MONTAGNA: "montagna",
    BIRDS: "birds",
    CUCINA: "cucina",
    CYCLING: "cycling",
    BORGO: "borgo",
    WORKSHOP: "workshop",
    GIARDINO: "giardino",
    ORCHARD: "orchard",
    LIBRI: "libri",
    WALKS: "walks",
    STRADE: "strade",
    WALD: "wald",
    LITTORAL: "littoral",
    PATIO: "patio",
    YAMAMICHI: "yamamichi",
}

/// The title, author and paragraphs of an article, as plain text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Prose {
    pub(crate) title: String,
    pub(crate) author: String,
    pub(crate) paragraphs: Vec<String>,
}

impl Prose {
    /// Returns the first one or two sentences, for feeds and descriptions.
    pub(crate) fn summary(&self) -> String {
        let first = self.paragraphs.first().map_or("", String::as_str);
        let end = first.char_indices().nth(180).map_or(first.len(), |(at, _)| at);
        let cut =
            first[..end].rfind(['.', '。']).map_or(end, |at| at + if first[at..].starts_with('。') { 3 } else { 1 });
        first[..cut].to_owned()
    }

    /// Returns the number of words in all paragraphs.
    #[cfg(test)]
    pub(crate) fn words(&self) -> usize {
        self.paragraphs.iter().map(|p| p.split_whitespace().count()).sum()
    }
}

/// An article that is not part of a site.
#[derive(Clone, Debug, Serialize)]
pub struct Text {
    /// Language of the text, as a BCP 47 tag.
    pub language: &'static str,
    /// Subject; articles on the same subject use the same words.
    pub subject: &'static str,
    /// Title of the text.
    pub title: String,
    /// Paragraphs, separated by blank lines.
    pub text: String,
}

/// Returns `count` articles, with the subjects in turn; the same ones in every call. For measurements.
pub fn texts(count: usize) -> impl Iterator<Item = Text> {
    (0..count).map(|number| {
        let (subject, bank) = SUBJECTS[number % SUBJECTS.len()];
        let n = number / SUBJECTS.len();
        let prose = longer_article(bank, 7 + n as u64 % 13, n, 1 + n % 3);
        Text { language: bank.lang, subject, title: prose.title, text: prose.paragraphs.join("\n\n") }
    })
}

/// Pseudo-random number generator: SplitMix64 with a seed.
#[derive(Clone, Debug)]
pub(crate) struct Mixer(u64);

impl Mixer {
    pub(crate) const fn new(seed: u64) -> Mixer {
        Mixer(seed)
    }

    pub(crate) const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number below `limit`; 0 if `limit` is 0.
    pub(crate) const fn below(&mut self, limit: usize) -> usize {
        if limit == 0 { 0 } else { (self.next() % limit as u64) as usize }
    }

    fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list.get(self.below(list.len())).copied().unwrap_or("")
    }
}

/// Hashes bytes with FNV-1a, for seeds and entity tags.
pub(crate) fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Returns article `n` of the site with this seed: about 120 to 260 words in three or four paragraphs.
pub(crate) fn article(bank: &Bank, seed: u64, n: usize) -> Prose {
    longer_article(bank, seed, n, 1)
}

/// Returns an article like [`article`], with `rounds` variations of its middle.
pub(crate) fn longer_article(bank: &Bank, seed: u64, n: usize, rounds: usize) -> Prose {
    let mut mixer = Mixer::new(seed ^ (n as u64).wrapping_mul(0xd6e8_feb8_6659_fd93));
    // With equal numbers of places and titles, the same pairs would repeat in every cycle.
    let cycle = if bank.places.len() == bank.titles.len() { n / bank.titles.len().max(1) } else { 0 };
    let place = bank.places.get((n + cycle + seed as usize % 7) % bank.places.len().max(1)).copied().unwrap_or("");
    let pattern = bank.titles.get((n * 3 + seed as usize % 5) % bank.titles.len().max(1)).copied().unwrap_or("");
    let title = fill(pattern, bank, place, &mut mixer);
    let author = mixer.pick(&bank.people).to_owned();
    let mut paragraphs = Vec::new();
    for round in 0..rounds.max(1) {
        let mut order: Vec<&str> = bank.body.clone();
        shuffle(&mut order, &mut mixer);
        order.truncate(8 + mixer.below(4));
        let mut sentences: Vec<String> = Vec::new();
        if round == 0 {
            sentences.push(fill(mixer.pick(&bank.openings), bank, place, &mut mixer));
        }
        sentences.extend(order.iter().map(|sentence| fill(sentence, bank, place, &mut mixer)));
        if round + 1 == rounds.max(1) {
            sentences.push(fill(mixer.pick(&bank.closings), bank, place, &mut mixer));
        }
        let glue = if bank.lang == "ja" { "" } else { " " };
        paragraphs.extend(sentences.chunks(4).map(|chunk| chunk.join(glue)));
    }
    Prose { title, author, paragraphs }
}

fn shuffle(list: &mut [&str], mixer: &mut Mixer) {
    for last in (1..list.len()).rev() {
        list.swap(last, mixer.below(last + 1));
    }
}

/// Replaces the slots with words; the first place in a text is the article's own.
fn fill(pattern: &str, bank: &Bank, place: &str, mixer: &mut Mixer) -> String {
    let mut out = String::with_capacity(pattern.len() + 24);
    let mut rest = pattern;
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        let (slot, behind) = after.split_once('}').unwrap_or((after, ""));
        match slot {
            "p" => out.push_str(place),
            "q" => out.push_str(mixer.pick(&bank.places)),
            "a" => out.push_str(mixer.pick(&bank.people)),
            "m" => out.push_str(mixer.pick(&bank.months)),
            "n" => out.push_str(&(3 + mixer.below(38)).to_string()),
            _ => {}
        }
        rest = behind;
    }
    out.push_str(rest);
    out
}

/// Converts a title to a path segment of lower-case ASCII letters, digits and single hyphens.
pub(crate) fn slug(title: &str) -> String {
    let mut out = String::new();
    for c in title.chars() {
        match fold(c) {
            Some(folded) => out.push_str(folded),
            None if c.is_ascii_alphanumeric() => out.push(c.to_ascii_lowercase()),
            None if !out.ends_with('-') && !out.is_empty() => out.push('-'),
            None => {}
        }
    }
    out.trim_end_matches('-').to_owned()
}

fn fold(c: char) -> Option<&'static str> {
    Some(match c {
        'à' | 'á' | 'â' | 'À' => "a",
        'ä' | 'Ä' => "ae",
        'è' | 'é' | 'ê' | 'ë' | 'È' | 'É' => "e",
        'ì' | 'í' | 'î' | 'ï' => "i",
        'ò' | 'ó' | 'ô' => "o",
        'ö' | 'Ö' => "oe",
        'ù' | 'ú' | 'û' => "u",
        'ü' | 'Ü' => "ue",
        'ñ' => "n",
        'ç' => "c",
        'ß' => "ss",
        'œ' => "oe",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn articles_are_long_enough_and_differ() {
        for (subject, bank) in SUBJECTS {
            assert_eq!(bank.months.len(), 12, "{subject}");
            let mut texts = BTreeSet::new();
            let mut titles = BTreeSet::new();
            for n in 0..14 {
                let prose = article(bank, 99, n);
                let characters: usize = prose.paragraphs.iter().map(|p| p.chars().count()).sum();
                assert!(characters >= 300, "{} has {characters} characters", prose.title);
                assert!(bank.lang == "ja" || (80..=320).contains(&prose.words()), "{} words", prose.words());
                assert!(!prose.paragraphs.concat().contains(['{', '}']), "{prose:?}");
                assert!(!prose.summary().is_empty());
                texts.insert(prose.paragraphs.concat());
                titles.insert(prose.title);
            }
            assert_eq!(texts.len(), 14);
            assert!(titles.len() >= 12, "{}: {titles:?}", bank.lang);
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_article() {
        assert_eq!(article(&MONTAGNA, 7, 3), article(&MONTAGNA, 7, 3));
        assert_ne!(article(&MONTAGNA, 7, 3).paragraphs, article(&MONTAGNA, 8, 3).paragraphs);
    }

    #[test]
    fn a_slug_is_plain() {
        assert_eq!(slug("Perché l’acqua è più fredda?"), "perche-l-acqua-e-piu-fredda");
        assert_eq!(slug("Grüße, Straße!"), "gruesse-strasse");
    }
}
