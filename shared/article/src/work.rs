//! Counts work: tests and fuzz targets check, independently of the machine, that it grows at most linearly with the
//! length of a page.

/// Steps that reading a page takes. Each part counts its repeated operations, in its own unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Building the tree: open elements asked for, elements, attributes and nodes made or moved.
    pub tree: u64,
    /// Walking it: nodes entered and left, and the text read below single elements.
    pub walk: u64,
    /// Structured data: values of JSON-LD, nodes and texts of microdata.
    pub data: u64,
    /// Choosing the text: lines that the candidates examine, and the input of the fallback.
    pub text: u64,
}

impl Work {
    /// Returns all steps.
    pub fn total(&self) -> u64 {
        self.tree + self.walk + self.data + self.text
    }
}
