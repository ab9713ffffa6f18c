//! Divides the clauses of a query into the words and phrases to search for.

use crate::MAX_QUERY_TERMS;
use crate::analyze::pairs;
use crate::bits::Bits;
use crate::pieces::{has_words, is_divider, is_unparted};
use crate::plan::Typed;
use crate::query::Clause;
use std::collections::HashMap;

/// A distinct word or phrase to search for, or a pair of characters.
pub(super) struct Wanted {
    pub(super) text: String,
    pub(super) must: bool,
    pub(super) times: u32,
}

/// Returns the distinct words and phrases to search for, and those typed. A run becomes pairs, `in/out` two words.
pub(super) fn parts(clauses: &[Clause]) -> (Vec<Wanted>, Vec<Typed>) {
    let (mut wanted, mut typed): (Vec<Wanted>, Vec<Typed>) = Default::default();
    let mut known: HashMap<(String, bool), usize> = HashMap::new();
    for Clause { text, must, .. } in clauses {
        let divided = text.split(|c| is_divider(c) && !must).flat_map(|part| by_script(part, *must));
        for (word, is_run) in divided.filter(|(word, _)| has_words(word)) {
            let mut units = Bits::default();
            for text in if is_run { pairs(word) } else { vec![word.to_owned()] } {
                let next = wanted.len();
                let bit = *known.entry((text.to_lowercase(), *must)).or_insert(next);
                if bit == next && next < MAX_QUERY_TERMS {
                    wanted.push(Wanted { text, must: *must, times: 0 });
                }
                wanted.get_mut(bit).into_iter().for_each(|word| word.times += 1);
                units.insert(bit);
            }
            if !units.is_empty() && typed.iter().all(|other| other.units != units) {
                typed.push(Typed { text: word.to_owned(), units });
            }
        }
    }
    (wanted, typed)
}

/// Divides a word, but not a phrase, where scripts with and without spaces meet; the flag is true for the latter.
fn by_script(word: &str, is_phrase: bool) -> impl Iterator<Item = (&str, bool)> {
    let mut rest = word;
    std::iter::from_fn(move || {
        let is_run = is_unparted(rest.chars().next()?) && !is_phrase;
        let end = rest.find(|c| !is_phrase && is_unparted(c) != is_run).unwrap_or(rest.len());
        let (part, after) = rest.split_at(end);
        rest = after;
        Some((part, is_run))
    })
}
