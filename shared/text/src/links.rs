//! `Link` headers (RFC 8288).

/// Maximum number of links examined in the headers of one response.
pub const MOST_LINKS: usize = 50;

/// Splits a header into links, at commas outside angle brackets and quotes (RFC 8288 §3).
pub fn split(header: &str) -> Vec<&str> {
    let (mut links, mut from, mut in_target, mut in_quotes, mut escaped) = (vec![], 0, false, false, false);
    for (at, c) in header.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if in_quotes => escaped = true,
            '"' if !in_target => in_quotes = !in_quotes,
            '<' if !in_quotes => in_target = true,
            '>' if !in_quotes => in_target = false,
            ',' if !in_quotes && !in_target => {
                links.push(&header[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    links.push(&header[from..]);
    links
}

/// Returns the target of a link if it has the relation type `rel`, ignoring case (RFC 8288 §2.1).
pub fn target<'a>(link: &'a str, rel: &str) -> Option<&'a str> {
    let (target, _) = link.trim().strip_prefix('<')?.split_once('>')?;
    let value = parameter(link, "rel")?;
    value.split_ascii_whitespace().any(|word| word.eq_ignore_ascii_case(rel)).then_some(target)
}

/// Returns the value of a link's first parameter of that name (RFC 8288 §3.3).
pub fn parameter<'a>(link: &'a str, name: &str) -> Option<&'a str> {
    let (_, parameters) = link.split_once('>')?;
    parameters.split(';').find_map(|parameter| {
        let (it, value) = parameter.split_once('=')?;
        it.trim().eq_ignore_ascii_case(name).then(|| value.trim().trim_matches('"'))
    })
}
