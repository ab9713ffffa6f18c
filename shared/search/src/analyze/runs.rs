//! Pairs of characters for queries in scripts without spaces.

use super::{Mode, Reading, Token};

/// Question words of Chinese, Japanese and Thai. Pages that answer a question rarely contain them.
const QUESTION_WORDS: &str = include_str!("../../lists/question-words.txt");

/// Returns the pairs of neighbouring characters of a run, without those of question words if there are others.
pub(crate) fn pairs(run: &str) -> Vec<String> {
    let mut is_asking = vec![false; run.len()];
    for word in QUESTION_WORDS.split_whitespace() {
        run.match_indices(word).for_each(|(at, word)| is_asking[at..at + word.len()].fill(true));
    }
    let (mut all, mut telling) = (Vec::new(), Vec::new());
    let mut show = |token: Token<'_>| {
        all.push(token.form.to_owned());
        telling.extend(is_asking[token.span].contains(&false).then(|| token.form.to_owned()));
    };
    Reading { text: run, mode: Mode::Query, position: 0, show: &mut show }.show_pairs(0..run.len());
    if telling.is_empty() { all } else { telling }
}

/// True for kana that follow a noun of one character as particles. Most other kana are verb endings.
pub(super) fn is_particle(c: char) -> bool {
    "をはがのにとでもへや".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn question_words_are_no_pairs_unless_they_are_all() {
        assert_eq!(pairs("咖啡怎么办"), ["咖啡", "啡怎"]);
        assert_eq!(pairs("どうして雨が降る"), ["て雨", "雨", "が降", "降る"]);
        assert!(!pairs("น้ำคืออะไร").contains(&"ไร".to_owned()));
        assert_eq!(pairs("为什么"), ["为什", "什么"]);
    }
}
