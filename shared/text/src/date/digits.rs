use std::borrow::Cow;

/// Converts decimal digits of all scripts to ASCII, and removes the full stops of Thai abbreviations (`พ.ค.`).
pub fn ascii_digits(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let is_thai = |c: char| ('\u{E01}'..='\u{E4E}').contains(&c);
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c == '.' && out.ends_with(is_thai) {
            continue;
        }
        out.push(ascii_digit(c).unwrap_or(c));
    }
    Cow::Owned(out)
}

/// Returns the ASCII digit for a decimal digit of another script.
pub fn ascii_digit(c: char) -> Option<char> {
    /// Digit zero of each script with digits in use on the web: Arabic, Persian, Devanagari, Bengali, Gurmukhi,
    /// Gujarati, Tamil, Telugu, Kannada, Malayalam, Thai, Lao, Myanmar, Khmer, full-width.
    const ZEROS: [char; 15] = [
        '\u{660}', '\u{6F0}', '\u{966}', '\u{9E6}', '\u{A66}', '\u{AE6}', '\u{BE6}', '\u{C66}', '\u{CE6}', '\u{D66}',
        '\u{E50}', '\u{ED0}', '\u{1040}', '\u{17E0}', '\u{FF10}',
    ];
    let zero = ZEROS.iter().find(|zero| (0..10).contains(&(i64::from(u32::from(c)) - i64::from(u32::from(**zero)))))?;
    char::from_digit(u32::from(c) - u32::from(*zero), 10)
}
