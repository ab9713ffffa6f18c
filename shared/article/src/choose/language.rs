//! Chooses the language: the one that the markup states, checked against the text.

use crate::choose::Evidence;
use crate::lists::LANGUAGES;
use crate::text::width;
use whatlang::{Lang, detect};

/// Length of the text prefix from which the language is guessed, in characters.
const SAMPLE: usize = 1_000;
/// Minimum width of the sample for a guess to count.
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
    let guess = detect(&sample).filter(|_| width(&sample) >= ENOUGH);
    let Some(guess) = guess else { return told.into_iter().next() };
    let guessed = code(guess.lang());
    if told.iter().any(|tag| same(tag, guessed)) {
        return told.into_iter().find(|tag| same(tag, guessed));
    }
    if guess.is_reliable() || told.is_empty() { Some(guessed.to_owned()) } else { told.into_iter().next() }
}

/// True if a tag means the guessed language. Some languages are hard to tell apart in writing.
fn same(tag: &str, guessed: &str) -> bool {
    let alike = match guessed {
        "nb" => "no nn",
        "hr" => "bs sr",
        "sr" => "bs hr",
        "id" => "ms",
        "pt" => "gl",
        "tl" => "fil",
        _ => "",
    };
    tag == guessed || alike.split(' ').any(|other| other == tag)
}

fn primary(tag: &str) -> Option<String> {
    let first = tag.trim().split(['-', '_', ',', ';', ' ']).next().unwrap_or_default().to_ascii_lowercase();
    ((2..=3).contains(&first.len()) && first.bytes().all(|b| b.is_ascii_lowercase())).then_some(first)
}

fn code(language: Lang) -> &'static str {
    let code = language.code();
    let mut codes = LANGUAGES.iter().filter_map(|line| line.split_once(' '));
    codes.find(|(long, _)| *long == code).map_or(code, |(_, short)| short)
}
