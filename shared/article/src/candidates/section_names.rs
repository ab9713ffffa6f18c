//! Headings of sections beside an article, in many languages.

use crate::lists::{NOTICES, TEASERS};
use crate::read::outline::Section;
use foldhash::HashMap;
use std::sync::LazyLock;

/// Names of sections, folded.
static NAMES: LazyLock<HashMap<&str, Section>> = LazyLock::new(|| {
    let notices = NOTICES.iter().map(|name| (*name, Section::Notice));
    notices.chain(TEASERS.iter().map(|name| (*name, Section::Teasers))).collect()
});

/// Maximum number of words of a name.
pub(super) const LONGEST_NAME: usize = 6;

/// Returns the sort of section that a folded line names.
pub(super) fn section_named(folded: &str) -> Option<Section> {
    NAMES.get(folded).copied()
}

#[cfg(test)]
mod tests {
    use super::{LONGEST_NAME, NAMES, NOTICES, TEASERS};

    #[test]
    fn a_name_has_one_meaning_and_few_words() {
        assert!(NAMES.keys().all(|name| name.split(' ').count() <= LONGEST_NAME));
        assert_eq!(NAMES.len(), TEASERS.len() + NOTICES.len());
    }
}
