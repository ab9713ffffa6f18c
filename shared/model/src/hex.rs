//! Bytes as hexadecimal digits (RFC 4648 §8).

/// Returns two lower-case digits per byte.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
}

/// Decodes hexadecimal digits of either case; `None` if there are other characters, or an odd number of digits.
pub fn unhex(text: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let byte = |pair: &[u8; 2]| Some(digit(pair[0])? << 4 | digit(pair[1])?);
    if rest.is_empty() { pairs.iter().map(byte).collect() } else { None }
}

/// True if a text consists of exactly `digits` hexadecimal digits in lower case.
pub(crate) fn is_hex(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_read_back_as_it_was() {
        let bytes: Vec<u8> = (0..=255).collect();
        let text = hex(&bytes);
        assert!(text.starts_with("000102") && text.ends_with("fdfeff"), "{text}");
        assert_eq!(unhex(&text).as_ref(), Some(&bytes));
        assert_eq!(unhex(&text.to_uppercase()), Some(bytes));
        assert_eq!((hex(&[]), unhex("")), (String::new(), Some(vec![])));
        for wrong in ["0", "0g", "+f", " 1", "0x", "é", "a€", "000"] {
            assert_eq!(unhex(wrong), None, "{wrong}");
            assert!(!is_hex(wrong, wrong.len()) || wrong.len() % 2 == 1, "{wrong}");
        }
        assert!(is_hex("0af", 3) && !is_hex("0AF", 3) && !is_hex("0af", 2) && !is_hex("0af", 4));
    }
}
