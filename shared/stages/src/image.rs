//! Thumbnails: decoded under strict limits, scaled down, kept as JPEG under the hash of the image's URL.

use crate::StageError;
use bytes::Bytes;
use curlew_model::ImageId;
use curlew_ports::Blobs;
use image::codecs::jpeg::JpegEncoder;
use image::{DynamicImage, ImageReader, Limits};
use std::io::Cursor;

/// Where thumbnails are kept.
pub const THUMBNAIL_PREFIX: &str = "thumbnails/";
/// Width and height that a thumbnail fits into, in pixels.
const THUMBNAIL: (u32, u32) = (320, 214);
/// Widest and highest image that is decoded, in pixels.
const MAX_SIDE: u32 = 10_000;
/// Most memory that decoding may take.
const MAX_DECODED: u64 = 128 * 1024 * 1024;
/// Images with a shorter side are icons or pixels and give no thumbnail.
const MIN_SIDE: u32 = 48;
/// Quality of the JPEG, of 100.
const QUALITY: u8 = 78;

/// The key of a thumbnail.
pub fn thumbnail_key(image: &ImageId) -> String {
    format!("{THUMBNAIL_PREFIX}{}/{image}.jpg", &image.as_str()[..2])
}

/// Says for good that there is no thumbnail of an image, so that it is not asked for with each page that shows it.
fn unfit_key(image: &ImageId) -> String {
    format!("{THUMBNAIL_PREFIX}{}/{image}.none", &image.as_str()[..2])
}

/// Whether an image was asked for before, with or without success.
pub(crate) async fn was_tried(blobs: &dyn Blobs, image: &ImageId) -> Result<bool, StageError> {
    let either = format!("{THUMBNAIL_PREFIX}{}/{image}.", &image.as_str()[..2]);
    Ok(!blobs.list(&either, None, 1).await?.is_empty())
}

/// Notes that an image gives no thumbnail.
pub(crate) async fn note_unfit(blobs: &dyn Blobs, image: &ImageId) -> Result<(), StageError> {
    Ok(blobs.put(&unfit_key(image), Bytes::new()).await?)
}

/// Makes and keeps a thumbnail; says why there is none if the image is not fit for one.
pub(crate) async fn keep_thumbnail(
    blobs: &dyn Blobs,
    image: &ImageId,
    bytes: &[u8],
) -> Result<Result<(), String>, StageError> {
    match thumbnail(bytes) {
        Ok(jpeg) => {
            blobs.put(&thumbnail_key(image), jpeg).await?;
            Ok(Ok(()))
        }
        Err(why) => {
            note_unfit(blobs, image).await?;
            Ok(Err(why))
        }
    }
}

fn thumbnail(bytes: &[u8]) -> Result<Bytes, String> {
    let mut limits = Limits::default();
    limits.max_image_width = Some(MAX_SIDE);
    limits.max_image_height = Some(MAX_SIDE);
    limits.max_alloc = Some(MAX_DECODED);
    let mut reader = ImageReader::new(Cursor::new(bytes)).with_guessed_format().map_err(|e| e.to_string())?;
    reader.limits(limits);
    let picture = reader.decode().map_err(|e| e.to_string())?;
    if picture.width().min(picture.height()) < MIN_SIDE {
        return Err(format!("the image is only {}x{} pixels", picture.width(), picture.height()));
    }
    let small = picture.thumbnail(THUMBNAIL.0, THUMBNAIL.1);
    let mut jpeg = Vec::new();
    JpegEncoder::new_with_quality(&mut jpeg, QUALITY)
        .encode_image(&DynamicImage::ImageRgb8(small.to_rgb8()))
        .map_err(|e| e.to_string())?;
    Ok(jpeg.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn png(width: u32, height: u32) -> Vec<u8> {
        let mut out = Cursor::new(Vec::new());
        let written = DynamicImage::new_rgb8(width, height).write_to(&mut out, image::ImageFormat::Png);
        assert!(written.is_ok());
        out.into_inner()
    }

    #[test]
    fn a_picture_becomes_a_small_jpeg() {
        let jpeg = thumbnail(&png(640, 360)).unwrap_or_default();
        let read = image::load_from_memory(&jpeg).unwrap_or_default();
        assert_eq!((read.width(), read.height()), (320, 180));
    }

    #[test]
    fn b13_what_is_too_large_too_small_or_no_image_gives_none() {
        // The header alone says 50 000 x 50 000; nothing of that size is allocated.
        let mut huge = png(64, 64);
        huge[16..20].copy_from_slice(&50_000u32.to_be_bytes());
        huge[20..24].copy_from_slice(&50_000u32.to_be_bytes());
        assert!(thumbnail(&huge).is_err());
        assert!(thumbnail(&png(1, 1)).is_err());
        assert!(thumbnail(b"<svg xmlns='http://www.w3.org/2000/svg'/>").is_err());
        assert!(thumbnail(b"").is_err());
    }
}
