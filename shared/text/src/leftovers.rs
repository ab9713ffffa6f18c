//! Detects placeholders that templates and scripts leave in a page where a value is missing.

use std::collections::HashSet;
use std::sync::LazyLock;
use url::Url;

/// Placeholders in lower case. An ellipsis stands for any number of full stops.
static VALUES: LazyLock<HashSet<&str>> = LazyLock::new(|| include_str!("../data/leftovers.txt").lines().collect());
/// Delimiters of variables in template languages.
const MARKS: [(&str, &str); 8] =
    [("{", "}"), ("${", "}"), ("#{", "}"), ("<%", "%>"), ("<?", "?>"), ("[[", "]]"), ("[object ", "]"), ("@{", "}")];

/// True if a text is a placeholder: `undefined`, `{{ page.title }}`, `[object Object]`, `Loading...`.
pub fn is_leftover(text: &str) -> bool {
    const MAX_BYTES: usize = 120;
    let text = text.trim();
    if text.len() > MAX_BYTES {
        return false;
    }
    // The site's name may follow the placeholder.
    let separators = [" | ", " - ", " – ", " — ", " · "];
    let first = || separators.iter().fold(text, |text, mark| text.split(mark).next().unwrap_or(text));
    let has_marks =
        |(open, close): &(&str, &str)| text.starts_with(open) && (text.ends_with(close) || first().ends_with(close));
    // `%title%`, as in older forum and mailing software.
    let is_variable = || {
        let name = text.strip_prefix('%').and_then(|rest| rest.strip_suffix('%'));
        name.is_some_and(|name| !name.trim_matches('%').is_empty() && !name.contains(char::is_whitespace))
    };
    let is_value = || {
        let bare = text.trim_end_matches(['.', '…']);
        let dots = if bare.len() < text.len() { "…" } else { "" };
        let value = format!("{}{dots}", bare.trim_end().to_lowercase());
        VALUES.contains(value.as_str())
    };
    MARKS.iter().any(has_marks) || is_variable() || is_value()
}

/// True for titles that a template gives to every page, for placeholders, and for addresses and names of files.
pub fn is_generic_title(title: &str) -> bool {
    const GENERIC: &str = "accueil|angular|article|bienvenue|blog|document|homepage|index|inicio|my blog|my site|news|\
        page|post|startseite|untitled document|untitled page|vite app|welcome|willkommen";
    let lower = title.to_lowercase();
    let is_file = [".html", ".htm", ".php"].iter().any(|end| lower.ends_with(end));
    let is_address = (is_file || lower.contains("://")) && !lower.contains(char::is_whitespace);
    is_address || GENERIC.split('|').any(|generic| generic == lower) || is_leftover(title)
}

/// True if the path or query of a URL contains a placeholder: `/undefined`, `/blog/[slug]`, `/?p={{ id }}`.
pub fn is_leftover_address(url: &Url) -> bool {
    let decoded = |part: &str| {
        let marks = [("%7b", "{"), ("%7d", "}"), ("%3c", "<"), ("%3e", ">"), ("%5b", "["), ("%5d", "]"), ("%20", " ")];
        marks.iter().fold(part.to_ascii_lowercase(), |part, (code, mark)| part.replace(code, mark))
    };
    let (path, query) = (decoded(url.path()), decoded(url.query().unwrap_or_default()));
    let is_left = |segment: &str| {
        (segment.starts_with('[') && segment.ends_with(']'))
            || segment.starts_with([':', '$'])
            || matches!(segment, "false" | "undefined" | "null" | "nan" | "(null)")
    };
    path.split('/').any(is_left)
        || [path, query].iter().any(|part| part.contains(['{', '<']) || part.contains("[object"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_of_a_value_is_none() {
        let leftovers = "undefined; NULL ;NaN;[object Object];[object HTMLDivElement];{{ page.title }};%title%;\
             %%title%%;{% block title %};<%= title %>;${title};[[title]];{{ page.title }} | The Weir;Loading...;\
             Loading …;Please wait.....;Wird geladen…;Загрузка...;読み込み中…";
        for left in leftovers.split(';').chain(["<?php the_title(); ?>"]) {
            assert!(is_leftover(left), "{left}");
        }
        let others = ";Undefined behaviour;null - a value;Loading;Loading bays of the docks...;How to use {{ braces }};\
             {{ braces }} and how to use them;100 %;%;[Updated] The weir;The <template> element";
        for right in others.split(';') {
            assert!(!is_leftover(right), "{right}");
        }
    }

    #[test]
    fn a_title_of_every_page_is_no_title() {
        for title in "Blog|Untitled Page|index.html|https://site.example/a|{{ title }}".split('|') {
            assert!(is_generic_title(title), "{title}");
        }
        for title in "Blog of a keeper|Why index.html is served|The news".split('|') {
            assert!(!is_generic_title(title), "{title}");
        }
    }

    #[test]
    fn an_address_with_what_is_left_of_a_value_is_none() {
        let url = |path: &str| Url::parse(&format!("https://example.org{path}")).expect("the path of an address");
        let leftovers = "/undefined | /blog/null | /img/false | /blog/[slug] | /docs/[[...slug]] | /{{ page.url }} | \
             /blog/:slug | /a?p={{id}} | /<url> | /i/[object Object] | /i/gate-[object%20Object].jpg | \
             /i/gate_{width}.jpg";
        for left in leftovers.split(" | ") {
            assert!(is_leftover_address(&url(left)), "{left}");
        }
        let others = "/ /a/b.html /undefined-behaviour /a?x[]=1 /null-island/ /i/gate[1].jpg /i/none/gate.jpg";
        for right in others.split(' ') {
            assert!(!is_leftover_address(&url(right)), "{right}");
        }
    }
}
