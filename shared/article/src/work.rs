//! Counted work: tests and fuzz targets hold that it grows with the length of a page and no faster, whatever the machine.

/// Steps that reading a page takes. Each part counts what it does over and over, in its own unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Building the tree: open elements asked for, elements, attributes and nodes made or moved.
    pub tree: u64,
    /// Walking it: nodes entered and left, and the text read below single elements.
    pub walk: u64,
    /// Structured data: values of JSON-LD, nodes and texts of microdata.
    pub data: u64,
    /// Choosing the text: lines that the candidates look at, and what is handed to the fallback.
    pub text: u64,
}

impl Work {
    /// All steps.
    pub fn total(&self) -> u64 {
        self.tree + self.walk + self.data + self.text
    }
}
