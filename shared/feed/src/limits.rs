//! Limits on parsing a feed.

use curlew_model::with_defaults;

/// Maximum nesting depth of elements; a deeper document is rejected.
pub(crate) const MAX_DEPTH: usize = 256;
/// Maximum number of attributes examined per tag.
pub(crate) const MAX_ATTRIBUTES: usize = 256;
/// Maximum number of namespace declarations in scope at one time; a document with more is rejected.
pub(crate) const MAX_NAMESPACES: usize = 64;
/// Maximum number of addresses and dates parsed per document. Each 256 bytes of a value count as one more.
pub(crate) const MAX_VALUES: usize = 100_000;

with_defaults! {
    /// Limits on a feed. Texts and lists are truncated; too many bytes, levels or declarations cause an error.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Limits {
        /// Maximum size of the document in bytes; a larger one is rejected.
        pub bytes: usize = 16 * 1024 * 1024,
        /// Maximum number of entries kept, newest first; [`crate::Feed::truncated`] is true if others were dropped.
        pub entries: usize = 1_000,
        /// Maximum length of a title or an author's name, in characters.
        pub title_chars: usize = 1_000,
        /// Maximum length of a description, summary or content, in characters.
        pub text_chars: usize = 200_000,
        /// Maximum length of a URL or an id, in bytes. A longer URL is dropped, a longer id hashed.
        pub url_bytes: usize = 2_048,
        /// Maximum number of faults listed in [`crate::Feed::faults`]. Further faults are counted, up to 100,000.
        pub faults: usize = 50,
    }
}
