//! Extracts authors' names without their e-mail addresses, which are personal data.

/// Returns the name in an author field: `a@b.example (Name)` as in RSS 2.0, `Name <a@b.example>` as in mail, or a name
/// alone; `None` if the field contains only an address.
pub(crate) fn byline(text: &str) -> Option<String> {
    if !text.contains('@') {
        return Some(text.to_owned());
    }
    let mut name = String::with_capacity(text.len());
    let mut found = false;
    for word in text.split_inclusive(|c: char| c.is_whitespace() || BETWEEN.contains(&c)) {
        let (word, end) = match word.chars().next_back() {
            Some(c) if c.is_whitespace() || BETWEEN.contains(&c) => word.split_at(word.len() - c.len_utf8()),
            _ => (word, ""),
        };
        if is_address(word) {
            found = true;
        } else {
            name.push_str(word);
        }
        name.push_str(end);
    }
    if !found {
        return Some(text.to_owned());
    }
    let name = name.replace("<>", " ").replace("()", " ").replace("[]", " ");
    let name: Vec<&str> = name.split_whitespace().collect();
    let name = name.join(" ");
    let name = name.trim_matches(|c: char| c.is_whitespace() || BETWEEN.contains(&c) || "-|/".contains(c));
    (!name.is_empty()).then(|| name.to_owned())
}

const BETWEEN: [char; 10] = ['(', ')', '<', '>', '[', ']', ',', ';', '"', '\''];

/// True for an e-mail address (RFC 5322 §3.4.1, loosely), with or without `mailto:`.
fn is_address(word: &str) -> bool {
    let word = word.trim_end_matches(['.', ':']);
    let Some((local, domain)) = word.rsplit_once('@') else { return false };
    !local.is_empty() && domain.len() > 2 && !domain.starts_with('.') && !domain.contains('/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_kept_and_addresses_are_not() {
        for (line, name) in [
            ("Ines Marsh", Some("Ines Marsh")),
            ("ines@mudflat.example (Ines Marsh)", Some("Ines Marsh")),
            ("Ines Marsh <ines@mudflat.example>", Some("Ines Marsh")),
            ("\"Marsh, Ines\" <ines@mudflat.example>", Some("Marsh, Ines")),
            ("Ines Marsh (ines@mudflat.example)", Some("Ines Marsh")),
            ("mailto:ines@mudflat.example", None),
            ("ines@mudflat.example", None),
            ("<ines@mudflat.example>", None),
            ("a@b.example, c@d.example", None),
            ("a@b.example (Ines), c@d.example (Bo)", Some("Ines), (Bo")),
            ("Ines O'Hara", Some("Ines O'Hara")),
            ("Ines @ the mudflat", Some("Ines @ the mudflat")),
            ("@ines", Some("@ines")),
        ] {
            assert_eq!(byline(line).as_deref(), name, "{line}");
        }
    }
}
