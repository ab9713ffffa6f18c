//! Displayed form of a host: in Unicode if its letters cannot be mistaken for others, in A-label form (punycode)
//! otherwise. A Cyrillic name under `.com` may imitate any Latin name; a name under a Cyrillic top-level domain cannot.

/// Script of the letters of a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Script {
    /// ASCII letters, and those of Latin-1 that differ visibly from ASCII.
    Latin,
    /// Han, Kana and Hangul: none of their letters looks like a Latin one.
    Cjk,
    // Labels in the following scripts are displayed only under a top-level domain in the same script.
    Cyrillic,
    Greek,
    Arabic,
    Devanagari,
    Thai,
    Hebrew,
}

/// Returns the displayed form of a host; `ascii` is its A-label form, as the URL parser returns it.
pub(crate) fn display_name(ascii: &str) -> String {
    let (unicode, valid) = idna::domain_to_unicode(ascii);
    if valid.is_ok() && is_plain(&unicode) { unicode } else { ascii.to_owned() }
}

fn is_plain(host: &str) -> bool {
    let Some(scripts) = host.split('.').map(script_of_label).collect::<Option<Vec<Option<Script>>>>() else {
        return false;
    };
    let top = scripts.last().copied().flatten();
    scripts.iter().flatten().all(|s| matches!(s, Script::Latin | Script::Cjk) || Some(*s) == top)
}

/// Returns the script of a label: `Some(None)` for a label without letters, `None` for a mixture or an unknown letter.
fn script_of_label(label: &str) -> Option<Option<Script>> {
    let mut found = None;
    for c in label.chars().filter(|c| !c.is_ascii_digit() && *c != '-') {
        let script = script_of(c)?;
        if found.is_some_and(|f| f != script) {
            return None;
        }
        found = Some(script);
    }
    Some(found)
}

fn script_of(c: char) -> Option<Script> {
    match c {
        // U+00FE, thorn, is left out: it looks like a p.
        'a'..='z' | '\u{df}'..='\u{f6}' | '\u{f8}'..='\u{fd}' | '\u{ff}' => Some(Script::Latin),
        '\u{3041}'..='\u{3096}' | '\u{30a1}'..='\u{30fa}' | '\u{30fc}' => Some(Script::Cjk),
        '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' => Some(Script::Cjk),
        '\u{400}'..='\u{45f}' => Some(Script::Cyrillic),
        '\u{386}'..='\u{3ce}' => Some(Script::Greek),
        '\u{620}'..='\u{64a}' | '\u{660}'..='\u{669}' | '\u{671}'..='\u{6d3}' => Some(Script::Arabic),
        '\u{900}'..='\u{97f}' => Some(Script::Devanagari),
        '\u{e01}'..='\u{e4e}' => Some(Script::Thai),
        '\u{5d0}'..='\u{5ea}' => Some(Script::Hebrew),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;

    fn host(name: &str) -> String {
        display_name(url::Url::parse(&format!("https://{name}/")).unwrap().host_str().unwrap())
    }

    #[test]
    fn u31_names_that_could_pass_for_others_are_shown_in_punycode() {
        assert_eq!(host("аррӏе.com"), "xn--80ak6aa92e.com");
        assert_eq!(host("раypal.com"), "xn--ypal-43d9g.com", "Cyrillic and Latin in one label");
        assert_eq!(host("exampleノpath.jp"), "xn--examplepath-8e5j.jp");
        assert!(host("þaypal.example").starts_with("xn--"));
        assert!(host("αpple.gr").starts_with("xn--"));
    }

    #[test]
    fn names_in_one_plain_script_are_shown_as_they_are_read() {
        let names = "example.org münchen.example пример.рф 日本語.jp ελλάδα.ελ 127.0.0.1 [2001:db8::1]";
        names.split(' ').for_each(|name| assert_eq!(host(name), name));
    }
}
