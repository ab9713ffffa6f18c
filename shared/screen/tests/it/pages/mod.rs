//! Pages written for screening tests. None of them was ever on the web.
//!
//! Each file contains the pages with one expected verdict. A page consists of three lines with language, title and
//! text; pages are separated by an empty line.

use std::sync::LazyLock;

/// Title, text, language.
pub(crate) type Page = (&'static str, &'static str, &'static str);

fn read(file: &'static str) -> Vec<Page> {
    let page = |page: &'static str| match page.lines().collect::<Vec<_>>().as_slice() {
        [language, title, text] => (*title, *text, *language),
        other => panic!("a page has three lines: {other:?}"),
    };
    file.split("\n\n").map(page).collect()
}

/// Pornography, and offers of sex.
pub(crate) static ADULT: LazyLock<Vec<Page>> = LazyLock::new(|| read(include_str!("adult.txt")));
/// Slurs, hate and abuse.
pub(crate) static OFFENSIVE: LazyLock<Vec<Page>> = LazyLock::new(|| read(include_str!("offensive.txt")));
/// Advertising of gambling.
pub(crate) static GAMBLING: LazyLock<Vec<Page>> = LazyLock::new(|| read(include_str!("gambling.txt")));
/// Advertising of medicines without prescription.
pub(crate) static DRUGS: LazyLock<Vec<Page>> = LazyLock::new(|| read(include_str!("drugs.txt")));
/// Violence for its own sake.
pub(crate) static VIOLENCE: LazyLock<Vec<Page>> = LazyLock::new(|| read(include_str!("violence.txt")));
/// Texts about these topics, and texts that only sound similar.
pub(crate) static PASS: LazyLock<Vec<Page>> = LazyLock::new(|| read(include_str!("pass.txt")));
