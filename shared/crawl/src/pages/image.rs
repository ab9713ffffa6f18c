//! Makes thumbnails: images are decoded under strict limits, scaled down, and written as JPEG.

mod footprint;

pub use crate::politeness::access::DECODED_BYTES;

use crate::parsing::{parsed, within};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use curlew_ports::stage::Result;
use curlew_ports::{CpuPool, CpuTask};
use footprint::ImageHeader;
use image::{DynamicImage, ImageDecoder, ImageReader, Limits, RgbImage};
use jpeg_encoder::{ColorType, Encoder};
use std::borrow::Cow;
use std::io::Cursor;

const THUMBNAIL: (u32, u32) = (320, 214);
const MAX_SIDE: u32 = 10_000;
const MAX_THUMBNAIL: u64 = 1024 * 1024;
/// Memory in bytes above which images are decoded one at a time: two would not fit into a small function.
const LARGE: u64 = 16 * 1024 * 1024;
/// Minimum side in pixels; smaller images are icons or tracking pixels and give no thumbnail.
const MIN_SIDE: u32 = 48;
/// Width and maximum height, in pixels, of the tiny image that is stored with a rejection.
const BLURRED_SIDE: u32 = 16;
const QUALITY: u8 = 78;
/// First bytes of a PNG (ISO/IEC 15948 §5.2).
const PNG_SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";
/// PNG chunks from which the pixels are decoded.
const PNG_PIXELS: [&[u8]; 5] = [b"IHDR", b"PLTE", b"tRNS", b"IDAT", b"IEND"];

/// Makes a thumbnail in the CPU pool within `memory` bytes, large images one by one; or returns why there is none.
pub(crate) async fn scaled_down_in(pool: &dyn CpuPool, image: Bytes, memory: u64) -> Result<Result<Bytes, String>> {
    let small = image.clone();
    let scale_small = move || match opened_for(&small, memory) {
        Ok((_, footprint)) if footprint > LARGE => None,
        opened => Some(opened.and_then(|(decoder, _)| scaled(decoder))),
    };
    let scaled = match parsed(pool, image.len(), scale_small).await? {
        Ok(Some(scaled)) => Ok(scaled),
        Ok(None) => within(pool, CpuTask::LargeDocument, move || scaled_down(&image, memory)).await?,
        Err(overrun) => Err(overrun),
    };
    Ok(scaled.unwrap_or_else(|overrun| Err(overrun.to_string())))
}

/// Makes a thumbnail within `memory` bytes; or returns in one line why the image gives none.
pub fn scaled_down(bytes: &[u8], memory: u64) -> Result<Bytes, String> {
    opened_for(bytes, memory).and_then(|(decoder, _)| scaled(decoder))
}

fn scaled(decoder: impl ImageDecoder) -> Result<Bytes, String> {
    let picture = DynamicImage::from_decoder(decoder).map_err(|e| e.to_string())?;
    // `thumbnail` would enlarge a smaller image, and takes ten times as many steps as `averaged` for most photographs.
    let small = match picture {
        DynamicImage::ImageRgb8(pixels) => averaged(&pixels),
        other => on_white(other.thumbnail(THUMBNAIL.0.min(other.width()), THUMBNAIL.1.min(other.height()))),
    };
    let mut jpeg = Vec::new();
    // The sides of a thumbnail fit into 16 bits.
    let (width, height) = (small.width() as u16, small.height() as u16);
    Encoder::new(&mut jpeg, QUALITY)
        .encode(small.as_raw(), width, height, ColorType::Rgb)
        .map_err(|e| e.to_string())?;
    Ok(jpeg.into())
}

/// Draws a transparent image on white, since the colours of transparent pixels are arbitrary.
fn on_white(picture: DynamicImage) -> RgbImage {
    if !picture.color().has_alpha() {
        return picture.into_rgb8();
    }
    let picture = picture.into_rgba8();
    RgbImage::from_fn(picture.width(), picture.height(), |x, y| {
        let [red, green, blue, opacity] = picture.get_pixel(x, y).0;
        let blended = |colour: u8| {
            let sum = u16::from(colour) * u16::from(opacity) + 255 * u16::from(255 - opacity);
            ((sum + 127) / 255) as u8
        };
        image::Rgb([red, green, blue].map(blended))
    })
}

fn averaged(pixels: &RgbImage) -> RgbImage {
    let (width, height) = pixels.dimensions();
    let (across, down) = (f64::from(width) / f64::from(THUMBNAIL.0), f64::from(height) / f64::from(THUMBNAIL.1));
    let ratio = across.max(down).max(1.0);
    let scaled = |side: u32| ((f64::from(side) / ratio).round() as u32).clamp(1, side.max(1));
    let (columns, rows) = (scaled(width), scaled(height));
    // Number of source pixels along a side for each target pixel.
    let parts = |places: u32, side: u32| -> Vec<u32> {
        let edge = |at: u32| (u64::from(at) * u64::from(side)).div_ceil(u64::from(places)) as u32;
        (0..places).map(|at| edge(at + 1) - edge(at)).collect()
    };
    let widths = parts(columns, width);
    let mut out = vec![0; columns as usize * rows as usize * 3];
    let mut places = out.as_chunks_mut::<3>().0.iter_mut();
    let mut sums = vec![[0_u32; 3]; columns as usize];
    let mut lines = pixels.as_raw().chunks_exact(width as usize * 3);
    for high in parts(rows, height) {
        sums.fill([0; 3]);
        for line in lines.by_ref().take(high as usize) {
            let mut line = line.as_chunks::<3>().0.iter();
            for (sum, wide) in sums.iter_mut().zip(&widths) {
                let [mut red, mut green, mut blue] = *sum;
                let mut left = *wide;
                // This crate is compiled for size, so that a range would cost a call per pixel.
                while left > 0
                    && let Some(pixel) = line.next()
                {
                    red += u32::from(pixel[0]);
                    green += u32::from(pixel[1]);
                    blue += u32::from(pixel[2]);
                    left -= 1;
                }
                *sum = [red, green, blue];
            }
        }
        for ((sum, wide), place) in sums.iter().zip(&widths).zip(places.by_ref()) {
            let many = wide * high;
            let mean = |sum: u32| (sum + many / 2).checked_div(many).unwrap_or_default() as u8;
            let [red, green, blue] = *sum;
            *place = [mean(red), mean(green), mean(blue)];
        }
    }
    RgbImage::from_raw(columns, rows, out).unwrap_or_default()
}

/// Reads an image's header and checks the limits; returns the decoder and the memory that decoding takes, in bytes.
fn opened_for(bytes: &[u8], memory: u64) -> Result<(impl ImageDecoder, u64), String> {
    let file = Cursor::new(without_metadata(bytes));
    let mut reader = ImageReader::new(file).with_guessed_format().map_err(|e| e.to_string())?;
    reader.limits(limits(MAX_SIDE, memory));
    let format = reader.format().ok_or("the format of the image is not known")?;
    let mut decoder = reader.into_decoder().map_err(|e| e.to_string())?;
    let (width, height) = decoder.dimensions();
    if width.min(height) < MIN_SIDE {
        return Err(format!("the image is only {width}x{height} pixels"));
    }
    let announced = ImageHeader { format, width, height, pixels: decoder.total_bytes() };
    let footprint = announced.footprint(bytes)?;
    let Some(left) = memory.checked_sub(footprint) else {
        return Err(format!("the image takes {footprint} bytes while it is decoded"));
    };
    // A GIF's decoder applies this limit to its frame, which takes a fourth more for its indices.
    decoder.set_limits(limits(MAX_SIDE, left / 5 * 4)).map_err(|e| e.to_string())?;
    Ok((decoder, footprint))
}

/// Returns a PNG without texts and colour profiles, which a decoder keeps in memory whatever their decompressed length.
fn without_metadata(file: &[u8]) -> Cow<'_, [u8]> {
    let Some(mut rest) = file.strip_prefix(PNG_SIGNATURE) else { return Cow::Borrowed(file) };
    let mut kept = PNG_SIGNATURE.to_vec();
    while let Some((length, _)) = rest.split_first_chunk() {
        // The length does not include itself, the chunk type and the checksum.
        let end = (u32::from_be_bytes(*length) as usize).saturating_add(12).min(rest.len());
        let (chunk, after) = rest.split_at(end);
        if chunk.get(4..8).is_some_and(|kind| PNG_PIXELS.contains(&kind)) {
            kept.extend_from_slice(chunk);
        }
        rest = after;
    }
    Cow::Owned(kept)
}

fn limits(side: u32, bytes: u64) -> Limits {
    let mut limits = Limits::default();
    limits.max_image_width = Some(side);
    limits.max_image_height = Some(side);
    limits.max_alloc = Some(bytes);
    limits
}

/// Returns the pixels of a thumbnail; `None` if it is not a JPEG of a thumbnail's size.
pub fn opened(jpeg: &[u8]) -> Option<RgbImage> {
    let mut reader = ImageReader::with_format(Cursor::new(jpeg), image::ImageFormat::Jpeg);
    reader.limits(limits(THUMBNAIL.0, MAX_THUMBNAIL));
    Some(reader.decode().ok()?.into_rgb8())
}

/// Returns a thumbnail as a tiny bitmap (`BITMAPINFOHEADER`, 24 bits a pixel) in base64: colours and large shapes.
pub(crate) fn blurred(jpeg: &[u8]) -> Option<String> {
    const HEADERS: u32 = 14 + 40;
    let picture = DynamicImage::ImageRgb8(opened(jpeg)?);
    let height = (BLURRED_SIDE * picture.height() / picture.width().max(1)).clamp(1, BLURRED_SIDE);
    let pixels = picture.thumbnail_exact(BLURRED_SIDE, height).into_rgb8();
    let bytes = pixels.len() as u32;
    let mut file = b"BM".to_vec();
    let (size, planes_and_bits) = (40, 1 | 24 << 16);
    for number in [HEADERS + bytes, 0, HEADERS, size, BLURRED_SIDE, height, planes_and_bits, 0, bytes, 0, 0, 0, 0] {
        file.extend_from_slice(&number.to_le_bytes());
    }
    // Rows go from the bottom up, blue first. A row of 16 pixels has a multiple of four bytes, as required.
    for row in pixels.rows().rev() {
        file.extend(row.flat_map(|image::Rgb([red, green, blue])| [*blue, *green, *red]));
    }
    Some(STANDARD.encode(file))
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
        for ((width, height), scaled) in [((640, 360), (320, 180)), ((60, 50), (60, 50)), ((640, 50), (320, 25))] {
            let jpeg = scaled_down(&png(width, height), DECODED_BYTES).unwrap_or_default();
            let read = image::load_from_memory(&jpeg).unwrap_or_default();
            assert_eq!((read.width(), read.height()), scaled);
        }
    }

    #[test]
    fn a_thumbnail_becomes_a_few_blurred_pixels() {
        for ((width, height), rows) in [((640, 360), 9), ((48, 640), 16), ((640, 50), 1)] {
            let jpeg = scaled_down(&png(width, height), DECODED_BYTES).unwrap_or_default();
            let file = blurred(&jpeg).and_then(|text| STANDARD.decode(text).ok()).unwrap_or_default();
            assert_eq!(file.len(), 54 + rows * 48, "{width}x{height}");
            assert!(file.starts_with(b"BM") && file[18..26] == [16, 0, 0, 0, rows as u8, 0, 0, 0], "{file:?}");
        }
        assert_eq!(blurred(b"no picture"), None);
    }

    #[test]
    fn what_is_transparent_is_white() {
        let drawn = image::RgbaImage::from_fn(64, 64, |x, _| match x {
            0..32 => image::Rgba([200, 0, 0, 0]),
            _ => image::Rgba([0, 0, 0, 128]),
        });
        let white = on_white(DynamicImage::ImageRgba8(drawn));
        assert_eq!((white.get_pixel(0, 0).0, white.get_pixel(63, 0).0), ([255; 3], [127; 3]));
        let opaque = DynamicImage::ImageLuma8(image::GrayImage::from_pixel(64, 64, image::Luma([9])));
        assert_eq!(on_white(opaque).get_pixel(0, 0).0, [9; 3]);
    }

    /// 16 bits per channel, CMYK, and several frames in one file, of which the first one is used.
    #[test]
    fn unusual_pictures_are_read_in_their_colours() {
        let (width, height) = (96, 64);
        let mut deep = Cursor::new(Vec::new());
        let drawn = image::ImageBuffer::from_pixel(width, height, image::Rgb([60_000u16, 30_000, 10_000]));
        assert!(DynamicImage::ImageRgb16(drawn).write_to(&mut deep, image::ImageFormat::Png).is_ok());

        let mut inks = Vec::new();
        let drawn = [0, 128, 255, 0].repeat((width * height) as usize);
        let encoder = jpeg_encoder::Encoder::new(&mut inks, 95);
        assert!(encoder.encode(&drawn, width as u16, height as u16, jpeg_encoder::ColorType::Cmyk).is_ok());

        let mut moving = Vec::new();
        let frame =
            |grey| image::Frame::new(image::RgbaImage::from_pixel(width, height, image::Rgba([grey, grey, grey, 255])));
        let mut encoder = image::codecs::gif::GifEncoder::new(&mut moving);
        assert!(encoder.encode_frames([200, 10, 10].map(frame)).is_ok());
        drop(encoder);

        for (name, file, colour) in [
            ("16 bits", deep.into_inner(), [234, 117, 39]),
            ("inks", inks, [255, 127, 0]),
            ("moving", moving, [200; 3]),
        ] {
            let small = scaled_down(&file, DECODED_BYTES).ok().and_then(|jpeg| opened(&jpeg)).unwrap_or_default();
            assert_eq!((small.width(), small.height()), (width, height), "{name}");
            let middle = small.get_pixel(width / 2, height / 2).0;
            let is_near = middle.iter().zip(colour).all(|(one, other)| one.abs_diff(other) < 6);
            assert!(is_near, "{name}: {middle:?}, not {colour:?}");
        }
    }

    /// The averages equal those of the library's `thumbnail`, except for pixels on an edge that a rounding error moves.
    #[test]
    fn averages_are_those_of_the_library() {
        for (width, height) in [(640, 360), (320, 214), (60, 50), (1_000, 333), (901, 1_207), (10_000, 48), (48, 900)] {
            let drawn = RgbImage::from_fn(width, height, |x, y| {
                image::Rgb([(x % 251) as u8, (y % 241) as u8, ((x * y / 7) % 256) as u8])
            });
            let small = averaged(&drawn);
            let theirs = DynamicImage::ImageRgb8(drawn).thumbnail(THUMBNAIL.0.min(width), THUMBNAIL.1.min(height));
            assert_eq!((small.width(), small.height()), (theirs.width(), theirs.height()), "{width}x{height}");
            let theirs = theirs.into_rgb8();
            let differ = small.pixels().zip(theirs.pixels()).filter(|(one, other)| one != other).count();
            assert!(differ * 50 <= small.pixels().len(), "{width}x{height}: {differ} pixels differ");
        }
    }

    #[test]
    fn b13_what_is_too_large_too_small_or_no_image_gives_none() {
        // The header alone says 50 000 x 50 000; nothing of that size is allocated.
        let mut huge = png(64, 64);
        huge[16..20].copy_from_slice(&50_000u32.to_be_bytes());
        huge[20..24].copy_from_slice(&50_000u32.to_be_bytes());
        assert!(scaled_down(&huge, DECODED_BYTES).is_err());
        assert!(scaled_down(&png(1, 1), DECODED_BYTES).is_err());
        assert!(scaled_down(&png(10_000, 47), DECODED_BYTES).is_err());
        assert!(scaled_down(b"<svg xmlns='http://www.w3.org/2000/svg'/>", DECODED_BYTES).is_err());
        assert!(scaled_down(b"", DECODED_BYTES).is_err());
    }
}
