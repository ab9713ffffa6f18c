//! Reads bylines: the words before a writer's name, and the name in a line that has more than that.

use crate::markup::jsonld::AUTHORS;
use crate::read::dom::without_tags;
use crate::read::gate::Limits;
use crate::text::{fold, head};
use curlew_text::date::{Hints, Order, find};
use curlew_text::{hygiene::line, references};

/// Phrases, folded, between which and a writer's name stands a blank or a colon. Longer ones are before those that they begin with.
const WRITTEN_BY: [&str; 48] = [
    "written by",
    "posted by",
    "words by",
    "reviewed by",
    "article by",
    "story by",
    "published by",
    "submitted by",
    "by",
    "eingestellt von",
    "erstellt von",
    "geschrieben von",
    "verfasst von",
    "veröffentlicht von",
    "écrit par",
    "posté par",
    "publié par",
    "rédigé par",
    "inserito da",
    "pubblicato da",
    "scritto da",
    "escrito por",
    "postado por",
    "publicado por",
    "escrit per",
    "geplaatst door",
    "geschreven door",
    "ingediend door",
    "skriven av",
    "skrivet av",
    "publicerad av",
    "skrevet av",
    "skrevet af",
    "kirjoittanut",
    "napisane przez",
    "opublikowane przez",
    "dodane przez",
    "napsal uživatel",
    "napsal",
    "napísal",
    "írta",
    "scris de",
    "написано автором",
    "γράφει ο",
    "γράφει η",
    "ditulis oleh",
    "بقلم",
    "yazan",
];
/// Words, folded, for a writer: a colon stands between them and the name.
const WRITER: [&str; 11] =
    ["author", "autor", "autore", "auteur", "автор", "συντάκτης", "作者", "著者", "執筆", "執筆者", "글"];
/// Words, folded, for a text, before a colon and the name of its writer. By itself such a label may stand above the text.
const TEXT: [&str; 3] = ["text", "текст", "文"];
/// Words before a name in a byline. Elsewhere they may be part of the name ("Von Miller").
const OF: [&str; 10] = ["di", "von", "par", "por", "door", "av", "af", "της", "του", "oleh"];
/// Words after a reporter's name in Korean, Chinese and Japanese.
const REPORTERS: [&str; 7] = [" 기자", " 특파원", " 선임기자", "記者", "特派員", "记者", "論説委員"];
/// Maximum length of the names of several authors, in characters.
const LONGEST: usize = 600;
/// Maximum length of a name, in words; editorial offices have long ones.
const WORDS: usize = 8;

/// True if a label only announces a writer's name. In some languages the word is one that names have in them, too.
pub(super) fn introduces(label: &str) -> bool {
    let label = fold(label);
    label == "de" || WRITTEN_BY.iter().chain(&WRITER).chain(&OF).any(|known| *known == label)
}

/// Returns what follows the words before a writer's name that a text begins with.
pub(super) fn after_by(text: &str) -> Option<&str> {
    let phrase = WRITTEN_BY.iter().filter_map(|phrase| after_word(text, phrase));
    let parted = phrase.filter(|rest| rest.starts_with([' ', '\u{A0}', ':', '：']));
    let writer = WRITER.iter().chain(&TEXT).filter_map(|word| after_word(text, word));
    let labelled = writer.map(str::trim_start).filter(|rest| rest.starts_with([':', '：']));
    parted.chain(labelled).next().map(|rest| rest.trim_start_matches([' ', '\u{A0}', ':', '：']))
}

/// Returns what follows the short word before a writer's name that a byline begins with.
pub(super) fn after_of(text: &str) -> Option<&str> {
    OF.iter().find_map(|word| after_word(text, word)?.strip_prefix([' ', '\u{A0}'])).map(str::trim_start)
}

/// True if a line begins with the words before a writer's name, and goes on like one if these are short words.
pub(super) fn starts_with_by(text: &str) -> bool {
    after_by(text).is_some() || after_of(text).is_some_and(|rest| rest.starts_with(char::is_uppercase))
}

/// Returns what follows a word, in small or capital letters.
fn after_word<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    let mut letters = text.chars();
    let begins = word.chars().all(|wanted| letters.next().is_some_and(|c| c.to_lowercase().eq([wanted])));
    if begins { Some(letters.as_str()) } else { None }
}

/// Hints where the place of a day counts and not which one it is: a month's name may be that of another one elsewhere.
pub(super) fn any_day() -> Hints {
    Hints::page(Order::DayFirst).of_language(Some("pl"))
}

/// True if a day is written in a text.
pub(super) fn has_day(text: &str) -> bool {
    !find(text, &any_day()).is_empty()
}

/// Returns what stands before the day or the time of a line, and before the word that leads to it, or to the section.
pub(super) fn before_time(line: &str) -> &str {
    /// Maximum length of such a word, in bytes.
    const WORD: usize = 4;
    let end = line.find(|c: char| c.is_ascii_digit()).unwrap_or(line.len());
    let day = find(line, &any_day()).first().map_or(end, |day| day.start);
    let end = [" in ", " on ", " at ", " am ", " | ", " - ", " (", "\n"]
        .iter()
        .filter_map(|mark| line.find(mark))
        .fold(end.min(day), usize::min);
    let before = line.get(..end).unwrap_or_default().trim_end();
    match before.rsplit_once(' ') {
        Some((name, word)) if word.len() <= WORD && word.chars().all(char::is_lowercase) => name.trim_end(),
        _ => before,
    }
}

/// True if a name ends with a single letter and a point.
fn ends_with_initial(name: &str) -> bool {
    let mut last = name.rsplit([' ', '.']).filter(|part| !part.is_empty());
    name.ends_with('.') && last.next().is_some_and(|part| part.chars().count() == 1)
}

/// True if a name is that of an editorial office, or of whoever works there.
pub(super) fn is_office(name: &str) -> bool {
    const OFFICES: [&str; 22] = [
        "admin",
        "administrator",
        "desk",
        "editorial",
        "editors",
        "newsroom",
        "press",
        "redacción",
        "redactie",
        "redakce",
        "redakcja",
        "redaktion",
        "redaktionen",
        "redação",
        "redazione",
        "redaksi",
        "rédaction",
        "staff",
        "team",
        "webmaster",
        "редакция",
        "редакція",
    ];
    fold(name).split(' ').any(|word| OFFICES.contains(&word))
}

/// True if a text reads like the name of a person: a few words, each but the particles with a capital letter.
pub(super) fn is_person(text: &str) -> bool {
    /// Minimum and maximum number of words.
    const WORDS: std::ops::RangeInclusive<usize> = 2..=4;
    let is_name = |word: &str| {
        let letters = word.chars().all(|c| c.is_alphabetic() || matches!(c, '.' | '-' | '\'' | '’'));
        letters && (word.starts_with(char::is_uppercase) || PARTICLES.contains(&word))
    };
    let text = after_by(text).unwrap_or(text);
    let mut words = text.split_whitespace();
    WORDS.contains(&words.clone().count())
        && words.all(is_name)
        && !fold(text).split(' ').any(|word| NO_NAMES.contains(&word))
}

/// Words in lower case within names.
const PARTICLES: [&str; 16] =
    ["de", "da", "do", "dos", "del", "della", "di", "du", "la", "le", "van", "von", "der", "den", "al", "bin"];
/// Words that begin with a capital letter in labels, and are no part of a name.
const NO_NAMES: [&str; 36] = [
    "about",
    "all",
    "article",
    "articles",
    "best",
    "blog",
    "breaking",
    "by",
    "category",
    "editorial",
    "guide",
    "home",
    "how",
    "in",
    "last",
    "latest",
    "more",
    "news",
    "on",
    "our",
    "photo",
    "post",
    "posts",
    "posted",
    "press",
    "published",
    "read",
    "release",
    "report",
    "reviews",
    "staff",
    "team",
    "the",
    "updated",
    "view",
    "your",
];

/// True if a line begins with a name that is marked as a reporter's.
pub(super) fn is_reporter(text: &str) -> bool {
    let first = text.split(['|', '·', '｜', '/', '　']).next().unwrap_or_default().trim();
    REPORTERS.iter().any(|word| first.strip_suffix(word).is_some_and(|name| (1..=20).contains(&name.chars().count())))
}

/// Returns the name in a text such as "By Ada Example | May 1, 2026"; `None` if it cannot contain a name. `signed` is
/// true if the page shows the text as a byline.
pub(super) fn name(text: &str, signed: bool, limits: &Limits) -> Option<String> {
    /// Maximum length of the words for the kind of work, in bytes.
    const MADE: usize = 16;
    // No name is longer.
    let plain = without_tags(head(text, 4 * LONGEST));
    let mut text = plain.trim().trim_matches(['"', '“', '”', '«', '»']);
    // "Recipe by", "View all posts by": a name follows, whatever the kind of work.
    text = text.find(" by ").filter(|at| *at <= MADE).and_then(|at| text.get(at + 1..)).unwrap_or(text);
    let whole = text;
    while let Some(rest) = after_by(text).or_else(|| if signed { after_of(text) } else { None }) {
        text = rest;
    }
    let introduced = text.len() < whole.len();
    // Numbers that nothing parts from a name are those of the next label, such as the time that reading takes.
    let glued =
        text.char_indices().zip(text.chars().skip(1)).find(|((_, c), next)| c.is_alphabetic() && next.is_ascii_digit());
    let text = match glued {
        Some(((at, c), _)) if text[at..].contains(' ') => &text[..at + c.len_utf8()],
        _ => text,
    };
    // A day after a name ends it; one after anything else says what that is.
    let before = Some(text).filter(|text| has_day(text)).map(before_time);
    let text = before.filter(|before| introduced || is_person(before)).unwrap_or(text);
    // What stands before `@` in an address is no part of the name.
    let text = text.find('@').map_or(text, |at| text[..at].rsplit_once(' ').map_or("", |(before, _)| before));
    let text = text
        .find('/')
        .filter(|at| text[at + 1..].trim_start().starts_with(|c: char| c.is_ascii_digit()))
        .map_or(text, |at| &text[..at]);
    let text = text.split_once(" / ").filter(|(_, place)| is_place(place)).map_or(text, |(name, _)| name);
    let end = text.find(['|', '｜', '•', '·', '\n', '⋅', '(', ':', '{', '[', '@', '—', '<']).unwrap_or(text.len());
    let name = line(&references::decode(text.get(..end).unwrap_or_default()), limits.title_chars);
    let name = without_role(&name);
    let name = name.rsplit_once(", ").filter(|(_, site)| is_address(site)).map_or(name, |(name, _)| name);
    let name = name.trim_matches([' ', ',', '-', '–', '&']).trim_start_matches('.');
    // The point after an initial is part of the name.
    let name = if ends_with_initial(name) { name } else { name.trim_end_matches('.') };
    let name = REPORTERS.iter().find_map(|word| name.strip_suffix(word)).unwrap_or(name).trim_end();
    let words = name.split_whitespace().count();
    let mut each = name.split([',', ';']).map(|name| name.split_whitespace().count());
    let several = name.matches([',', ';']).count() < AUTHORS && each.all(|words| words <= WORDS);
    let plausible = words > 0 && several;
    let digits = name.chars().any(|c| c.is_ascii_digit()) && !name.chars().next().is_some_and(|c| c.is_ascii_digit());
    let is_name = plausible
        && (!digits || (words <= 3 && !has_day(&plain)))
        && !name.contains("://")
        && !name.contains("www.")
        && name.chars().any(char::is_alphabetic)
        && (2..=LONGEST).contains(&name.chars().count())
        && !introduces(name)
        && !matches!(
            fold(name).as_str(),
            "admin"
                | "authors"
                | "the author"
                | "about the author"
                | "staff"
                | "editor"
                | "guest"
                | "share"
                | "sign in"
                | "log in"
                | "null"
                | "undefined"
                | "username"
                | "user name"
        );
    (is_name && !has_day(name)).then(|| name.to_owned())
}

/// True if what stands behind a name and a stroke is a place: one word in capital letters.
fn is_place(text: &str) -> bool {
    let text = text.trim();
    text.chars().count() > 1 && text.chars().all(|c| c.is_uppercase() || c == '-')
}

/// Returns names without what their bearers do, if a comma is before it: "Ada Example, Senior Editor".
fn without_role(names: &str) -> &str {
    let is_role = |part: &str| fold(part).split(' ').any(|word| ROLES.contains(&word));
    let mut ends = names.match_indices(", ").map(|(at, _)| at);
    let end = ends.find(|at| names.get(at + 2..).is_some_and(|rest| is_role(rest.split(", ").next().unwrap_or(rest))));
    end.and_then(|end| names.get(..end)).unwrap_or(names)
}

/// Words for what people do who write, folded.
const ROLES: [&str; 38] = [
    "analyst",
    "attorney",
    "autorin",
    "ceo",
    "chefredakteur",
    "chefredakteurin",
    "columnist",
    "consultant",
    "contributing",
    "contributor",
    "correspondant",
    "correspondent",
    "corresponsal",
    "corrispondente",
    "director",
    "editor",
    "editora",
    "engineer",
    "founder",
    "freelance",
    "freelancer",
    "giornalista",
    "jornalista",
    "journalist",
    "journaliste",
    "journalistin",
    "lawyer",
    "manager",
    "periodista",
    "professor",
    "redactor",
    "redactora",
    "redakteur",
    "redakteurin",
    "redaktör",
    "reporter",
    "specialist",
    "writer",
];

/// True if a name ends with the form of a company.
pub(super) fn is_company(name: &str) -> bool {
    const FORMS: [&str; 22] = [
        "ab", "ag", "as", "b v", "bv", "corp", "gmbh", "inc", "limited", "llc", "ltd", "oy", "plc", "pty", "s a",
        "s l", "s p a", "s r l", "s r o", "sp z o o", "srl", "z ú",
    ];
    let name = fold(name);
    FORMS.iter().any(|form| name.strip_suffix(form).is_some_and(|rest| rest.ends_with(' ')))
}

/// Returns a person's name without that of the paper behind it.
pub(super) fn without_paper<'n>(name: &'n str, paper: &str) -> Option<&'n str> {
    let at = name.len().checked_sub(paper.len())?;
    let (before, rest) = name.split_at_checked(at)?;
    let name = before.trim_end_matches([' ', ',', '-', '–', '|']);
    let between = before.get(name.len()..).unwrap_or_default();
    // With nothing but a blank between them, one word more may be the person's own.
    let apart = !between.trim().is_empty() || (!between.is_empty() && paper.trim().contains(' '));
    (apart && fold(rest) == fold(paper) && name.contains(' ')).then_some(name)
}

/// True if a name is the address of a site.
pub(super) fn is_address(name: &str) -> bool {
    let end = name.rsplit_once('.').filter(|(_, end)| (2..=4).contains(&end.len())).map(|(_, end)| end);
    !name.contains(' ') && end.is_some_and(|end| end.bytes().all(|b| b.is_ascii_lowercase()))
}

/// True if a name is one word in lower case, as accounts are named.
pub(super) fn is_login(name: &str) -> bool {
    !name.contains(' ') && name.chars().all(|c| c.is_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_' | '.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_taken_out_of_its_byline() {
        let of = |text: &str, signed| name(text, signed, &Limits::default());
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
            ("Ada Example <img src=x", "Ada Example"),
            ("Ada Example<img alt='' src=https://a.example/x.png>", "Ada Example"),
        ] {
            assert_eq!(of(line, true).as_deref(), Some(want), "{line}");
        }
        assert_eq!(of("Von Miller", false).as_deref(), Some("Von Miller"));
        assert_eq!(of("By Von Miller", false).as_deref(), Some("Von Miller"));
        assert_eq!(of("May 1, 2026", true), None);
        let life = "Ada Example, gardener, has been writing about the weir and all who live beside it for thirty years";
        assert_eq!(of(life, true), None);
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
