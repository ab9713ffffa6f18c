//! Repairs JSON as people write it into pages by hand or by templates.

/// Returns JSON without byte order marks, comments to the end of a line, escapes of `'`, and commas before an end.
pub fn mended(script: &str) -> String {
    let (mut out, mut quoted) = (String::new(), false);
    let mut rest = script.chars().peekable();
    while let Some(c) = rest.next() {
        match (c, rest.peek()) {
            ('\\', Some('\'')) | ('\u{FEFF}', _) => {}
            ('\\', Some(_)) => out.extend([c].into_iter().chain(rest.next())),
            ('/', Some('/')) if !quoted => drop(rest.find(|c| *c == '\n')),
            ('}' | ']', _) if !quoted => {
                out.truncate(out.trim_end().trim_end_matches(',').len());
                out.push(c);
            }
            _ => {
                quoted ^= c == '"';
                out.push(c);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_faults_are_mended_and_strings_are_left_alone() {
        for (text, want) in [
            (r#"{"a": [1, 2, ], }"#, r#"{"a": [1, 2]}"#),
            ("\u{FEFF}{\"a\": 1}", "{\"a\": 1}"),
            ("{\"a\": 1, // the first\n \"b\": 2}", "{\"a\": 1,  \"b\": 2}"),
            (r#"{"a": "it\'s"}"#, r#"{"a": "it's"}"#),
            (r#"{"a": "http://x.example/,}\" //"}"#, r#"{"a": "http://x.example/,}\" //"}"#),
        ] {
            assert_eq!(mended(text), want);
        }
    }
}
