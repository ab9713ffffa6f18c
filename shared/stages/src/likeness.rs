//! Near-duplicates: fingerprints of texts and of pictures, and how far two may be apart. Pure functions of what they are
//! given; records keep what they return for good, so a fingerprint must never change for the same text or picture.

mod picture;
#[cfg(test)]
mod tests;
mod text;

pub use picture::of_picture;
pub use text::of_text;

/// Texts whose fingerprints differ in at most so many bits say the same: copies with another headline, lead or credit line,
/// or with one word in twenty changed. Texts that have only their language in common differ in about 31; the tests measure
/// both. Of a million unrelated pairs less than one is expected within it.
pub const SAME_TEXT: u32 = curlew_search::COPY_BITS;
/// Pictures whose fingerprints differ in at most so many bits are the same picture, in another size, quality or brightness,
/// or slightly cropped. Half of the bits of each are set, so two differ in an even number, and different ones in about 32.
pub const SAME_PICTURE: u32 = 8;
