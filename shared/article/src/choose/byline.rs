//! Reads bylines: the words before a writer's name, and the name in a line that has more than that.

use crate::lists::{
    BEFORE_NAMES, BETWEEN_NAMES, BYLINE_PHRASES, COMPANIES, FAMILY_NAMES, NO_NAMES, NOBODY, OFFICES, PARTICLES,
    REPORTERS, ROLES, TEXT_LABELS, WITHIN_OFFICES, WRITER_LABELS,
};
use crate::markup::MAX_AUTHORS;
use crate::read::changes::events;
use crate::read::dom::without_tags;
use crate::text::{fold, place_in};
use curlew_text::date::{Hints, Order, find};
use curlew_text::hygiene::{head_bytes, line};
use curlew_text::{leftovers::is_leftover, references};

/// Maximum length of the names of several authors, in characters.
const MAX_CHARS: usize = 600;
const PERSON: usize = 2;

/// True if a label only announces a writer's name. In some languages names contain the word as well.
pub(super) fn introduces(label: &str) -> bool {
    let label = fold(label);
    label == "de" || BYLINE_PHRASES.iter().chain(&*WRITER_LABELS).chain(&*BEFORE_NAMES).any(|known| *known == label)
}

pub(super) fn after_by(text: &str) -> Option<&str> {
    let phrase = BYLINE_PHRASES.iter().filter_map(|phrase| after_word(text, phrase));
    let parted = phrase.filter(|rest| rest.starts_with([' ', '\u{A0}', ':', '：']) || is_glued(text, rest));
    let writer = WRITER_LABELS.iter().chain(&*TEXT_LABELS).filter_map(|word| after_word(text, word));
    let labelled = writer.map(str::trim_start).filter(|rest| rest.starts_with([':', '：']));
    parted.chain(labelled).next().map(|rest| rest.trim_start_matches([' ', '\u{A0}', ':', '：']))
}

/// Returns the rest of a byline that begins with a short word before a writer's name, such as "di".
pub(super) fn after_of(text: &str) -> Option<&str> {
    BEFORE_NAMES.iter().find_map(|word| {
        let rest = after_word(text, word)?;
        // Names such as "DiAngelo" begin with the shorter words.
        let is_apart = word.len() > 2 || text.starts_with(char::is_lowercase);
        let glued = || Some(rest).filter(|rest| is_apart && is_glued(text, rest));
        rest.strip_prefix([' ', '\u{A0}', ':']).map(str::trim_start).or_else(glued)
    })
}

/// True if a capitalized name follows a lower-case word without a space: only the style sheet separates the two.
fn is_glued(text: &str, rest: &str) -> bool {
    let word = text.strip_suffix(rest).unwrap_or_default();
    word.ends_with(char::is_lowercase) && rest.starts_with(char::is_uppercase)
}

/// True if a line is a byline by its words: behind "by" it has persons, an office, a day, or one short name.
pub(super) fn names_writer(line: &str) -> bool {
    const MAX_WORDS: usize = 4;
    let of = || after_of(line).filter(|rest| rest.starts_with(char::is_uppercase));
    let Some(rest) = after_by(line).or_else(of) else { return false };
    let is_small = |word: &str| word.starts_with(char::is_lowercase) && !PARTICLES.contains(word);
    let unnumbered = rest.split(|c: char| c.is_ascii_digit()).next().unwrap_or_default();
    (rest.split_whitespace().count() <= MAX_WORDS
        && rest.contains(char::is_alphabetic)
        && (line.starts_with(char::is_lowercase) || !rest.split_whitespace().any(is_small)))
        || is_office(rest)
        || has_day(rest)
        || persons(unnumbered).or_else(|| persons(after_role(unnumbered)?)).is_some()
}

fn after_word<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    let mut letters = text.chars();
    let begins = word.chars().all(|wanted| letters.next().is_some_and(|c| c.to_lowercase().eq([wanted])));
    begins.then_some(letters.as_str())
}

/// Returns hints for finding the position of a day, when its date does not matter.
pub(super) fn any_day() -> Hints {
    Hints::page(Order::DayFirst).of_language(Some("pl"))
}

pub(super) fn has_day(text: &str) -> bool {
    !find(text, &any_day()).is_empty()
}

/// Returns the part of a line before its day or time, and before the word that introduces it.
pub(super) fn before_time(line: &str) -> &str {
    const MAX_WORD_BYTES: usize = 4;
    let end = line.find(|c: char| c.is_ascii_digit()).unwrap_or(line.len());
    let day = find(line, &any_day()).first().map_or(end, |day| day.start);
    let end = [" in ", " on ", " at ", " am ", " | ", " - ", " (", "\n"]
        .iter()
        .filter_map(|mark| line.find(mark))
        .fold(end.min(day), usize::min);
    let before = line.get(..end).unwrap_or_default().trim_end();
    match before.rsplit_once(' ') {
        Some((name, word)) if word.len() <= MAX_WORD_BYTES && word.chars().all(char::is_lowercase) => name.trim_end(),
        _ => before,
    }
}

pub(super) fn is_office(name: &str) -> bool {
    fold(name).split(' ').any(|word| OFFICES.contains(word))
}

/// True if a text reads like the name of a person: a few words, all but particles with a capital letter.
pub(super) fn is_person(text: &str) -> bool {
    const WORDS: std::ops::RangeInclusive<usize> = 2..=4;
    let text = after_by(text).unwrap_or(text);
    let mut words = text.split_whitespace();
    WORDS.contains(&words.clone().count()) && words.all(is_part_of_name)
}

fn is_part_of_name(word: &str) -> bool {
    let letters = word.chars().all(|c| c.is_alphabetic() || matches!(c, '.' | '-' | '\'' | '’'));
    letters
        && (word.starts_with(char::is_uppercase) || PARTICLES.contains(word))
        && !fold(word).split(' ').any(|word| NO_NAMES.contains(word))
}

/// Returns the names of persons at the beginning of a byline, without roles, places, dates and helpers.
fn persons(byline: &str) -> Option<&str> {
    let byline = before_event(byline);
    let byline = find(byline, &any_day()).first().map_or(byline, |day| head_bytes(byline, day.start));
    let (mut end, mut at) = (0, 0);
    for _ in 0..MAX_AUTHORS {
        let Some(person) = first_person(byline.get(at..)?) else { break };
        end = at + person.end;
        let Some(next) = person.next else { break };
        at += next;
    }
    let rest = byline.get(end..)?.split_whitespace().next().unwrap_or_default();
    (end > 0 && !WITHIN_OFFICES.contains(rest) && !is_office(rest)).then(|| byline.get(..end))?
}

struct FirstPerson {
    end: usize,
    next: Option<usize>,
}

fn first_person(text: &str) -> Option<FirstPerson> {
    let (mut words, mut end, mut before, mut last) = (0, 0, 0, "");
    let mut is_joined = false;
    let mut rest = text.split_whitespace().peekable();
    while let Some(word) = rest.next() {
        let start = place_in(text, word);
        let name = word.trim_end_matches([',', ';']);
        let has_comma = name.len() < word.len();
        if BETWEEN_NAMES.contains(name) {
            if words == 0 {
                is_joined = true;
                continue;
            }
            if words >= PERSON {
                return Some(FirstPerson { end, next: Some(start) });
            }
        }
        // A label may follow a comma.
        is_joined |= !has_comma && rest.peek().is_some_and(|next| BETWEEN_NAMES.contains(next));
        let is_last = has_comma || rest.peek().is_none_or(|next| BETWEEN_NAMES.contains(next));
        let is_listed = || FAMILY_NAMES.contains(fold(name).as_str()) && name.starts_with(char::is_uppercase);
        let is_family_name = words > 0 && is_joined && is_last && is_listed();
        if !is_family_name && (!is_part_of_name(name) || is_role(name)) {
            // "Ada Example December 8": the last word is part of a day.
            if words > PERSON && name.starts_with(|c: char| c.is_ascii_digit()) && has_day(&format!("1 {last} 2026")) {
                end = before;
            }
            break;
        }
        (words, before, last) = (words + 1, end, name);
        // A particle is not the end of a name.
        if !PARTICLES.contains(name) {
            end = start + name.len();
        }
        // A full stop that is not that of an initial or a title ends a byline.
        if name.ends_with('.') && name.len() > "Esq.".len() && words >= PERSON {
            return Some(FirstPerson { end: end - 1, next: None });
        }
        if has_comma {
            return (words >= PERSON).then_some(FirstPerson { end, next: Some(start + word.len()) });
        }
    }
    (words >= PERSON).then_some(FirstPerson { end, next: None })
}

fn before_event(byline: &str) -> &str {
    let lower = byline.to_lowercase();
    // Some letters have a different length in lower case.
    if lower.len() != byline.len() {
        return byline;
    }
    let begins = |at: usize| {
        let before = byline.get(..at).and_then(|before| before.chars().next_back());
        let is_capital = byline.get(at..).is_some_and(|rest| rest.starts_with(char::is_uppercase));
        before.is_some_and(|c| !c.is_alphabetic() || (c.is_lowercase() && is_capital))
    };
    events(&lower).filter(|at| begins(*at)).min().and_then(|at| byline.get(..at)).unwrap_or(byline).trim_end()
}

/// Returns the name after words for the person's work: "our education correspondent Ada Example".
fn after_role(byline: &str) -> Option<&str> {
    const MAX_WORDS: usize = 6;
    let mut is_work = byline.starts_with(char::is_lowercase);
    byline.split_whitespace().take(MAX_WORDS).find_map(|word| {
        is_work |= is_role(word);
        let ends = is_role(word) || word.starts_with(char::is_lowercase);
        let at = place_in(byline, word) + word.len();
        let rest = byline.get(at..)?.trim_start();
        Some(rest).filter(|rest| is_work && ends && rest.starts_with(char::is_uppercase) && persons(rest).is_some())
    })
}

fn is_role(word: &str) -> bool {
    /// Maximum length of a role that must be a whole word: "foto" begins names as well.
    const WHOLE: usize = 5;
    let is = |word: &str, role: &str| word == role || (role.chars().count() > WHOLE && word.starts_with(role));
    fold(word).split(' ').any(|word| ROLES.iter().any(|role| is(word, role)))
}

pub(super) fn is_reporter(text: &str) -> bool {
    let first = text.split(['|', '·', '｜', '/', '　']).next().unwrap_or_default().trim();
    REPORTERS.iter().any(|word| first.strip_suffix(word).is_some_and(|name| (1..=20).contains(&name.chars().count())))
}

/// Returns the name in a text such as "By Ada Example | May 1, 2026", of at most `chars` characters; `None` if it
/// cannot contain a name. `signed` is true if the page shows the text as a byline.
pub(super) fn name(text: &str, signed: bool, chars: usize) -> Option<String> {
    /// Maximum length of the words for the kind of work before "by", in bytes.
    const MADE: usize = 16;
    /// Maximum number of words of one name; editorial offices have long ones.
    const WORDS: usize = 8;
    let plain = without_tags(head_bytes(text, 4 * MAX_CHARS));
    let mut text = plain.trim().trim_matches(['"', '“', '”', '«', '»']);
    let after = |text| after_by(text).or_else(|| if signed { after_of(text) } else { None });
    let whole = text;
    while let Some(rest) = after(text) {
        text = rest;
    }
    let mut introduced = text.len() < whole.len();
    let made = text.split_once(" by ").filter(|(work, _)| work.len() <= MADE);
    // "Photo by", "Edited by": a helper.
    if made.is_some_and(|(work, _)| !introduced && (is_role(work) || work.ends_with("dited"))) {
        return None;
    }
    let names = |text| persons(text).or_else(|| persons(after_role(text)?));
    let small = |text: &str| text.trim_start().starts_with(char::is_lowercase);
    // Names of organisations have such joining words, too, but seldom lower-case words after them.
    let has_helpers = |names: &str| {
        let rest = text.strip_prefix(names).and_then(|rest| rest.trim_start().split_once(' '));
        small(text) || rest.is_some_and(|(joint, helpers)| BETWEEN_NAMES.contains(joint) && small(helpers))
    };
    if let Some(names) = names(text).filter(|names| signed || introduced || has_helpers(names)) {
        text = names;
    } else if let Some((_, rest)) = made {
        // "Recipe by", "View all posts by": a name follows, whatever the kind of work.
        introduced = true;
        text = names(rest).unwrap_or(rest);
    }
    // Numbers right after a name are part of the next label, such as the reading time.
    let glued =
        text.char_indices().zip(text.chars().skip(1)).find(|((_, c), next)| c.is_alphabetic() && next.is_ascii_digit());
    let text = match glued {
        Some(((at, c), _)) if text[at..].contains(' ') => &text[..at + c.len_utf8()],
        _ => text,
    };
    // A day ends a name; after anything else it shows that this is not a name.
    let before = Some(text).filter(|text| has_day(text)).map(before_time);
    let text = before.filter(|before| introduced || is_person(before)).unwrap_or(text);
    // The part of an address before `@` does not belong to the name.
    let text = text.find('@').map_or(text, |at| text[..at].rsplit_once(' ').map_or("", |(before, _)| before));
    let text = text
        .find('/')
        .filter(|at| text[at + 1..].trim_start().starts_with(|c: char| c.is_ascii_digit()))
        .map_or(text, |at| &text[..at]);
    let end = text.find(['|', '｜', '•', '·', '\n', '⋅', '(', ':', '{', '[', '@', '—', '<']).unwrap_or(text.len());
    let name = line(&references::decode(text.get(..end).unwrap_or_default()), chars);
    let name = without_role(&name);
    let name = name.rsplit_once(", ").filter(|(_, site)| is_address(site)).map_or(name, |(name, _)| name);
    let name = name.trim_matches([' ', ',', '-', '–', '&']).trim_start_matches('.');
    // The full stop after an initial is part of the name.
    let last = name.rsplit([' ', '.']).find(|part| !part.is_empty()).unwrap_or_default();
    let name = if last.chars().count() == 1 { name } else { name.trim_end_matches('.') };
    let name = REPORTERS.iter().find_map(|word| name.strip_suffix(word)).unwrap_or(name).trim_end();
    let words = name.split_whitespace().count();
    let mut each = name.split([',', ';']).map(|name| name.split_whitespace().count());
    let plausible = words > 0 && name.matches([',', ';']).count() < MAX_AUTHORS && each.all(|words| words <= WORDS);
    let digits = name.chars().any(|c| c.is_ascii_digit()) && !name.chars().next().is_some_and(|c| c.is_ascii_digit());
    let is_name = plausible
        && (!digits || (words <= 3 && !has_day(&plain)))
        && !plain.trim_start().starts_with("http")
        && !name.contains("www.")
        && name.chars().any(char::is_alphabetic)
        && (2..=MAX_CHARS).contains(&name.chars().count())
        && !introduces(name)
        && !is_nobody(name)
        && !has_day(name);
    is_name.then(|| name.to_owned())
}

fn is_nobody(name: &str) -> bool {
    let name = fold(name);
    let account = name.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end();
    is_leftover(&name) || NOBODY.contains(account)
}

/// Returns names without the role after a comma: "Ada Example, Senior Editor".
fn without_role(names: &str) -> &str {
    let mut ends = names.match_indices(", ").map(|(at, _)| at);
    let end = ends.find(|at| names.get(at + 2..).is_some_and(|rest| is_role(rest.split(", ").next().unwrap_or(rest))));
    end.and_then(|end| names.get(..end)).unwrap_or(names)
}

pub(super) fn is_company(name: &str) -> bool {
    let name = fold(name);
    COMPANIES.iter().any(|form| name.strip_suffix(form).is_some_and(|rest| rest.ends_with(' ')))
}

pub(super) fn without_paper<'n>(name: &'n str, paper: &str) -> Option<&'n str> {
    let at = name.len().checked_sub(paper.len())?;
    let (before, rest) = name.split_at_checked(at)?;
    let name = before.trim_end_matches([' ', ',', '-', '–', '|']);
    let between = before.get(name.len()..).unwrap_or_default();
    // If only a space separates them, a single word may be part of the person's name.
    let apart = !between.trim().is_empty() || (!between.is_empty() && paper.trim().contains(' '));
    (apart && fold(rest) == fold(paper) && name.contains(' ')).then_some(name)
}

pub(super) fn is_address(name: &str) -> bool {
    let end = name.rsplit_once('.').filter(|(_, end)| (2..=4).contains(&end.len())).map(|(_, end)| end);
    !name.contains(' ') && end.is_some_and(|end| end.bytes().all(|b| b.is_ascii_lowercase()))
}

pub(super) fn is_login(name: &str) -> bool {
    !name.contains(' ') && name.chars().all(|c| c.is_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_' | '.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_taken_out_of_its_byline() {
        let of = |text: &str, signed| name(text, signed, 1_000);
        for (line, want) in [
            ("By Ada Example | May 1, 2026", "Ada Example"),
            ("di Ada Esempio", "Ada Esempio"),
            ("Von Ada Beispiel", "Ada Beispiel"),
            ("Ada Beispiel, Beispiel.at", "Ada Beispiel"),
            ("Автор: Ада Пример", "Ада Пример"),
            ("بقلم: آدا مثال", "آدا مثال"),
            ("김하늘 기자", "김하늘"),
            ("김하늘 기자 | 입력 2026.05.01", "김하늘"),
            ("山田花子記者", "山田花子"),
            ("文：王小明", "王小明"),
            ("View all posts by Ada Example", "Ada Example"),
            ("Recipe by Ada Example", "Ada Example"),
            ("“Ada Example”", "Ada Example"),
            ("By Ada Example, Senior Editor", "Ada Example"),
            ("Example, Ada T.", "Example, Ada T."),
            ("By Ada Example.", "Ada Example"),
            ("Ada Example, Ben Example, staff writer", "Ada Example, Ben Example"),
            ("Article by: Ada Example", "Ada Example"),
            ("By our education correspondent Ada Example", "Ada Example"),
            ("By political reporter Ada Example and Ben Example", "Ada Example and Ben Example"),
            ("Health Editor Ada Example", "Ada Example"),
            ("Von unserem Korrespondenten Ben Beispiel", "Ben Beispiel"),
            ("dal nostro inviato Ada Esempio", "Ada Esempio"),
            ("De notre correspondant Ada de la Exemple", "Ada de la Exemple"),
            ("Специальный корреспондент Ада Пример", "Ада Пример"),
            ("By Ada Example in Weirstead", "Ada Example"),
            ("Por Ada Ejemplo en Ríoseco", "Ada Ejemplo"),
            ("Von Ada Beispiel, Brüssel", "Ada Beispiel"),
            ("By Ada Example and staff", "Ada Example"),
            ("By Ada Example and Ben Best", "Ada Example and Ben Best"),
            ("Von Ada Beispiel, Cleo Post und Ben Read", "Ada Beispiel, Cleo Post und Ben Read"),
            ("By Ada Example and Ben Post, Cleo Example", "Ada Example and Ben Post, Cleo Example"),
            ("By Ada Example, Weir Post", "Ada Example"),
            ("By Ada Example and Ben Read more", "Ada Example"),
            ("Par Ada Exemple avec AFP", "Ada Exemple"),
            (
                "By Ada Example, Ben Example, and Cleo Example in Weirstead",
                "Ada Example, Ben Example, and Cleo Example",
            ),
            ("Words by Ada Example, photographs by Ben Example", "Ada Example"),
            ("di Ada Esempio, foto di Ben Esempio", "Ada Esempio"),
            ("By Ada Example and Maria Fotopoulou", "Ada Example and Maria Fotopoulou"),
            ("Ada Example is a senior writer. She covers weirs.", "Ada Example"),
            ("By Ada Example Updated 3 hours ago", "Ada Example"),
            ("Par Ada Exemple Mis à jour il y a 2 jours", "Ada Exemple"),
            ("Door Ada Voorbeeld 5 min leestijd", "Ada Voorbeeld"),
            ("Por Ada Exemplo há 3 horas", "Ada Exemplo"),
            ("ByAda ExampleUpdated May 3, 2026", "Ada Example"),
            ("diAda EsempioAggiornato il 3 maggio 2026", "Ada Esempio"),
            ("By Ada Example December 15, 2025", "Ada Example"),
            ("ByAda Example December 8December 9", "Ada Example"),
            ("Ada Example Writer", "Ada Example"),
            ("By Ada DiExample", "Ada DiExample"),
            ("By Royal Society of Weirs", "Royal Society of Weirs"),
            ("By Weir Stone Team", "Weir Stone Team"),
            ("Ada Example with Ben Example", "Ada Example with Ben Example"),
            ("Ada Example <img src=x", "Ada Example"),
            ("Ada Example<img alt='' src=https://a.example/x.png>", "Ada Example"),
        ] {
            assert_eq!(of(line, true).as_deref(), Some(want), "{line}");
        }
        assert_eq!(of("Von Miller", false).as_deref(), Some("Von Miller"));
        assert_eq!(of("Ada Example and staff", false).as_deref(), Some("Ada Example"));
        assert_eq!(of("political reporter Ada Example", false).as_deref(), Some("Ada Example"));
        assert_eq!(of("Bridge Weir and Lock Works", false).as_deref(), Some("Bridge Weir and Lock Works"));
        assert_eq!(of("By Von Miller", false).as_deref(), Some("Von Miller"));
        assert_eq!(of("May 1, 2026", true), None);
        let life = "Ada Example, gardener, has been writing about the weir and all who live beside it for thirty years";
        assert_eq!(of(life, true).as_deref(), Some("Ada Example"));
        assert!(is_reporter("김하늘 기자 | 입력 2026.05.01") && is_reporter("山田花子記者　2026年5月1日"));
        for (name, paper, want) in [
            ("Ada Example - The Harbour", "The Harbour", Some("Ada Example")),
            ("Ada Example The Harbour", "The Harbour", Some("Ada Example")),
            ("Ada Example, Post", "Post", Some("Ada Example")),
            ("Ada Mary Post", "Post", None),
            ("Ada Mary Robinson", "Son", None),
        ] {
            assert_eq!(without_paper(name, paper), want, "{name}");
        }
        assert!(!is_reporter("기자") && !is_reporter("입력 2026.05.01"));
    }
}
