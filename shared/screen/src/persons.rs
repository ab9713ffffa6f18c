//! Finds persons to leave out by their whole names, regardless of accents and blanks.

use crate::fold::{Folded, fold_plain};
use crate::settings::Person;
use aho_corasick::AhoCorasick;

/// Names to find.
pub(crate) struct Persons {
    automaton: AhoCorasick,
    /// Names by the automaton's pattern.
    names: Vec<Name>,
}

struct Name {
    /// The person's main name.
    person: String,
    /// True for each word that begins with a capital. It must do so in the text too, or `rosa bianca` would be a
    /// person.
    capitals: Vec<bool>,
}

/// A person's name in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) person: String,
    /// Range in the given text, in bytes.
    pub(crate) from: usize,
    pub(crate) to: usize,
}

impl Persons {
    /// # Errors
    /// If there are too many names for one automaton.
    pub(crate) fn new(persons: &[Person]) -> Result<Persons, aho_corasick::BuildError> {
        let mut patterns = Vec::new();
        let mut names = Vec::new();
        for person in persons {
            for name in person.names() {
                // Blanks on both sides restrict matches to whole words.
                patterns.push(format!(" {} ", fold_plain(name)));
                let words = name.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty());
                let capitals = words.map(|w| w.chars().next().is_some_and(char::is_uppercase)).collect();
                names.push(Name { person: person.name.clone(), capitals });
            }
        }
        Ok(Persons { automaton: AhoCorasick::new(&patterns)?, names })
    }

    /// Returns the first occurrence of each name.
    pub(crate) fn find(&self, text: &str, folded: &Folded) -> Vec<Named> {
        let mut found: Vec<Named> = Vec::new();
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
    /// True if every word that the name capitalizes is capitalized in the text.
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
}
