//! Lists of words, from the files in `lists`, whose README documents the format.

use foldhash::HashSet;
use std::sync::LazyLock;

/// Words in the order of their list.
pub(crate) type Words = LazyLock<Vec<&'static str>>;
/// Words that are looked up.
pub(crate) type WordSet = LazyLock<HashSet<&'static str>>;

/// Declares lists, each read when it is first used.
macro_rules! lists {
    ($($(#[$doc:meta])* $name:ident: $sort:ty = $list:expr;)*) => {
        $($(#[$doc])* pub(crate) static $name: $sort = LazyLock::new(|| entries($list).collect());)*
    };
}

lists! {
    /// Texts of buttons and labels: whole lines, folded. A line of an article equals one of these only by chance.
    ACTIONS: WordSet = include_str!("../lists/actions.txt");
    /// Phrases, in lower case, that only sentences about the page have.
    PHRASES: Words = include_str!("../lists/phrases.txt");
    /// Headings, folded, of sections that lead to other pages.
    TEASERS: Words = include_str!("../lists/teasers.txt");
    /// Headings, folded, of sections that are addressed to the reader.
    NOTICES: Words = include_str!("../lists/notices.txt");
    /// Words, in lower case, that point to another page before a colon.
    POINTERS: Words = include_str!("../lists/pointers.txt");
    /// Words, folded, for a page of several.
    PAGES: WordSet = include_str!("../lists/pages.txt");
    /// Names of folders of pages about writers, in lower case.
    PROFILES: Words = include_str!("../lists/profiles.txt");
    /// Parts of names of things beside the article that are running text themselves.
    WORDY: Words = include_str!("../lists/wordy.txt");
    /// Parts of names, in lower case, that are about the layout of an element and not about its content.
    LAYOUT: WordSet = include_str!("../lists/layout.txt");
    /// Class names with which CSS frameworks hide elements.
    HIDING: WordSet = include_str!("../lists/hiding.txt");
    /// Words for writers in class names.
    WRITERS: Words = include_str!("../lists/writers.txt");
    /// Parts of class names of things beside a writer's name.
    OF_WRITERS: Words = include_str!("../lists/of-writers.txt");
    /// Words of class names that mark a date.
    DATES: WordSet = include_str!("../lists/dates.txt");
    /// Classes and ids, in lower case, that WordPress and other systems give to the text of a post.
    TEXTS: WordSet = include_str!("../lists/texts.txt");
    /// Phrases, folded, between which and a writer's name stands a blank or a colon. Longer ones are before those that
    /// they begin with.
    BYLINE_PHRASES: Words = include_str!("../lists/byline-phrases.txt");
    /// Words, folded, for a writer: a colon stands between them and the name.
    WRITER_LABELS: Words = include_str!("../lists/labels-of-writers.txt");
    /// Words, folded, for a text, before a colon and the name of its writer. By itself such a label may stand above the
    /// text.
    TEXT_LABELS: Words = include_str!("../lists/labels-of-texts.txt");
    /// Words before a name in a byline. Elsewhere they may be part of the name ("Von Miller").
    BEFORE_NAMES: Words = include_str!("../lists/before-names.txt");
    /// Words after a reporter's name in Korean, Chinese and Japanese.
    REPORTERS: Words = include_str!("../lists/reporters.txt");
    /// Words between the names of two persons.
    BETWEEN_NAMES: WordSet = include_str!("../lists/between-names.txt");
    /// Words in lower case within names.
    PARTICLES: WordSet = include_str!("../lists/particles.txt");
    /// Words within the names of organisations, behind what could be the name of a person.
    WITHIN_OFFICES: WordSet = include_str!("../lists/within-names-of-offices.txt");
    /// Words, folded, of the names of offices that sign texts.
    OFFICES: WordSet = include_str!("../lists/offices.txt");
    /// Words, folded, that begin with a capital letter in labels, and are no part of a person's name.
    NO_NAMES: WordSet = include_str!("../lists/no-names.txt");
    /// First names that are family names, too.
    FAMILY_NAMES: WordSet = include_str!("../lists/family-names.txt");
    /// Names of accounts and labels, folded.
    NOBODY: WordSet = include_str!("../lists/nobody.txt");
    /// Words, folded, for what people do who write, or who make pictures; those of more than five letters stand for all
    /// words that begin with them.
    ROLES: Words = include_str!("../lists/roles.txt");
    /// Forms of companies, folded, at the end of a name.
    COMPANIES: Words = include_str!("../lists/companies.txt");
    /// Days of the week and labels of days, folded.
    BEFORE_DAYS: WordSet = include_str!("../lists/before-days.txt");
    /// Names of meta tags that mean publication, most reliable first.
    PUBLISHED_METAS: Words = include_str!("../lists/metas-published.txt");
    /// Names of meta tags that mean a change.
    MODIFIED_METAS: Words = include_str!("../lists/metas-modified.txt");
    /// Beginnings of words for publication, in lower case.
    PUBLISHED: Words = include_str!("../lists/words-published.txt");
    /// Beginnings of words for a change, in lower case.
    CHANGED: Words = include_str!("../lists/words-changed.txt");
    /// Words anywhere in a class or id, each behind the kind of part that it indicates.
    PARTS: Words = include_str!("../lists/parts.txt");
    /// Table of whole classes and ids, each behind the kind of part that it indicates.
    WHOLE_NAMES: Words = include_str!("../lists/whole-names.txt");
    /// First or last parts of short classes and ids, each behind the kind of part that it indicates.
    NAME_ENDS: Words = include_str!("../lists/name-ends.txt");
    /// Elements that begin and end a block of text.
    BLOCKS: WordSet = include_str!("../lists/blocks.txt");
    /// Elements whose text is never read.
    MUTE: WordSet = include_str!("../lists/mute.txt");
    /// Codes of languages, of three letters and of two.
    LANGUAGES: Words = include_str!("../lists/languages.txt");
    /// Words in the names of elements that the learned model tells apart, sorted.
    NAMES: Words = include_str!("../lists/names.txt");
}

/// Returns the entries of a list.
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
