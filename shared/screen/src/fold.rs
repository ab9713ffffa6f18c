//! Folds words to one spelling, without capitals, accents and disguises. A disguise is removed only if the result is a
//! listed word: `s3x` and `c a s i n o` are resolved, `mp3` and `U S A` are not.

use std::cell::Cell;
use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

/// Minimum number of consecutive single letters, with equal separators, that are joined to one word.
const MIN_SPACED: usize = 3;
const MAX_SPACED: usize = 40;
/// Maximum number of lookups for a run of single letters: the number per letter, and the number added to it.
const LOOKS: (usize, usize) = (16, 512);
/// Minimum length of a word in two parts (`cas-ino`), in bytes.
const MIN_SPLIT: usize = 5;
/// Maximum length of a word that is examined for disguises, in bytes.
const MAX_DISGUISED: usize = 64;
/// Maximum number of masked letters (`p*rn`) to guess in a word, and maximum length of the word in bytes.
const MAX_MASKED: usize = 2;
const LONGEST_MASKED: usize = 24;

/// A text as lower-case words of letters and digits, with the origin of each word.
#[derive(Debug, Default)]
pub(crate) struct Folded {
    /// ` one word after another`
    pub(crate) text: String,
    words: Vec<WordSpan>,
}

#[derive(Clone, Copy, Debug)]
struct WordSpan {
    /// Offset of the word's first letter in the folded text.
    at: usize,
    from: usize,
    to: usize,
}

impl Folded {
    pub(crate) fn len(&self) -> usize {
        self.words.len()
    }

    /// Returns the byte range in the given text of the words in a range of the folded text.
    pub(crate) fn origin(&self, start: usize, end: usize) -> (usize, usize) {
        let words = self.words_of(start, end);
        let from = words.first().map_or(0, |w| w.from);
        (from, words.last().map_or(from, |w| w.to))
    }

    /// Returns the offsets in the given text of the words in a range of the folded text.
    pub(crate) fn origins(&self, start: usize, end: usize) -> impl Iterator<Item = usize> {
        self.words_of(start, end).iter().map(|w| w.from)
    }

    fn words_of(&self, start: usize, end: usize) -> &[WordSpan] {
        let first = self.words.partition_point(|w| w.at < start);
        let last = self.words.partition_point(|w| w.at < end);
        self.words.get(first..last).unwrap_or_default()
    }

    fn push(&mut self, word: &str, from: usize, to: usize) {
        if !word.is_empty() {
            self.text.push(' ');
            self.words.push(WordSpan { at: self.text.len(), from, to });
            self.text.push_str(word);
        }
    }
}

pub(crate) fn fold(text: &str, known: impl Fn(&str) -> bool) -> Folded {
    let tokens = Tokens::from_text(text);
    let mut folded = Folded::default();
    let mut at = 0;
    while let Some(token) = tokens.list.get(at) {
        let (words, used) = tokens.reading(at, &known);
        let to = tokens.list.get(at + used - 1).map_or(token.to, |t| t.to);
        words.iter().for_each(|w| folded.push(w, token.from, to));
        at += used;
    }
    folded
}

pub(crate) fn fold_plain(text: &str) -> String {
    // Most listed words need no folding, and each process reads the lists when it starts.
    let is_plain = |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase());
    if text.split(' ').all(is_plain) { text.to_owned() } else { fold(text, |_| false).text.trim_start().to_owned() }
}

struct Token {
    /// Range in [`Tokens::buffer`].
    start: usize,
    end: usize,
    /// Range in the given text.
    from: usize,
    to: usize,
    /// The character between the previous token and this one, if there is exactly one.
    gap: Option<char>,
}

struct Tokens {
    buffer: String,
    list: Vec<Token>,
    /// End of the current run of single letters, and the number of lookups left for it ([`LOOKS`]).
    run: Cell<(usize, usize)>,
}

impl Tokens {
    fn from_text(text: &str) -> Tokens {
        let mut tokens = Tokens { buffer: String::with_capacity(text.len()), list: Vec::new(), run: Cell::default() };
        let (mut start, mut from, mut to) = (0, 0, 0);
        let mut gap: (usize, char) = (0, ' ');
        for (place, written) in text.char_indices() {
            let open = tokens.buffer.len() > start;
            let seen = push_plain(&mut tokens.buffer, written, open);
            if seen == CharClass::Letter {
                if !open {
                    from = place;
                }
                to = place + written.len_utf8();
            } else if seen == CharClass::Gap {
                if open {
                    tokens.end(start, from, to, gap);
                    start = tokens.buffer.len();
                    gap = (0, written);
                }
                gap = (gap.0 + 1, if gap.0 == 0 { written } else { ' ' });
            }
        }
        if tokens.buffer.len() > start {
            tokens.end(start, from, to, gap);
        }
        tokens
    }

    fn end(&mut self, start: usize, from: usize, to: usize, gap: (usize, char)) {
        // A mask character at the end of a word is punctuation.
        let kept = self.buffer.get(start..).map_or(0, |t| t.trim_end_matches(is_mask).len());
        self.buffer.truncate(start + kept);
        let gap = (gap.0 == 1).then_some(gap.1);
        self.list.push(Token { start, end: self.buffer.len(), from, to, gap });
    }

    fn text(&self, token: &Token) -> &str {
        self.buffer.get(token.start..token.end).unwrap_or_default()
    }

    /// Returns the words for the tokens from `at` on, and the number of tokens used.
    fn reading(&self, at: usize, known: &impl Fn(&str) -> bool) -> (Vec<String>, usize) {
        let text = self.list.get(at).map_or("", |t| self.text(t));
        if is_single(text)
            && let Some(read) = self.spaced(at, known)
        {
            return read;
        }
        if let Some(whole) = self.split_word(at, text, known) {
            return (vec![whole], 2);
        }
        (undisguised(text, known), 1)
    }

    /// Reads `c a s i n o` or `c.a.s.i.n.o`: one word, or several without a gap between them.
    fn spaced(&self, at: usize, known: &impl Fn(&str) -> bool) -> Option<(Vec<String>, usize)> {
        let gap = self.list.get(at + 1)?.gap.filter(|c| *c != '\n')?;
        let is_next = |t: &&Token| t.gap == Some(gap) && is_single(self.text(t));
        let count = 1 + self.list.iter().skip(at + 1).take(MAX_SPACED).take_while(is_next).count();
        if count < MIN_SPACED {
            return None;
        }
        if at >= self.run.get().0 {
            let length = 1 + self.list.iter().skip(at + 1).take_while(is_next).count();
            self.run.set((at + length, LOOKS.0 * length + LOOKS.1));
        }
        let (end, left) = self.run.get();
        if left == 0 {
            return None;
        }
        let known = |word: &str| {
            let left = self.run.get().1;
            self.run.set((end, left.saturating_sub(1)));
            left > 0 && known(word)
        };
        let joined: String = self.list.iter().skip(at).take(count).map(|t| self.text(t)).collect();
        let read = candidates(&joined);
        if let Some(word) = read.iter().find(|w| known(w)) {
            return Some((vec![word.clone()], count));
        }
        read.iter().find_map(|j| segments(j, &known)).map(|words| (words, count))
    }

    /// Reads `cas-ino`: two parts that form a listed word, while neither is a listed word itself.
    fn split_word(&self, at: usize, text: &str, known: &impl Fn(&str) -> bool) -> Option<String> {
        let next = self.list.get(at + 1).filter(|t| matches!(t.gap, Some('-' | '.' | '_' | '·')))?;
        let joined = [text, self.text(next)].concat();
        let fits = (MIN_SPLIT..=MAX_DISGUISED).contains(&joined.len());
        (fits && !known(text) && !known(self.text(next)) && known(&joined)).then_some(joined)
    }
}

#[derive(PartialEq, Eq)]
enum CharClass {
    Letter,
    Gap,
    Nothing,
}

/// Appends the plain form of a character to the current word.
fn push_plain(buffer: &mut String, c: char, open: bool) -> CharClass {
    if c.is_ascii_alphanumeric() {
        buffer.push(c.to_ascii_lowercase());
        return CharClass::Letter;
    }
    if c == '$' || (open && is_mask(c)) {
        buffer.push(c);
        return CharClass::Letter;
    }
    if c.is_ascii() {
        return CharClass::Gap;
    }
    if is_unseen(c) || is_combining_mark(c) {
        return CharClass::Nothing;
    }
    let special = match c {
        'ß' | 'ẞ' => "ss",
        'æ' | 'Æ' => "ae",
        'œ' | 'Œ' => "oe",
        'ø' | 'Ø' => "o",
        'ł' | 'Ł' => "l",
        'ı' => "i",
        _ => "",
    };
    let before = buffer.len();
    buffer.push_str(special);
    if special.is_empty() {
        let plain = std::iter::once(c).nfkd().filter(|p| !is_combining_mark(*p) && p.is_alphanumeric());
        buffer.extend(plain.flat_map(char::to_lowercase));
    }
    if buffer.len() > before { CharClass::Letter } else { CharClass::Gap }
}

/// True for characters that replace letters inside a word, but are punctuation at its end.
fn is_mask(c: char) -> bool {
    matches!(c, '@' | '*' | '#' | '!' | '|' | '+')
}

/// True for soft hyphens, zero-width spaces and joiners, direction marks and variation selectors.
pub(crate) fn is_unseen(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{2064}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}')
}

fn is_single(word: &str) -> bool {
    word.chars().take(2).count() == 1
}

fn undisguised(word: &str, known: &impl Fn(&str) -> bool) -> Vec<String> {
    if word.len() <= MAX_DISGUISED
        && is_odd(word)
        && let Some(meant) = candidates(word).into_iter().find(|w| known(w))
    {
        return vec![meant];
    }
    let is_sign = |c: char| c == '$' || is_mask(c);
    if word.contains(is_sign) { word.split(is_sign).map(str::to_owned).collect() } else { vec![word.to_owned()] }
}

/// True if a word of two or more letters may be disguised: not only a-z, or the same letter three times in a row.
fn is_odd(word: &str) -> bool {
    let bytes = word.as_bytes();
    let plain = bytes.iter().all(u8::is_ascii_lowercase);
    let tripled = bytes.windows(3).any(|w| matches!(w, [a, b, c] if a == b && b == c));
    (!plain || tripled) && word.chars().filter(|c| c.is_alphabetic()).count() >= 2
}

fn candidates(word: &str) -> Vec<String> {
    let latin: String = word.chars().map(|c| latin_twin(c).unwrap_or(c)).collect();
    let of = |one| unmasked(&latin.chars().map(|c| plain_letter(c, one)).collect::<String>());
    let read: Vec<String> = [vec![latin.clone()], of('i'), of('l')].concat();
    let short = |times| read.iter().map(move |w| shortened(w, times));
    let mut different: Vec<String> = Vec::new();
    for word in read.iter().cloned().chain(short(1)).chain(short(2)) {
        if !different.contains(&word) {
            different.push(word);
        }
    }
    different
}

/// Returns the letter that a digit or sign imitates, as in `p0rn`. `one` is the letter for `1`.
fn plain_letter(c: char, one: char) -> char {
    match c {
        '0' => 'o',
        '1' | '!' | '|' => one,
        '3' => 'e',
        '4' | '@' => 'a',
        '5' | '$' => 's',
        '7' | '+' => 't',
        '8' => 'b',
        '9' => 'g',
        _ => c,
    }
}

fn unmasked(word: &str) -> Vec<String> {
    let mut words = vec![word.to_owned()];
    if word.chars().filter(|c| matches!(c, '*' | '#')).count() > MAX_MASKED || word.len() > LONGEST_MASKED {
        return words;
    }
    while words.first().is_some_and(|w| w.contains(['*', '#'])) {
        let filled = |w: &String| ["a", "e", "i", "o", "u"].map(|vowel| w.replacen(['*', '#'], vowel, 1));
        words = words.iter().flat_map(filled).collect();
    }
    words
}

/// Reduces each run of three or more equal letters to `times` letters.
fn shortened(word: &str, times: usize) -> String {
    let mut short = String::with_capacity(word.len());
    let letters: Vec<char> = word.chars().collect();
    for run in letters.chunk_by(|a, b| a == b) {
        let kept = if run.len() >= 3 { times } else { run.len() };
        short.extend(run.iter().take(kept));
    }
    short
}

/// Splits letters without spaces into listed words, longest match first; `None` if letters are left over.
fn segments(letters: &str, known: &impl Fn(&str) -> bool) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut rest = letters;
    while !rest.is_empty() {
        let ends = rest.char_indices().skip(1).map(|(i, _)| i).chain([rest.len()]);
        let longest = ends.filter_map(|e| rest.get(..e)).filter(|w| w.len() > 1 && known(w)).last()?;
        words.push(longest.to_owned());
        rest = rest.get(longest.len()..)?;
    }
    Some(words)
}

/// Returns the Latin letter that a Cyrillic, Greek or Armenian letter resembles.
fn latin_twin(c: char) -> Option<char> {
    /// Each Latin letter, followed by letters that resemble it.
    const TWINS: &str = "\
        aаα bвβ cсϲ dԁ eеεє gɡ hһ iіιӏ jј kкκ mм nոη oоοσ pрρ qԛ rг sѕ tтτ uυս vνѵ wԝω xхχ yуγ";
    TWINS.split(' ').find(|twins| twins.contains(c))?.chars().next()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [&str; 9] = ["porn", "sex", "sale", "casino", "free", "casinos", "boobs", "viagra", "secret"];

    fn folded(text: &str) -> String {
        fold(text, |w| KNOWN.contains(&w)).text.trim_start().to_owned()
    }

    #[test]
    fn what_is_plain_already_stays_so() {
        for text in ["casino", "a b c d e", "s e x s h o p", "free sale", "i r a"] {
            assert_eq!(fold_plain(text), text);
            assert_eq!(fold(text, |_| false).text.trim_start(), text, "the way of all others");
        }
    }

    #[test]
    fn one_spelling() {
        for (text, expected) in [
            ("", ""),
            ("  L'ÉTÉ, così... Straße! ", "l ete cosi strasse"),
            ("ﬁne Ｗｉｄｅ", "fine wide"),
            ("1488 2024 $100 covid19 4x4 H2O", "1488 2024 100 covid19 4x4 h2o"),
            ("me@here.example @handle", "me here example handle"),
            ("Добрый день, *so* what!", "добрыи день so what"),
            ("I. R. A. in the U S A", "i r a in the u s a"),
        ] {
            assert_eq!(folded(text), expected, "{text}");
            assert_eq!(fold(text, |_| false).len(), expected.split_whitespace().count(), "{text}");
        }
    }

    #[test]
    fn disguises_are_taken_off() {
        for (text, expected) in [
            ("p0rn S3X $ale v1agr4", "porn sex sale viagra"),
            ("p*rn s#x c@s!n0", "porn sex casino"),
            ("se\u{ad}cr\u{200b}et p\u{fe0f}o\u{200d}rn", "secret porn"),
            ("рorn саsіno сaѕino", "porn casino casino"),
            ("𝐩𝐨𝐫𝐧 ⓢⓔⓧ ｐｏｒｎ", "porn sex porn"),
            ("pooorn booobs b000bs sexxxx", "porn boobs boobs sex"),
            ("p o r n and c.a.s.i.n.o and s-3-x", "porn and casino and sex"),
            ("f r e e p o r n", "free porn"),
            ("cas-ino por.n ca\u{200b}s_ino", "casino por n casino"),
        ] {
            assert_eq!(folded(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_disguise_stays() {
        for text in ["b4 mp3s2 2nd a55 x5", "www ooo brrr", "a b c d e", "1 2 3 4", "on-site co-op", "сказка рос"]
        {
            assert_eq!(folded(text), text.replace('-', " "), "{text}");
        }
    }

    #[test]
    fn each_word_knows_where_it_came_from() {
        let text = "Più c a s i n o, Straße";
        let read = fold(text, |w| KNOWN.contains(&w));
        let at = read.text.find("casino").unwrap_or_default();
        let (from, to) = read.origin(at, at + "casino".len());
        assert_eq!(text.get(from..to), Some("c a s i n o"));
        let (from, to) = read.origin(at, read.text.len());
        assert_eq!(text.get(from..to), Some("c a s i n o, Straße"));
    }
}
