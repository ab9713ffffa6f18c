//! The model card, a small TOML file next to the model, and the preparation of input that it describes.

use curlew_screen::image::Label;
use image::imageops::{self, FilterType};
use image::{ImageFormat, RgbImage};
use jpeg_encoder::{ChromaSubsamplingMethod, ColorType, Encoder, SamplingFactor};
use serde::Deserialize;
use std::path::PathBuf;

/// Maximum size of a card in bytes.
pub const MAX_CARD_BYTES: u64 = 64 * 1024;
/// Maximum width and height of a model's input, in pixels.
const MAX_SIDE: u32 = 1_024;
const MAX_LABELS: usize = 1_000;

/// Description of a model's input and outputs.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Card {
    /// Name of the model in explanations.
    pub(crate) name: String,
    /// Path of the `.onnx` file, relative to the folder of the card. The model must have one input of floats for a
    /// single image, and its first output must have one float per label.
    pub(crate) file: PathBuf,
    /// Size of the model in bytes, for callers that do not read the model from a folder.
    pub bytes: Option<u64>,
    /// Hexadecimal SHA-256 of the model. A model with a different hash is rejected.
    pub sha256: Option<String>,
    pub(crate) licence: Option<String>,
    /// Width of the input in pixels, at most [`MAX_SIDE`]. Images are stretched to it, or to [`Card::resize`].
    pub(crate) width: u32,
    pub(crate) height: u32,
    /// Width and height to which images are stretched before cropping to the centre; at least the size of the input.
    resize: Option<[u32; 2]>,
    /// JPEG quality (1 to 100), for models trained on JPEG files: the stretched image is encoded and decoded again.
    jpeg: Option<u8>,
    #[serde(default)]
    channels: Channels,
    /// Value of full brightness: 1, or 255 for models that take bytes without scaling.
    #[serde(default = "one")]
    range: f32,
    #[serde(default)]
    layout: Layout,
    /// Values subtracted from red, green and blue, in this order, on the scale of [`Card::range`].
    #[serde(default)]
    mean: [f32; 3],
    /// Divisors for red, green and blue after the subtraction.
    #[serde(default = "ones")]
    std: [f32; 3],
    #[serde(default)]
    activation: Activation,
    /// Meaning of each output, in order.
    #[serde(rename = "label")]
    pub(crate) labels: Vec<Label>,
}

fn ones() -> [f32; 3] {
    [1.0; 3]
}

fn one() -> f32 {
    1.0
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Channels {
    #[default]
    Rgb,
    Bgr,
}

/// Order of the numbers in the input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Layout {
    /// All values of the first channel, then of the second, then of the third.
    #[default]
    Nchw,
    /// The three channels of each pixel together.
    Nhwc,
}

/// Function that converts outputs to probabilities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Activation {
    /// The outputs are probabilities.
    None,
    #[default]
    Softmax,
    Sigmoid,
}

impl Card {
    /// Parses a card. An error is one line that describes the mistake.
    pub fn read(text: &str) -> Result<Card, String> {
        let card: Card = toml::from_str(text).map_err(|e| e.message().lines().next().unwrap_or_default().to_owned())?;
        if !(1..=MAX_SIDE).contains(&card.width) || !(1..=MAX_SIDE).contains(&card.height) {
            return Err(format!("width and height are from 1 to {MAX_SIDE}"));
        }
        if card.labels.is_empty() || card.labels.len() > MAX_LABELS {
            return Err(format!("there are 1 to {MAX_LABELS} labels"));
        }
        if card.std.iter().chain(&card.mean).any(|n| !n.is_finite()) || card.std.contains(&0.0) {
            return Err("mean and std are numbers, and std is not 0".to_owned());
        }
        if !card.range.is_finite() || card.range <= 0.0 {
            return Err("range is a number above 0".to_owned());
        }
        let (across, down) = card.stretched();
        if !(card.width..=MAX_SIDE).contains(&across) || !(card.height..=MAX_SIDE).contains(&down) {
            return Err(format!("resize is at least width and height, and at most {MAX_SIDE}"));
        }
        if card.jpeg.is_some_and(|quality| !(1..=100).contains(&quality)) {
            return Err("jpeg is a quality from 1 to 100".to_owned());
        }
        match card.labels.iter().find(|label| !label.is_usable()) {
            Some(label) => {
                Err(format!("'from' of the label '{}' must lie between 0 and 1, and 'hint' below it", label.name))
            }
            None if card.labels.iter().all(|label| label.topic.is_none()) => Err("no label has a topic".to_owned()),
            None => Ok(card),
        }
    }

    /// Returns the width and height to which images are stretched.
    fn stretched(&self) -> (u32, u32) {
        self.resize.map_or((self.width, self.height), |[across, down]| (across, down))
    }

    pub(crate) fn probabilities(&self, outputs: &[f32]) -> Vec<f32> {
        match self.activation {
            Activation::None => outputs.to_vec(),
            Activation::Sigmoid => outputs.iter().map(|x| 1.0 / (1.0 + (-x).exp())).collect(),
            Activation::Softmax => {
                // Subtracting the maximum keeps the exponentials from overflowing.
                let greatest = outputs.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                let powers: Vec<f32> = outputs.iter().map(|x| (x - greatest).exp()).collect();
                let sum: f32 = powers.iter().sum();
                powers.iter().map(|p| p / sum).collect()
            }
        }
    }

    /// Converts an image to the size of the input: stretched, optionally JPEG-coded, and cropped to its centre.
    pub(crate) fn prepared(&self, picture: &RgbImage) -> Result<RgbImage, String> {
        let (across, down) = self.stretched();
        // Horizontally, then vertically, rounded to bytes between: the method of Pillow, which models are trained with.
        let stretched = imageops::resize(picture, across, picture.height(), FilterType::Triangle);
        let mut stretched = imageops::resize(&stretched, across, down, FilterType::Triangle);
        if let Some(quality) = self.jpeg {
            stretched = through_jpeg(&stretched, quality)?;
        }
        let (left, top) = ((across - self.width) / 2, (down - self.height) / 2);
        Ok(imageops::crop_imm(&stretched, left, top, self.width, self.height).to_image())
    }

    /// Returns the model's input for an image of the card's size: the numbers and their shape.
    pub(crate) fn input(&self, pixels: &[u8]) -> (Vec<f32>, [usize; 4]) {
        let (width, height) = (self.width as usize, self.height as usize);
        // Indexes of red, green and blue in the order of the input.
        let order: [usize; 3] = match self.channels {
            Channels::Rgb => [0, 1, 2],
            Channels::Bgr => [2, 1, 0],
        };
        let number = |at: usize, channel: usize| {
            let colour = order[channel];
            let value = pixels.get(at * 3 + colour).map_or(0.0, |value| f32::from(*value) / 255.0 * self.range);
            (value - self.mean[colour]) / self.std[colour]
        };
        let count = width * height;
        match self.layout {
            Layout::Nchw => ((0..3 * count).map(|n| number(n % count, n / count)).collect(), [1, 3, height, width]),
            Layout::Nhwc => ((0..3 * count).map(|n| number(n / 3, n % 3)).collect(), [1, height, width, 3]),
        }
    }
}

/// Encodes an image as JPEG and decodes it again, with chroma halved in both directions like in libjpeg.
fn through_jpeg(picture: &RgbImage, quality: u8) -> Result<RgbImage, String> {
    // Both sides are at most `MAX_SIDE`.
    let (width, height) = (picture.width() as u16, picture.height() as u16);
    let mut jpeg = Vec::new();
    let mut encoder = Encoder::new(&mut jpeg, quality);
    encoder.set_sampling_factor(SamplingFactor::F_2_2);
    encoder.set_chroma_subsampling_method(ChromaSubsamplingMethod::Average);
    encoder.encode(picture.as_raw(), width, height, ColorType::Rgb).map_err(|e| e.to_string())?;
    let read = image::load_from_memory_with_format(&jpeg, ImageFormat::Jpeg).map_err(|e| e.to_string())?;
    Ok(read.into_rgb8())
}
