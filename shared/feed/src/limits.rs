//! Limits on reading a feed, by name.

/// Limits on the cost of a feed: texts and lists are truncated, excess depth, declarations and bytes are refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum size of the document in bytes; a larger one is refused.
    pub bytes: usize,
    /// Maximum number of entries, the newest; [`crate::Feed::truncated`] says if more are left out.
    pub entries: usize,
    /// Maximum length of a title or an author's name, in characters.
    pub title_chars: usize,
    /// Maximum length of a description, summary or content, in characters.
    pub text_chars: usize,
    /// Maximum length of a URL, and of an id, in bytes; a longer URL is dropped, a longer id hashed.
    pub url_bytes: usize,
    /// Maximum nesting of elements; deeper documents are refused.
    pub depth: usize,
    /// Maximum number of attributes that are examined in one tag.
    pub attributes: usize,
    /// Maximum number of namespace declarations in force at one time; more are refused.
    pub namespaces: usize,
    /// Maximum number of addresses and dates parsed in one document, where one counts once more for each 256 bytes.
    pub values: usize,
    /// Maximum number of repairs listed in [`crate::Feed::repairs`].
    pub repairs: usize,
    /// Maximum number of faults listed in [`crate::Feed::faults`]; more are counted, up to 100,000.
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
            namespaces: 64,
            values: 100_000,
            repairs: 16,
            faults: 50,
        }
    }
}
