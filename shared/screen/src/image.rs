//! Screening of images: classifiers, the built-in skin region analysis, and the mapping of classifiers' labels.

pub mod labels;
mod skin;

pub use labels::Label;
pub use skin::SkinRegions;

use crate::topic::TopicScore;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Maximum number of pixels in an image to classify; a thumbnail has far fewer.
pub const MAX_PIXELS: usize = 1024 * 1024;

/// A decoded image: rows of RGB pixels without padding.
#[derive(Clone, Copy)]
pub struct Rgb<'a> {
    width: usize,
    height: usize,
    pixels: &'a [u8],
}

impl<'a> Rgb<'a> {
    /// Creates an image; `None` if the size does not match the pixels, or there are none or more than [`MAX_PIXELS`].
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

/// An image in the forms that classifiers need.
#[derive(Clone, Copy)]
pub struct ImageInput<'a> {
    /// Pixels of the image.
    pub rgb: Rgb<'a>,
    /// The same image as a JPEG file, for remote classifiers.
    pub jpeg: &'a [u8],
}

/// A region of an image, in percent of its width and height.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Region {
    /// Distance from the left edge.
    pub left: u8,
    /// Distance from the upper edge.
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

/// Finding of a classifier: a topic with its score and the reason.
#[derive(Clone, Debug, PartialEq)]
pub struct Detection {
    /// Topic and score.
    pub score: TopicScore,
    /// Reason, for readers without knowledge of classifiers.
    pub why: String,
    /// Region of the image; `None` for the whole image.
    pub region: Option<Region>,
}

/// Reason why an image was not classified. The page is then judged by its text alone.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the image was not classified: {0}")]
pub struct NotClassified(pub String);

/// Classifies images by topic. Equal images get equal findings. A call may take a while, because a classifier may be a
/// service or compute on another thread. Each classifier enforces its own time limit.
#[async_trait]
pub trait ImageClassifier: Send + Sync {
    /// Returns the classifier's name, for logs and explanations.
    fn name(&self) -> &str;

    /// Returns the highest score that the classifier can give.
    fn highest(&self) -> f32 {
        1.0
    }

    /// Classifies an image. Topics without a score are omitted. Fails if the classifier is not available.
    async fn classify(&self, image: &ImageInput<'_>) -> Result<Vec<Detection>, NotClassified>;
}
