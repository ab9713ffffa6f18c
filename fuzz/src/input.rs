//! Transformations of inputs that the targets share.

/// Maximum length of an unfolded input, in bytes.
const MAX_UNFOLDED: usize = 96 * 1024;
/// The byte that stands for a repetition. It occurs in no UTF-8 text.
const REPEAT: u8 = 0xFF;

/// Returns the first line and the rest.
pub(crate) fn first_line(data: &[u8]) -> (&[u8], &[u8]) {
    let end = data.iter().position(|byte| *byte == b'\n').unwrap_or(data.len());
    (&data[..end], data.get(end + 1..).unwrap_or_default())
}

/// Returns an input with its repetitions written out: `0xFF n a b` stands for the last n bytes, repeated a × b times (a
/// times if b is 0). So a few bytes can describe a long document that is made to be slow.
pub(crate) fn unfolded(data: &[u8]) -> Vec<u8> {
    let mut out: Vec<u8> = Vec::with_capacity(data.len());
    let mut rest = data.iter();
    while let Some(&byte) = rest.next() {
        if byte != REPEAT {
            out.push(byte);
            continue;
        }
        let mut operand = || usize::from(rest.next().copied().unwrap_or_default());
        let (length, times) = (operand(), operand() * operand().max(1));
        let unit = out[out.len().saturating_sub(length)..].to_vec();
        let times = times.min(MAX_UNFOLDED.saturating_sub(out.len()) / unit.len().max(1));
        out.extend(unit.repeat(times));
    }
    out
}

/// Returns `bytes` with the changes that an input describes. A change takes four bytes: the position (24 bits,
/// little-endian, modulo the length) and the new value. The bytes after the last change are the number of bytes to cut
/// off the end.
pub(crate) fn edited(bytes: &[u8], edits: &[u8]) -> Vec<u8> {
    let mut out = bytes.to_vec();
    let (edits, rest) = edits.as_chunks::<4>();
    for [low, middle, high, value] in edits {
        let place = u32::from_le_bytes([*low, *middle, *high, 0]) as usize % out.len().max(1);
        if let Some(byte) = out.get_mut(place) {
            *byte = *value;
        }
    }
    let cut = rest.iter().fold(0, |cut, byte| cut << 8 | usize::from(*byte));
    out.truncate(out.len() - cut.min(out.len()));
    out
}

/// Checks that the number of steps is at most `base`, and `a_byte` more for each byte of the input.
pub(crate) fn within(steps: u64, base: u64, a_byte: u64, bytes: usize) {
    let most = base + a_byte * bytes as u64;
    assert!(steps <= most, "{steps} steps for {bytes} bytes, where {most} are the most");
}
