//! Collects faults by offset, and computes their lines and columns at the end.

use curlew_model::{Fault, FaultCode, Faults};
use curlew_text::hygiene::storable;
use std::fmt::{self, Display, Write as _};

const EXCERPT: usize = 60;
const MOST_COUNTED: u32 = 100_000;

pub(super) struct Notes<'a> {
    text: &'a str,
    most: usize,
    count: u32,
    first: Vec<(usize, FaultCode, String, String)>,
}

impl<'a> Notes<'a> {
    pub(super) fn new(text: &'a str, most: usize) -> Notes<'a> {
        Notes { text, most, count: 0, first: Vec::new() }
    }

    /// Adds a fault at an offset. Only listed faults are formatted, because a name may be as long as the document.
    pub(super) fn add(&mut self, offset: usize, code: FaultCode, at: impl Display, found: impl Display) {
        self.count = (self.count + 1).min(MOST_COUNTED);
        if self.first.len() < self.most {
            self.first.push((offset, code, excerpt(at), excerpt(found)));
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.count == MOST_COUNTED
    }

    /// Returns the byte offset of `part`, a slice of the document.
    pub(super) fn offset_of(&self, part: &str) -> usize {
        (part.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize)
    }

    pub(super) fn finish(mut self) -> Faults {
        self.first.sort_by_key(|(offset, ..)| *offset);
        let (mut line, mut column, mut at) = (1_u32, 1, 0);
        let text = self.text;
        let mut first = Vec::with_capacity(self.first.len());
        for (offset, code, subject, found) in self.first {
            let offset = text.floor_char_boundary(offset.min(text.len()));
            let between = &text[at..offset];
            let last_line = match between.rsplit_once('\n') {
                Some((lines, last)) => {
                    line = line
                        .saturating_add(u32::try_from(lines.matches('\n').count()).unwrap_or(u32::MAX))
                        .saturating_add(1);
                    column = 1;
                    last
                }
                None => between,
            };
            column += last_line.chars().count();
            at = offset;
            first.push(Fault { line, column: u32::try_from(column).unwrap_or(u32::MAX), code, at: subject, found });
        }
        Faults { count: self.count, first }
    }
}

fn excerpt(text: impl Display) -> String {
    let mut clip = Clip::default();
    // An error only means that the excerpt is full.
    let _ = write!(clip, "{text}");
    let end = if clip.cut { "…" } else { "" };
    format!("{}{end}", clip.out.trim_end())
}

#[derive(Default)]
struct Clip {
    out: String,
    chars: usize,
    cut: bool,
}

impl fmt::Write for Clip {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let text = if self.chars == 0 { text.trim_start() } else { text };
        for c in text.chars() {
            if !c.is_control() && storable(c).is_none() {
                continue;
            }
            if self.chars < EXCERPT {
                self.out.push(if c.is_control() { ' ' } else { c });
                self.chars += 1;
            } else if !c.is_whitespace() {
                self.cut = true;
                return Err(fmt::Error);
            }
        }
        Ok(())
    }
}
