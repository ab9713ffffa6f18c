//! Prepares an image as a card asks for it: stretched, written as a JPEG and read again, and cut to its centre.

use crate::card::Card;
use image::imageops::{self, FilterType};
use image::{ImageFormat, RgbImage};
use jpeg_encoder::{ChromaSubsamplingMethod, ColorType, Encoder, SamplingFactor};

/// Returns the image in the size of the model's input.
pub(crate) fn prepared(card: &Card, picture: &RgbImage) -> Result<RgbImage, String> {
    let (across, down) = card.stretched();
    // First across and then down, with whole numbers between, as Pillow does it, with which models are trained.
    let stretched = imageops::resize(picture, across, picture.height(), FilterType::Triangle);
    let stretched = imageops::resize(&stretched, across, down, FilterType::Triangle);
    let stretched = match card.jpeg {
        Some(quality) => through_jpeg(&stretched, quality)?,
        None => stretched,
    };
    if (across, down) == (card.width, card.height) {
        return Ok(stretched);
    }
    let (left, top) = ((across - card.width) / 2, (down - card.height) / 2);
    Ok(imageops::crop_imm(&stretched, left, top, card.width, card.height).to_image())
}

/// Writes an image as a JPEG and reads it again: with half as many colours across and down, as libjpeg does it.
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
