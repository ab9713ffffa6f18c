//! Files of the workspace.

use std::path::Path;

/// Returns the root of the workspace.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests lie in the workspace")
}

/// Returns the text of a file of the workspace.
#[track_caller]
pub fn read(name: impl AsRef<Path>) -> String {
    let path = root().join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}
