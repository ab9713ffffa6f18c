//! Computes the memory and work of decoding an image before it is decoded, since a decoder may keep far more than the
//! pixels. The file is not parsed as the decoder does, since a crafted file might be parsed in two ways: every place
//! where the decoder might find a frame header is checked, and the largest frame counts.

use image::ImageFormat;

/// Maximum number of scans of a JPEG. Encoders write about ten; each costs time for all samples of the image.
const MAX_SCANS: usize = 32;
/// Length of a side of a JPEG block, in samples.
const BLOCK: u64 = 8;
/// Size of a coefficient in the memory of a JPEG decoder, in bytes.
const COEFFICIENT: u64 = 2;
/// Length of a side of a WebP macroblock, in samples.
const MACROBLOCK: u64 = 16;

#[derive(Clone, Copy, Debug)]
pub(super) struct ImageHeader {
    pub(super) format: ImageFormat,
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) pixels: u64,
}

impl ImageHeader {
    /// Returns the maximum memory that decoding takes in addition to `file`, in bytes, or why it takes too long. A
    /// GIF's decoder enforces a limit, so frames that are smaller than the image are not considered.
    pub(super) fn footprint(&self, file: &[u8]) -> Result<u64, String> {
        let hidden = match self.format {
            ImageFormat::Jpeg => self.jpeg(file)?,
            ImageFormat::WebP => self.webp(file),
            // An index into the palette for each pixel.
            ImageFormat::Gif => u64::from(self.width) * u64::from(self.height),
            // A copy without metadata.
            ImageFormat::Png => file.len() as u64,
            _ => 0,
        };
        Ok(self.pixels.saturating_add(hidden))
    }

    /// The decoder copies the file, and keeps the coefficients of the image if it has several scans, or else of a row.
    fn jpeg(&self, file: &[u8]) -> Result<u64, String> {
        let is_ours = |frame: &JpegFrame| (frame.width.into(), frame.height.into()) == (self.width, self.height);
        let frames = || (2..file.len()).filter_map(|at| JpegFrame::at(file, at)).filter(is_ours);
        let components = frames().map(|frame| frame.components).max().unwrap_or_default();
        let scans = file.windows(5).filter_map(scan_components);
        let (count, least) = scans.fold((0, components), |(count, least), scan| (count + 1, least.min(scan)));
        if count > MAX_SCANS {
            return Err(format!("the image has more than {MAX_SCANS} scans"));
        }
        let is_kept = least < components || frames().any(|frame| frame.is_progressive);
        let samples = frames().map(|frame| if is_kept { frame.samples } else { frame.row_samples }).max();
        // Each row is kept as coefficients, as samples, and as samples at the width of the image.
        let rows = frames().map(|frame| 8 * frame.row_samples).max();
        Ok(file.len() as u64 + COEFFICIENT * samples.unwrap_or_default() + rows.unwrap_or_default())
    }

    fn webp(&self, file: &[u8]) -> u64 {
        let area = u64::from(self.width) * u64::from(self.height);
        let has = |chunk: &[u8; 4]| file.windows(4).any(|at| at == chunk);
        // Three planes, two of them with a quarter of the samples, and data about each macroblock.
        let lossy = 2 * file.windows(18).filter_map(lossy_area).max().unwrap_or_default();
        // Transforms and prefix codes of blocks, and four channels unless the output has four channels.
        let channels = if self.pixels < 4 * area { 4 } else { 0 };
        let lossless = if has(b"VP8L") { (2 + channels) * area } else { 0 };
        // Transparency is decoded as a lossless image, one channel of which is used.
        let transparency = if has(b"ALPH") { 8 * area } else { 0 };
        // The frame, and the canvas that it is drawn on.
        let animation = if has(b"ANMF") { 8 * area } else { 0 };
        file.len() as u64 + lossy + lossless + transparency + animation
    }
}

/// A JPEG's frame header (ITU-T T.81 §B.2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct JpegFrame {
    width: u16,
    height: u16,
    components: u8,
    is_progressive: bool,
    /// Number of samples of all components, in whole blocks.
    samples: u64,
    /// Number of samples in one row of blocks, with every component at full size.
    row_samples: u64,
}

impl JpegFrame {
    /// Parses the header whose marker's second octet is at `at`. Decoders skip a NUL between both octets.
    fn at(file: &[u8], at: usize) -> Option<JpegFrame> {
        let (0xFF | 0, marker @ 0xC0..=0xC2) = (*file.get(at - 1)?, *file.get(at)?) else { return None };
        let [l1, l2, 8, h1, h2, w1, w2, components, rest @ ..] = file.get(at + 1..)? else { return None };
        if u16::from_be_bytes([*l1, *l2]) != 8 + 3 * u16::from(*components) {
            return None;
        }
        let (width, height) = (u16::from_be_bytes([*w1, *w2]), u16::from_be_bytes([*h1, *h2]));
        let (sampling, _) = rest.as_chunks::<3>();
        let sampling =
            sampling.iter().take(usize::from(*components)).map(|[_, factors, _]| (factors >> 4, factors & 15));
        let across = sampling.clone().map(|(across, _)| u64::from(across)).max()?.max(1);
        let down = sampling.clone().map(|(_, down)| u64::from(down)).max()?.max(1);
        let units = u64::from(width).div_ceil(BLOCK * across) * u64::from(height).div_ceil(BLOCK * down);
        let blocks: u64 = sampling.map(|(across, down)| u64::from(across.max(1)) * u64::from(down.max(1))).sum();
        let row = u64::from(width).next_multiple_of(BLOCK * across) * BLOCK * down;
        Some(JpegFrame {
            width,
            height,
            components: *components,
            is_progressive: marker == 0xC2,
            samples: units * blocks * BLOCK * BLOCK,
            row_samples: row * u64::from(*components),
        })
    }
}

/// Returns the number of components of a scan, if its header (ITU-T T.81 §B.2.3) is at the start of `window`.
fn scan_components(window: &[u8]) -> Option<u8> {
    let [0xFF | 0, 0xDA, 0, length, components] = window else { return None };
    (matches!(components, 1..=4) && *length == 6 + 2 * components).then_some(*components)
}

/// Returns the number of samples of a lossy WebP frame in whole macroblocks, if its chunk (RFC 9649 §2.5, RFC 6386
/// §9.1) is at the start of `window`. The frame may exceed the image; the decoder finds out at the end.
fn lossy_area(window: &[u8]) -> Option<u64> {
    let [b'V', b'P', b'8', b' ', _, _, _, _, _, _, _, 0x9D, 0x01, 0x2A, w1, w2, h1, h2] = window else { return None };
    let side = |low, high| u64::from(u16::from_le_bytes([low, high]) & 0x3FFF).next_multiple_of(MACROBLOCK);
    Some(side(*w1, *w2) * side(*h1, *h2))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "a test may fail by panicking")]
    use super::super::{DECODED_BYTES, scaled_down};
    use super::*;
    use image::{DynamicImage, ImageDecoder, ImageReader, Rgb, RgbImage};
    use std::io::Cursor;

    fn sof(marker: u8, width: u16, height: u16, sampling: &[u8]) -> Vec<u8> {
        let [w1, w2] = width.to_be_bytes();
        let [h1, h2] = height.to_be_bytes();
        let count = sampling.len() as u8;
        let mut frame = vec![0xFF, marker, 0, 8 + 3 * count, 8, h1, h2, w1, w2, count];
        frame.extend(sampling.iter().zip(1..).flat_map(|(factors, id)| [id, *factors, 0]));
        frame
    }

    fn sos(components: u8) -> Vec<u8> {
        let mut scan = vec![0xFF, 0xDA, 0, 6 + 2 * components, components];
        scan.extend((1..=components).flat_map(|id| [id, 0]));
        scan.extend([0, 63, 0]);
        scan
    }

    fn jpeg(width: u32, height: u32, parts: &[Vec<u8>]) -> Result<u64, String> {
        let file = [&[0xFF, 0xD8][..], &parts.concat()].concat();
        ImageHeader { format: ImageFormat::Jpeg, width, height, pixels: u64::from(width * height) * 3 }.footprint(&file)
    }

    #[test]
    fn b13_a_jpeg_in_several_scans_keeps_two_bytes_a_sample() {
        let mega = 1_000_000;
        let of = |parts: &[Vec<u8>]| jpeg(10_000, 4_400, parts).map(|bytes| bytes / mega);
        // 44 megapixels of three bytes, and some rows.
        assert_eq!(of(&[sof(0xC0, 10_000, 4_400, &[0x11; 3]), sos(3)]), Ok(134));
        assert_eq!(of(&[sof(0xC2, 10_000, 4_400, &[0x11; 3]), sos(3)]), Ok(132 + 264 + 1));
        assert_eq!(of(&[sof(0xC0, 10_000, 4_400, &[0x11; 3]), sos(1)]), Ok(132 + 264 + 1), "one component a scan");
        assert_eq!(of(&[sof(0xC2, 10_000, 4_400, &[0x22, 0x11, 0x11]), sos(3)]), Ok(132 + 132 + 3), "a half of it");
        // A frame of another size, such as that of an embedded preview, is not this image's.
        let preview = sof(0xC2, 160, 120, &[0x11; 3]);
        assert_eq!(of(&[preview, sof(0xC0, 10_000, 4_400, &[0x11; 3]), sos(3)]), Ok(134));
        // The frame is found whatever precedes it.
        let hidden = [vec![0xFF, 0x05, 0xFF, 0xFF, 0xFF, 0xFF, 0], sof(0xC2, 10_000, 4_400, &[0x11; 3])[1..].to_vec()];
        assert_eq!(of(&[hidden.concat(), sos(3)]), Ok(132 + 264 + 1));
    }

    #[test]
    fn b13_a_jpeg_of_many_scans_is_refused_before_the_first() {
        let frame = sof(0xC2, 640, 480, &[0x11; 3]);
        assert!(jpeg(640, 480, &[frame.clone(), sos(1).repeat(MAX_SCANS)]).is_ok());
        assert!(jpeg(640, 480, &[frame, sos(1).repeat(MAX_SCANS + 1)]).is_err());
    }

    #[test]
    fn b13_a_webp_is_as_large_as_its_largest_frame() {
        let lossy = |w: u16, h: u16| {
            let ([w1, w2], [h1, h2]) = (w.to_le_bytes(), h.to_le_bytes());
            vec![b'V', b'P', b'8', b' ', 9, 9, 9, 9, 0, 0, 0, 0x9D, 1, 0x2A, w1, w2, h1, h2]
        };
        let of =
            |file: &[u8]| ImageHeader { format: ImageFormat::WebP, width: 64, height: 64, pixels: 0 }.footprint(file);
        let small = of(&[b"RIFF....WEBPVP8X".to_vec(), lossy(64, 64)].concat());
        assert!(small.is_ok_and(|bytes| bytes < 10_000));
        let large = of(&[b"RIFF....WEBPVP8X".to_vec(), lossy(16_383, 16_383)].concat());
        assert!(large.is_ok_and(|bytes| bytes > 500_000_000));
        let animated = of(b"RIFF....WEBPVP8X....ANMF....ALPH....VP8L");
        assert!(animated.is_ok_and(|bytes| bytes >= 22 * 64 * 64));
    }

    /// Returns a JPEG with another frame marker and other sampling factors.
    fn with_frame(jpeg: &[u8], marker: u8, sampling: [u8; 3]) -> Vec<u8> {
        let mut jpeg = jpeg.to_vec();
        let at = jpeg.windows(2).position(|pair| pair == [0xFF, 0xC0]).unwrap_or_default();
        jpeg[at + 1] = marker;
        for (component, factors) in sampling.into_iter().enumerate() {
            jpeg[at + 11 + 3 * component] = factors;
        }
        jpeg
    }

    /// Compares the estimates with the memory that decoders allocate, whether or not decoding succeeds.
    #[test]
    fn b13_decoding_takes_no_more_memory_than_its_header_tells() {
        let (width, height) = (1_501, 1_003);
        let picture =
            DynamicImage::from(RgbImage::from_fn(width, height, |x, y| Rgb([x as u8, y as u8, (x * y) as u8])));
        let written = |picture: &DynamicImage, format| {
            let mut file = Cursor::new(Vec::new());
            picture.write_to(&mut file, format).map(|()| file.into_inner()).unwrap_or_default()
        };
        let jpeg = written(&picture, ImageFormat::Jpeg);
        let one_scan_of_three = {
            let mut jpeg = jpeg.clone();
            let at = jpeg.windows(5).position(|window| scan_components(window).is_some()).unwrap_or_default();
            jpeg.splice(at + 2..at + 14, [0, 8, 1, 1, 0, 0, 63, 0]);
            jpeg
        };
        let files = [
            ("progressive", with_frame(&jpeg, 0xC2, [0x11; 3])),
            ("progressive, halved", with_frame(&jpeg, 0xC2, [0x22, 0x11, 0x11])),
            ("progressive, odd", with_frame(&jpeg, 0xC2, [0x41, 0x12, 0x11])),
            ("baseline, halved", with_frame(&jpeg, 0xC0, [0x22, 0x11, 0x11])),
            ("baseline, in scans", one_scan_of_three),
            ("baseline", jpeg),
            ("png", written(&picture, ImageFormat::Png)),
            ("png of 16 bits", written(&DynamicImage::from(picture.to_rgba16()), ImageFormat::Png)),
            ("gif", written(&DynamicImage::from(picture.to_rgba8()), ImageFormat::Gif)),
            ("webp", written(&picture, ImageFormat::WebP)),
            ("webp with transparency", written(&DynamicImage::from(picture.to_rgba8()), ImageFormat::WebP)),
        ];
        for (name, file) in files {
            let reader = ImageReader::new(Cursor::new(&file)).with_guessed_format();
            let (format, decoder) = reader.ok().and_then(|r| Some((r.format()?, r.into_decoder().ok()?))).expect(name);
            let announced = ImageHeader { format, width, height, pixels: decoder.total_bytes() };
            let claimed = announced.footprint(&file).unwrap_or_default();
            drop(decoder);
            let (_, taken) = counting::peak(|| image::load_from_memory(&file).map(drop));
            assert!(taken <= claimed + SLACK, "{name}: {taken} bytes taken, {claimed} claimed");
            assert!(
                2 * taken >= claimed,
                "{name}: {taken} bytes taken, {claimed} claimed: twice as much is refused in vain"
            );
        }
    }

    /// Returns a chunk of a PNG (ISO/IEC 15948 §5.3).
    fn chunk(kind: &[u8; 4], data: &[u8]) -> Vec<u8> {
        let checked = [&kind[..], data].concat();
        let crc = checked.iter().fold(u32::MAX, |crc, byte| {
            (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ (0xEDB8_8320 * (crc & 1)))
        });
        [&(data.len() as u32).to_be_bytes()[..], &checked, &(!crc).to_be_bytes()].concat()
    }

    #[test]
    fn b13_texts_in_a_png_take_no_memory_and_change_nothing() {
        let picture = DynamicImage::from(RgbImage::from_fn(64, 64, |x, y| Rgb([x as u8, y as u8, 7])));
        let mut plain = Cursor::new(Vec::new());
        picture.write_to(&mut plain, ImageFormat::Png).expect("a picture is written");
        let plain = plain.into_inner();
        // The signature and the header are 33 bytes.
        let (head, rest) = plain.split_at(33);
        let texts = chunk(b"tEXt", b"k\0v").repeat(50_000);
        let damaged = [&u32::MAX.to_be_bytes()[..], b"tEXtk\0v"].concat();
        let thumbnail = scaled_down(&plain, DECODED_BYTES).expect("a thumbnail");
        for file in [[head, &texts, rest].concat(), [&plain, &texts[..]].concat(), [&plain, &damaged[..]].concat()] {
            let (scaled, taken) = counting::peak(|| scaled_down(&file, DECODED_BYTES));
            assert_eq!(scaled.as_ref(), Ok(&thumbnail));
            assert!(taken <= file.len() as u64 + SLACK, "{taken} bytes taken of a file of {}", file.len());
        }
    }

    /// Memory for tables and windows of decoders, which does not grow with the image.
    const SLACK: u64 = 512 * 1024;

    /// An allocator that counts the memory of the current thread.
    #[allow(unsafe_code, reason = "an allocator is unsafe to write; this one adds and hands on")]
    mod counting {
        use std::alloc::{GlobalAlloc, Layout, System};
        use std::cell::Cell;

        thread_local! {
            static NOW: Cell<i64> = const { Cell::new(0) };
            static PEAK: Cell<i64> = const { Cell::new(0) };
        }

        struct Counting;

        #[global_allocator]
        static COUNTING: Counting = Counting;

        fn add(bytes: i64) {
            // A thread that is ending has no thread-local cells.
            let now = NOW.try_with(|now| now.replace(now.get() + bytes) + bytes).unwrap_or_default();
            let _ = PEAK.try_with(|peak| peak.set(peak.get().max(now)));
        }

        unsafe impl GlobalAlloc for Counting {
            unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
                add(layout.size() as i64);
                unsafe { System.alloc(layout) }
            }

            unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
                add(layout.size() as i64);
                unsafe { System.alloc_zeroed(layout) }
            }

            unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
                add(-(layout.size() as i64));
                unsafe { System.dealloc(at, layout) }
            }
        }

        /// Returns the result of `work` and its peak memory in bytes.
        pub(super) fn peak<T>(work: impl FnOnce() -> T) -> (T, u64) {
            let before = NOW.get();
            PEAK.set(before);
            let done = work();
            (done, (PEAK.get() - before).unsigned_abs())
        }
    }
}
