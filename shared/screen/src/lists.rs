//! Word lists: the compiled-in lists, and the parser for their format (`lists/README.md`).

use crate::lexicon::Entry;
use crate::topic::Topic;

/// Languages with word lists. English is first, and applies to every text.
pub const LANGUAGES: [&str; 6] = ["en", "it", "de", "fr", "es", "pt"];
pub(crate) const ENGLISH: usize = 0;
/// Maximum weight of a word, for or against a topic.
const MAX_WEIGHT: f32 = 10.0;
/// Maximum length of a list in bytes.
pub const MAX_LIST_BYTES: usize = 4 * 1024 * 1024;
/// Maximum length of a word or phrase in bytes.
const MAX_WORD_BYTES: usize = 128;

/// A word list: its file name and its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct List {
    /// `TOPIC.LANGUAGE.txt`, `context.LANGUAGE.txt` or `common.LANGUAGE.txt`.
    pub name: String,
    /// Lines, each with a word, a tab and a weight; empty lines and `#` comments.
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Side {
    Topic(Topic),
    /// Words of people who warn of a topic, treat it or report on it.
    Against(Topic),
    /// Words against all topics.
    Context,
    /// Common words of a language, which identify it.
    Common,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Line {
    /// Word as written, without its star.
    pub(crate) word: String,
    pub(crate) entry: Entry,
}

/// Parses a list. The error is a sentence with the name of the list, the line and the fault.
pub(crate) fn read(name: &str, text: &str) -> Result<Vec<Line>, String> {
    let bad = |why: &str| format!("the word list {name}: {why}");
    let parts: Vec<&str> = name.split('.').collect();
    let [kind, language, "txt"] = parts[..] else { return Err(bad("a list is named TOPIC.LANGUAGE.txt")) };
    let language = LANGUAGES.iter().position(|l| *l == language);
    let language = language.ok_or_else(|| bad("the language is none of en, it, de, fr, es, pt"))?;
    let side = match kind {
        "context" => Side::Context,
        "common" => Side::Common,
        _ => Side::Topic(Topic::named(kind).ok_or_else(|| bad("there is no such topic"))?),
    };
    if text.len() > MAX_LIST_BYTES {
        return Err(bad("it is too long"));
    }
    let written = text.lines().enumerate().filter(|(_, l)| !l.trim().is_empty() && !l.starts_with('#'));
    written
        .map(|(at, line)| {
            read_line(line, language, side).map_err(|why| format!("the word list {name} line {}: {why}", at + 1))
        })
        .collect()
}

fn read_line(line: &str, language: usize, side: Side) -> Result<Line, &'static str> {
    let (word, weight) = line.split_once('\t').ok_or("a word, a tab and a weight are needed")?;
    let weight: f32 = weight.trim().parse().map_err(|_| "the weight is no number")?;
    if weight.is_nan() || weight.abs() > MAX_WEIGHT {
        return Err("a weight is from -10 to 10");
    }
    let side = match side {
        Side::Topic(topic) if weight < 0.0 => Side::Against(topic),
        _ if weight < 0.0 => return Err("only the list of a topic has words against it"),
        other => other,
    };
    let (word, is_stem) = word.trim().strip_suffix('*').map_or((word.trim(), false), |stem| (stem, true));
    if word.len() > MAX_WORD_BYTES {
        return Err("the word is too long");
    }
    if !word.contains(char::is_alphanumeric) {
        return Err("there is no word");
    }
    Ok(Line { word: word.to_owned(), entry: Entry { language, side, weight: weight.abs(), is_stem } })
}

macro_rules! embedded {
    ($($kind:literal)*) => {
        pub(crate) const EMBEDDED: &[(&str, &str)] = &[$(
            embedded!($kind, "en"),
            embedded!($kind, "it"),
            embedded!($kind, "de"),
            embedded!($kind, "fr"),
            embedded!($kind, "es"),
            embedded!($kind, "pt"),
        )*];
    };
    ($kind:literal, $language:literal) => {
        (concat!($kind, ".", $language, ".txt"), include_str!(concat!("../lists/", $kind, ".", $language, ".txt")))
    };
}

embedded!("adult" "violence" "hate" "self-harm" "gambling" "scams" "drugs" "context" "common");

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;
    use crate::fold::fold_plain;
    use std::collections::HashSet;

    #[test]
    fn every_list_is_read_and_says_nothing_twice() {
        for (name, text) in EMBEDDED {
            let mut seen = HashSet::new();
            for line in read(name, text).unwrap() {
                let folded = fold_plain(&line.word);
                assert!([0.0, 1.0, 3.0, 6.0, 10.0].contains(&line.entry.weight), "{name}: {}", line.word);
                assert!(seen.insert((folded, line.entry.side)), "{name}: {} is listed twice", line.word);
            }
        }
    }

    #[test]
    fn every_topic_has_a_list_in_every_language() {
        let kinds = Topic::ALL.iter().map(|topic| topic.as_str()).chain(["context", "common"]);
        for kind in kinds {
            for language in LANGUAGES {
                let name = format!("{kind}.{language}.txt");
                assert!(EMBEDDED.iter().any(|(n, text)| *n == name && !text.is_empty()), "{name}");
            }
        }
    }

    #[test]
    fn a_wrong_line_is_named() {
        for (name, text, line) in [
            ("adult.txt", "", 0),
            ("adult.xx.txt", "", 0),
            ("cats.en.txt", "", 0),
            ("adult.en.txt", "# a\n\nword 3", 3),
            ("adult.en.txt", "word\tthree", 1),
            ("adult.en.txt", "word\t11", 1),
            ("adult.en.txt", "*\t1", 1),
            ("context.en.txt", "word\t-1", 1),
        ] {
            let line = if line > 0 { format!(" line {line}") } else { String::new() };
            let error = read(name, text).unwrap_err();
            assert!(error.starts_with(&format!("the word list {name}{line}: ")), "{error}");
        }
        assert_eq!(read("adult.en.txt", "word*\t-3").unwrap()[0].entry.side, Side::Against(Topic::Adult));
    }
}
