//! Lists of words, from the files in `lists`. The first line of a file says what it has; README documents the format.

use foldhash::HashSet;
use std::sync::LazyLock;

/// Words in the order of their list.
pub(crate) type Words = LazyLock<Vec<&'static str>>;
pub(crate) type WordSet = LazyLock<HashSet<&'static str>>;

/// Declares lists, each read when it is first used.
macro_rules! lists {
    ($($name:ident: $sort:ty = $list:expr;)*) => {
        $(pub(crate) static $name: $sort = LazyLock::new(|| entries($list).collect());)*
    };
}

lists! {
    ACTIONS: WordSet = include_str!("../lists/actions.txt");
    PHRASES: Words = include_str!("../lists/phrases.txt");
    TEASERS: Words = include_str!("../lists/teasers.txt");
    NOTICES: Words = include_str!("../lists/notices.txt");
    POINTERS: Words = include_str!("../lists/pointers.txt");
    PAGES: WordSet = include_str!("../lists/pages.txt");
    PROFILES: Words = include_str!("../lists/profiles.txt");
    WORDY: Words = include_str!("../lists/wordy.txt");
    LAYOUT: WordSet = include_str!("../lists/layout.txt");
    HIDING: WordSet = include_str!("../lists/hiding.txt");
    WRITERS: Words = include_str!("../lists/writers.txt");
    OF_WRITERS: Words = include_str!("../lists/of-writers.txt");
    DATES: WordSet = include_str!("../lists/dates.txt");
    TEXTS: WordSet = include_str!("../lists/texts.txt");
    BYLINE_PHRASES: Words = include_str!("../lists/byline-phrases.txt");
    WRITER_LABELS: Words = include_str!("../lists/labels-of-writers.txt");
    TEXT_LABELS: Words = include_str!("../lists/labels-of-texts.txt");
    BEFORE_NAMES: Words = include_str!("../lists/before-names.txt");
    REPORTERS: Words = include_str!("../lists/reporters.txt");
    BETWEEN_NAMES: WordSet = include_str!("../lists/between-names.txt");
    PARTICLES: WordSet = include_str!("../lists/particles.txt");
    WITHIN_OFFICES: WordSet = include_str!("../lists/within-names-of-offices.txt");
    OFFICES: WordSet = include_str!("../lists/offices.txt");
    NO_NAMES: WordSet = include_str!("../lists/no-names.txt");
    FAMILY_NAMES: WordSet = include_str!("../lists/family-names.txt");
    NOBODY: WordSet = include_str!("../lists/nobody.txt");
    ROLES: Words = include_str!("../lists/roles.txt");
    COMPANIES: Words = include_str!("../lists/companies.txt");
    BEFORE_DAYS: WordSet = include_str!("../lists/before-days.txt");
    PUBLISHED_METAS: Words = include_str!("../lists/metas-published.txt");
    MODIFIED_METAS: Words = include_str!("../lists/metas-modified.txt");
    PUBLISHED: Words = include_str!("../lists/words-published.txt");
    CHANGED: Words = include_str!("../lists/words-changed.txt");
    PARTS: Words = include_str!("../lists/parts.txt");
    WHOLE_NAMES: Words = include_str!("../lists/whole-names.txt");
    NAME_ENDS: Words = include_str!("../lists/name-ends.txt");
    BLOCKS: WordSet = include_str!("../lists/blocks.txt");
    MUTE: WordSet = include_str!("../lists/mute.txt");
    LANGUAGES: Words = include_str!("../lists/languages.txt");
    NAMES: Words = include_str!("../lists/names.txt");
}

fn entries(list: &'static str) -> impl Iterator<Item = &'static str> {
    let bare = |line: &'static str| line.strip_prefix('"').and_then(|line| line.strip_suffix('"')).unwrap_or(line);
    list.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).map(bare)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::fold;

    #[test]
    fn entries_have_the_form_that_they_are_compared_in() {
        for word in TEASERS.iter().chain(&*NOTICES).chain(&*ACTIONS).filter(|word| !word.contains('-')) {
            assert_eq!(fold(word), *word);
        }
        for list in [&PHRASES, &POINTERS, &PROFILES, &WORDY, &WRITERS, &OF_WRITERS, &PARTS] {
            assert!(list.iter().all(|word| word.to_lowercase() == **word) && !list.is_empty());
        }
        assert!(PHRASES.contains(&"by clicking \"") && PHRASES.contains(&"image by "));
    }
}
