//! Dictionaries of Structured Fields (RFC 9651 §4.2.2), read strictly: what breaks a rule breaks the whole.

/// Members in order: the key, and the value if it is a Token.
type Members<'a> = Vec<(&'a [u8], Option<&'a [u8]>)>;

/// The most digits of an Integer (RFC 9651 §3.3.1).
const INTEGER_DIGITS: usize = 15;
/// The most digits of a Decimal before its point, and after it (§3.3.2).
const DECIMAL_DIGITS: (usize, usize) = (12, 3);

/// The members of a dictionary; `None` if it is none.
pub(super) fn tokens(text: &[u8]) -> Option<Members<'_>> {
    let mut at = Reader(text);
    let mut members = Vec::new();
    at.skip(b" ");
    while !at.0.is_empty() {
        let key = at.key()?;
        // A key alone is the Boolean true.
        let value = if at.take(b'=') { at.item_or_list()? } else { None };
        at.parameters()?;
        members.push((key, value));
        at.skip(b" \t");
        if at.0.is_empty() {
            break;
        }
        if !at.take(b',') {
            return None;
        }
        at.skip(b" \t");
        if at.0.is_empty() {
            return None;
        }
    }
    Some(members)
}

/// What is left to be read.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn skip(&mut self, these: &[u8]) {
        while let [first, rest @ ..] = self.0
            && these.contains(first)
        {
            self.0 = rest;
        }
    }

    fn take(&mut self, byte: u8) -> bool {
        match self.0 {
            [first, rest @ ..] if *first == byte => {
                self.0 = rest;
                true
            }
            _ => false,
        }
    }

    fn next(&mut self) -> Option<u8> {
        let [first, rest @ ..] = self.0 else { return None };
        self.0 = rest;
        Some(*first)
    }

    fn while_in(&mut self, allowed: impl Fn(u8) -> bool) -> &'a [u8] {
        let length = self.0.iter().take_while(|b| allowed(**b)).count();
        let (head, rest) = self.0.split_at(length);
        self.0 = rest;
        head
    }

    /// §4.2.3.3
    fn key(&mut self) -> Option<&'a [u8]> {
        let first = *self.0.first()?;
        if !(first.is_ascii_lowercase() || first == b'*') {
            return None;
        }
        Some(self.while_in(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"_-.*".contains(&b)))
    }

    /// §4.2.1.1
    fn item_or_list(&mut self) -> Option<Option<&'a [u8]>> {
        if !self.take(b'(') {
            return self.bare_item();
        }
        loop {
            self.skip(b" ");
            if self.take(b')') {
                return Some(None);
            }
            self.bare_item()?;
            self.parameters()?;
            if !matches!(self.0.first(), Some(b' ' | b')')) {
                return None;
            }
        }
    }

    /// §4.2.3.2
    fn parameters(&mut self) -> Option<()> {
        while self.take(b';') {
            self.skip(b" ");
            self.key()?;
            if self.take(b'=') {
                self.bare_item()?;
            }
        }
        Some(())
    }

    /// §4.2.3.1: the Token, or nothing for an item of another kind.
    fn bare_item(&mut self) -> Option<Option<&'a [u8]>> {
        match *self.0.first()? {
            b'-' | b'0'..=b'9' => self.number().map(|_| None),
            b'"' => self.string().map(|()| None),
            b'*' | b'A'..=b'Z' | b'a'..=b'z' => {
                Some(Some(self.while_in(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~:/".contains(&b))))
            }
            b':' => self.bytes().map(|()| None),
            b'?' => {
                self.next();
                matches!(self.next(), Some(b'0' | b'1')).then_some(None)
            }
            b'@' => {
                self.next();
                self.number()?.then_some(None)
            }
            b'%' => self.display_string().map(|()| None),
            _ => None,
        }
    }

    /// §4.2.4; says whether it is an Integer.
    fn number(&mut self) -> Option<bool> {
        self.take(b'-');
        let whole = self.while_in(|b| b.is_ascii_digit()).len();
        if whole == 0 {
            return None;
        }
        if !self.take(b'.') {
            return (whole <= INTEGER_DIGITS).then_some(true);
        }
        let fraction = self.while_in(|b| b.is_ascii_digit()).len();
        let (before, after) = DECIMAL_DIGITS;
        (whole <= before && (1..=after).contains(&fraction)).then_some(false)
    }

    /// §4.2.5
    fn string(&mut self) -> Option<()> {
        self.next();
        loop {
            match self.next()? {
                b'"' => return Some(()),
                b'\\' => matches!(self.next()?, b'"' | b'\\').then_some(())?,
                0x20..=0x7E => {}
                _ => return None,
            }
        }
    }

    /// §4.2.7
    fn bytes(&mut self) -> Option<()> {
        self.next();
        self.while_in(|b| b.is_ascii_alphanumeric() || b"+/=".contains(&b));
        self.take(b':').then_some(())
    }

    /// §4.2.10
    fn display_string(&mut self) -> Option<()> {
        self.next();
        self.take(b'"').then_some(())?;
        let mut text = Vec::new();
        loop {
            match self.next()? {
                b'"' => return std::str::from_utf8(&text).is_ok().then_some(()),
                b'%' => {
                    let mut digit = || match self.next()? {
                        b @ b'0'..=b'9' => Some(b - b'0'),
                        b @ b'a'..=b'f' => Some(b - b'a' + 10),
                        _ => None,
                    };
                    text.push(digit()? << 4 | digit()?);
                }
                b @ 0x20..=0x7E => text.push(b),
                _ => return None,
            }
        }
    }
}
