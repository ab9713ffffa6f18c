//! Finds the full names of persons to leave out. Names in scripts whose marks are accents are searched for in folded
//! words. All other names are searched for in the text as written (`as_written`), because folding would remove letters.

mod as_written;

use crate::fold::{Folded, fold_plain};
use crate::settings::Person;
use aho_corasick::{AhoCorasick, BuildError};
use as_written::AsWritten;

pub(crate) struct Persons {
    automaton: AhoCorasick,
    /// Names, indexed by pattern of the automaton.
    names: Vec<Name>,
    as_written: AsWritten,
}

struct Name {
    person: String,
    /// True for each word with an initial capital, which the text must have too: `rosa bianca` is not a person.
    capitals: Vec<bool>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) person: String,
    /// Byte range in the given text.
    pub(crate) from: usize,
    pub(crate) to: usize,
}

pub(crate) fn is_long_enough(name: &str) -> bool {
    if as_written::is_meant(name) {
        as_written::is_long_enough(name)
    } else {
        fold_plain(name).chars().filter(|c| *c != ' ').count() >= Person::MIN_NAME
    }
}

impl Persons {
    /// Builds the search. Fails if there are too many names for one automaton.
    pub(crate) fn new(persons: &[Person]) -> Result<Persons, BuildError> {
        let mut patterns = Vec::new();
        let mut names = Vec::new();
        let all = || persons.iter().flat_map(|person| person.names().map(|name| (person.name.as_str(), name)));
        for (person, name) in all().filter(|(_, name)| !as_written::is_meant(name)) {
            // Spaces on both sides restrict matches to whole words.
            patterns.push(format!(" {} ", fold_plain(name)));
            let words = name.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty());
            let capitals = words.map(|w| w.chars().next().is_some_and(char::is_uppercase)).collect();
            names.push(Name { person: person.to_owned(), capitals });
        }
        let as_written = AsWritten::new(all().filter(|(_, name)| as_written::is_meant(name)))?;
        Ok(Persons { automaton: AhoCorasick::new(&patterns)?, names, as_written })
    }

    pub(crate) fn find(&self, text: &str, folded: &Folded) -> Vec<Named> {
        let mut found = self.as_written.find(text);
        if self.names.is_empty() {
            return found;
        }
        let ended = format!("{} ", folded.text);
        for hit in self.automaton.find_overlapping_iter(&ended) {
            let Some(name) = self.names.get(hit.pattern().as_usize()) else { continue };
            let (start, end) = (hit.start() + 1, hit.end() - 1);
            let is_new = !found.iter().any(|f| f.person == name.person);
            if is_new && name.is_written_so(text, folded.origins(start, end)) {
                let (from, to) = folded.origin(start, end);
                found.push(Named { person: name.person.clone(), from, to });
            }
        }
        found
    }
}

impl Name {
    /// True if every word that is capitalized in the name is capitalized in the text.
    fn is_written_so(&self, text: &str, words: impl Iterator<Item = usize>) -> bool {
        let first = |at: usize| text.get(at..).and_then(|t| t.chars().next());
        words.zip(&self.capitals).all(|(at, capital)| !*capital || !first(at).is_some_and(char::is_lowercase))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;
    use crate::fold::fold;

    #[test]
    fn whole_names_in_any_spelling() {
        let person = |name: &str, aliases: &[&str]| Person {
            name: name.into(),
            aliases: aliases.iter().map(|a| (*a).to_owned()).collect(),
        };
        let persons =
            Persons::new(&[person("Rósa Bianca", &["R. Bianca-Núñez"]), person("Ludwig von Tal", &[])]).unwrap();
        let found = |text: &str| -> Vec<String> {
            let found = persons.find(text, &fold(text, |_| false));
            found.iter().map(|n| format!("{}={}", n.person, &text[n.from..n.to])).collect()
        };
        assert_eq!(found("Ieri Rosa\u{a0} Bianca, attrice."), ["Rósa Bianca=Rosa\u{a0} Bianca"]);
        assert_eq!(found("ROSA BIANCA"), ["Rósa Bianca=ROSA BIANCA"]);
        assert_eq!(found("«R. Bianca Nuñez»"), ["Rósa Bianca=R. Bianca Nuñez"]);
        assert_eq!(found("Ludwig Von Tal und Ludwig von Tal"), ["Ludwig von Tal=Ludwig Von Tal"]);
        for other in ["una rosa bianca", "Rosa Biancardi", "Marosa Bianca", "Rosa e Bianca", ""] {
            assert!(found(other).is_empty(), "{other}");
        }
    }

    #[test]
    fn names_of_all_scripts_in_one_list() {
        let person = Person {
            name: "Zoe Álvarez".into(), aliases: vec!["佐伊 阿尔瓦".into(), "Зоя Альварес".into()]
        };
        let persons = Persons::new(&[person]).unwrap();
        for text in ["zoe and Zoe Alvarez", "昨天佐伊阿尔瓦说", "пела ЗОЯ АЛЬВАРЕС."] {
            assert_eq!(persons.find(text, &fold(text, |_| false)).len(), 1, "{text}");
        }
        for (name, is_long) in
            [("Al", false), ("Ann", true), ("Ли", false), ("李", false), ("李娜", true), ("राम", true)]
        {
            assert_eq!(is_long_enough(name), is_long, "{name}");
        }
    }
}
