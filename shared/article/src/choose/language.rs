//! Chooses the language: the one that the markup states, checked against the text.

use crate::choose::Evidence;
use crate::lists::LANGUAGES;
use crate::text::width;
use whatlang::detect;

/// Length of the text prefix from which the language is guessed, in characters, and minimum width for a guess to count.
const SAMPLE: usize = 1_000;
const ENOUGH: usize = 200;

pub(crate) fn choose(Evidence { outline, linked, micro }: Evidence<'_>, text: &str) -> Option<String> {
    let told = [
        outline.html_lang,
        outline.meta(&["og:locale"]),
        linked.language.as_deref(),
        micro.language.as_deref(),
        outline.meta(&["content-language", "language", "dc.language", "dcterms.language"]),
    ];
    let told: Vec<String> = told.into_iter().flatten().filter_map(primary).collect();
    let sample: String = text.chars().take(SAMPLE).collect();
    let Some(guess) = detect(&sample).filter(|_| width(&sample) >= ENOUGH) else { return told.into_iter().next() };
    let guessed: Vec<&str> = line_of(guess.lang().code()).collect();
    if let Some(tag) = told.iter().find(|tag| guessed.contains(&tag.as_str()) || is_unknown_to_the_detector(tag)) {
        return Some(tag.clone());
    }
    let guessed = guessed.first().map(|code| (*code).to_owned());
    if guess.is_reliable() || told.is_empty() { guessed } else { told.into_iter().next() }
}

/// True for languages such as Icelandic, which the detector takes for others. `br` and `se` mostly mean countries.
fn is_unknown_to_the_detector(tag: &str) -> bool {
    let known = || LANGUAGES.iter().flat_map(|line| line.split(' '));
    tag.len() == 2 && !matches!(tag, "br" | "se") && known().all(|code| code != tag)
}

fn primary(tag: &str) -> Option<String> {
    let first = tag.trim().split(['-', '_', ',', ';', ' ']).next().unwrap_or_default().to_ascii_lowercase();
    let is_code = (2..=3).contains(&first.len()) && first.bytes().all(|b| b.is_ascii_lowercase());
    is_code.then(|| line_of(&first).next().map_or(first.clone(), str::to_owned))
}

/// Returns the stored code of a language named by another code, and those of languages that look alike.
fn line_of(code: &str) -> impl Iterator<Item = &'static str> {
    let mut codes = LANGUAGES.iter().filter_map(|line| line.split_once(' '));
    codes.find(|(other, _)| *other == code).into_iter().flat_map(|(_, codes)| codes.split(' '))
}
