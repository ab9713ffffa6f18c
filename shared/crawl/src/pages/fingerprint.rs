//! SimHash (Charikar 2002; Manku, Jain, Das Sarma 2007) of a text, by which copies are found. Records store it, so it
//! must never change for the same text. Features are pairs of adjacent words, or three characters of a script without
//! spaces; each counts once, so that common phrases do not make texts of a language similar.

use curlew_model::Fingerprint;
use std::collections::HashSet;

#[cfg(test)]
mod tests;

/// Number of bytes of a text that are hashed; the rest would hardly change the fingerprint.
const MAX_TEXT: usize = 256 * 1024;
/// Bits of a fingerprint.
const BITS: usize = 64;
/// First and last characters of scripts that are written without spaces between words.
const WITHOUT_SPACES: &[(char, char)] = &[
    ('\u{0E00}', '\u{0EFF}'),   // Thai, Lao
    ('\u{1000}', '\u{109F}'),   // Burmese
    ('\u{1780}', '\u{17FF}'),   // Khmer
    ('\u{3005}', '\u{3007}'),   // iteration marks, zero
    ('\u{3040}', '\u{30FF}'),   // Hiragana, Katakana
    ('\u{31F0}', '\u{31FF}'),   // Katakana extensions
    ('\u{3400}', '\u{4DBF}'),   // Han
    ('\u{4E00}', '\u{9FFF}'),   // Han
    ('\u{F900}', '\u{FAFF}'),   // Han, compatibility
    ('\u{FF66}', '\u{FF9D}'),   // Katakana, half width
    ('\u{20000}', '\u{3FFFF}'), // Han, further planes
];

/// Returns the fingerprint of a text; `None` if it has no words.
pub fn of_text(text: &str) -> Option<Fingerprint> {
    let head = text.get(..text.floor_char_boundary(MAX_TEXT)).unwrap_or(text);
    let mut features = Features::default();
    let mut at = 0;
    while let Some(byte) = head.as_bytes().get(at) {
        if byte.is_ascii() {
            features.take_ascii(byte.to_ascii_lowercase());
            at += 1;
        } else {
            let Some(c) = head[at..].chars().next() else { break };
            c.to_lowercase().for_each(|c| features.take(c));
            at += c.len_utf8();
        }
    }
    features.end_of_word();
    features.end_of_run();
    let features = if features.all.is_empty() { features.words } else { features.all };
    (!features.is_empty()).then(|| by_majority(&features))
}

/// Returns the fingerprint in which each bit has the value that it has in most features.
fn by_majority(features: &HashSet<u64, Plain>) -> Fingerprint {
    /// The lowest bit of each byte: eight bits are counted at once, each in a byte of its own.
    const LOWEST: u64 = 0x0101_0101_0101_0101;
    let mut ones = [0u32; BITS];
    let mut counts = [0u64; 8];
    let mut add = |counts: &mut [u64; 8]| {
        for (bit, count) in ones.iter_mut().enumerate() {
            *count += u32::from(counts[bit % 8].to_le_bytes()[bit / 8]);
        }
        *counts = [0; 8];
    };
    let mut counted = 0;
    for feature in features {
        for (shift, count) in counts.iter_mut().enumerate() {
            *count += feature >> shift & LOWEST;
        }
        counted += 1;
        // A byte counts no higher.
        if counted == u8::MAX {
            add(&mut counts);
            counted = 0;
        }
    }
    add(&mut counts);
    let half = features.len() as u32;
    let bits = ones.iter().enumerate().filter(|(_, count)| **count * 2 > half);
    Fingerprint(bits.fold(0, |sum, (bit, _)| sum | 1 << bit))
}

/// Hashes features to themselves: they are well mixed, and the order of the set does not matter.
type Plain = std::hash::BuildHasherDefault<PlainHasher>;

#[derive(Default)]
struct PlainHasher(u64);

impl std::hash::Hasher for PlainHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|b| self.0 = self.0 << 8 | u64::from(*b));
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }
}

/// Collects features from a sequence of characters.
#[derive(Default)]
struct Features {
    all: HashSet<u64, Plain>,
    /// Single words: the features of a text with one word.
    words: HashSet<u64, Plain>,
    /// The hash of the word that is being read.
    word: Option<u64>,
    /// The hash of the previous word.
    before: Option<u64>,
    /// The last characters of a script without spaces, the latest last.
    run: [Option<char>; 2],
}

impl Features {
    /// Does the same as [`Features::take`] for ASCII, the most frequent case: this crate is compiled for size, so the
    /// general case is several times slower.
    #[inline]
    fn take_ascii(&mut self, byte: u8) {
        if byte.is_ascii_alphanumeric() {
            self.end_of_run();
            self.word = Some(fnv(self.word.unwrap_or(FNV_START), char::from(byte)));
        } else {
            self.end_of_word();
        }
    }

    fn take(&mut self, c: char) {
        // Combining accents are left out, and do not end a word.
        if ('\u{0300}'..='\u{036F}').contains(&c) {
            return;
        }
        if is_without_spaces(c) {
            self.end_of_word();
            self.in_run(c);
        } else if c.is_alphanumeric() {
            self.end_of_run();
            self.word = Some(fnv(self.word.unwrap_or(FNV_START), c));
        } else {
            // Punctuation does not end a run, since copies often differ in it.
            self.end_of_word();
        }
    }

    fn in_run(&mut self, c: char) {
        if let [Some(first), Some(second)] = self.run {
            self.all.insert(mixed([first, second, c].into_iter().fold(FNV_START, fnv)));
        }
        self.words.insert(mixed(fnv(FNV_START, c)));
        self.run = [self.run[1], Some(c)];
    }

    fn end_of_run(&mut self) {
        self.run = [None, None];
    }

    fn end_of_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        if let Some(before) = self.before {
            self.all.insert(mixed(before.rotate_left(1) ^ mixed(word)));
        }
        self.words.insert(mixed(word));
        self.before = Some(word);
    }
}

fn is_without_spaces(c: char) -> bool {
    c >= WITHOUT_SPACES[0].0 && WITHOUT_SPACES.iter().any(|(first, last)| (first..=last).contains(&&c))
}

/// The offset basis of FNV-1a with 64 bits.
const FNV_START: u64 = 0xCBF2_9CE4_8422_2325;

/// FNV-1a, over characters.
const fn fnv(hash: u64, c: char) -> u64 {
    (hash ^ c as u64).wrapping_mul(0x0000_0100_0000_01B3)
}

/// Spreads differences over all bits.
const fn mixed(hash: u64) -> u64 {
    curlew_policy::chance::mix(hash)
}
