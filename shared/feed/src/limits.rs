//! Every limit that reading a feed knows, by name.

/// Limits on the cost of a feed. Texts and lists are cut at their limit; depth, declarations and bytes are refused beyond it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the document; more are refused.
    pub bytes: usize,
    /// Entries kept, from the top of the document; the rest is left out and [`crate::Feed::truncated`] set.
    pub entries: usize,
    /// Characters of a title or an author's name.
    pub title_chars: usize,
    /// Characters of a description, summary or content.
    pub text_chars: usize,
    /// Bytes of a URL, and of an id; a longer URL is dropped, a longer id hashed.
    pub url_bytes: usize,
    /// Elements inside each other; more are refused.
    pub depth: usize,
    /// Attributes looked at in one tag; the rest is not looked at.
    pub attributes: usize,
    /// Namespace declarations in force at one time; more are refused.
    pub namespaces: usize,
    /// Addresses and dates read in one document; further ones are not looked at. Each costs many times what its bytes do.
    pub values: usize,
    /// Attempts at mending that are listed in [`crate::Feed::repairs`].
    pub repairs: usize,
    /// Faults that are listed in [`crate::Feed::faults`]; more are counted, up to 100,000.
    pub faults: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            bytes: 16 * 1024 * 1024,
            entries: 1_000,
            title_chars: 1_000,
            text_chars: 200_000,
            url_bytes: 2_048,
            depth: 256,
            attributes: 256,
            namespaces: 256,
            values: 20_000,
            repairs: 16,
            faults: 50,
        }
    }
}
