//! Screening of images: classifiers, the embedded one of skin regions, and the mapping of others' labels.

pub mod labels;
mod skin;

pub use labels::Label;
pub use skin::SkinRegions;

use crate::topic::TopicScore;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Maximum number of pixels of an image that is classified; a thumbnail has far fewer.
pub const MAX_PIXELS: usize = 1024 * 1024;

/// A decoded image: rows of red, green and blue, without gaps.
#[derive(Clone, Copy)]
pub struct Rgb<'a> {
    width: usize,
    height: usize,
    pixels: &'a [u8],
}

impl<'a> Rgb<'a> {
    /// Returns `None` if the size does not match the pixels, or if there are none or more than [`MAX_PIXELS`].
    pub fn new(width: usize, height: usize, pixels: &'a [u8]) -> Option<Rgb<'a>> {
        let count = width.checked_mul(height)?;
        let fits = (1..=MAX_PIXELS).contains(&count) && pixels.len() == count * 3;
        fits.then_some(Rgb { width, height, pixels })
    }

    /// Returns the width in pixels.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns the height in pixels.
    pub fn height(&self) -> usize {
        self.height
    }

    /// Returns the pixels, row by row.
    pub fn pixels(&self) -> impl Iterator<Item = [u8; 3]> + 'a {
        self.pixels.as_chunks::<3>().0.iter().copied()
    }
}

/// An image as it is passed to classifiers.
#[derive(Clone, Copy)]
pub struct ImageInput<'a> {
    /// Pixels of the image.
    pub rgb: Rgb<'a>,
    /// The same image as a JPEG file, for remote classifiers.
    pub jpeg: &'a [u8],
}

/// A part of an image, in whole per cent of its width and height.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Region {
    /// From the left edge.
    pub left: u8,
    /// From the upper edge.
    pub top: u8,
    /// Width.
    pub width: u8,
    /// Height.
    pub height: u8,
}

impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Region { left, top, width, height } = self;
        write!(f, "{left} to {} % across, {top} to {} % down", left + width, top + height)
    }
}

/// Finding of a classifier: the score of a topic, and the reason.
#[derive(Clone, Debug, PartialEq)]
pub struct Detection {
    /// Topic and score.
    pub score: TopicScore,
    /// Reason, for a reader who knows nothing of classifiers.
    pub why: String,
    /// Region of the image, if it is not the whole.
    pub region: Option<Region>,
}

/// Reason why an image was not classified. The page is then judged by its words alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotClassified(pub String);

impl fmt::Display for NotClassified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the image was not classified: {}", self.0)
    }
}

impl std::error::Error for NotClassified {}

/// Classifies images by topic; the same image always gives the same findings. A call may take a while, since a
/// classifier may be a service or compute on another thread; each has its own time limit.
#[async_trait]
pub trait ImageClassifier: Send + Sync {
    /// Returns its name, for logs and explanations.
    fn name(&self) -> &str;

    /// Returns the highest score that it ever gives.
    fn highest(&self) -> f32 {
        1.0
    }

    /// Classifies an image; topics without a score are left out. Fails if the classifier cannot be asked.
    async fn classify(&self, image: &ImageInput<'_>) -> Result<Vec<Detection>, NotClassified>;
}
