//! Collects faults by their offset, and tells lines and columns at the end.

use curlew_model::{Fault, FaultCode, Faults};

/// Characters of an excerpt.
const EXCERPT: usize = 60;

/// Faults that are being collected.
pub(super) struct Notes<'a> {
    text: &'a str,
    most: usize,
    count: u32,
    first: Vec<(usize, FaultCode, String, String)>,
}

impl<'a> Notes<'a> {
    /// Of a document, listing no more than `most`.
    pub(super) fn new(text: &'a str, most: usize) -> Notes<'a> {
        Notes { text, most, count: 0, first: Vec::new() }
    }

    /// A fault at an offset. Faults come about in the order of the document, but for what is only known at the end of an
    /// element.
    pub(super) fn add(&mut self, offset: usize, code: FaultCode, at: &str, found: &str) {
        self.count = self.count.saturating_add(1);
        if self.first.len() < self.most {
            self.first.push((offset, code, excerpt(at), excerpt(found)));
        }
    }

    /// The document's bytes before `part`, which is a part of it.
    pub(super) fn offset_of(&self, part: &str) -> usize {
        (part.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize)
    }

    pub(super) fn finish(mut self) -> Faults {
        self.first.sort_by_key(|(offset, ..)| *offset);
        let (mut line, mut line_start, mut at) = (1_u32, 0, 0);
        let text = self.text;
        let mut first = Vec::with_capacity(self.first.len());
        for (offset, code, subject, found) in self.first {
            let offset = text.floor_char_boundary(offset.min(text.len()));
            for (newline, _) in text[at..offset].match_indices('\n') {
                line += 1;
                line_start = at + newline + 1;
            }
            at = offset;
            let column = text[line_start..offset].chars().count() + 1;
            first.push(Fault { line, column: u32::try_from(column).unwrap_or(u32::MAX), code, at: subject, found });
        }
        Faults { count: self.count, first }
    }
}

/// A short piece of a text, on one line.
fn excerpt(text: &str) -> String {
    let mut out: String = text.trim().chars().take(EXCERPT).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.trim().chars().nth(EXCERPT).is_some() {
        out.push('…');
    }
    out
}
