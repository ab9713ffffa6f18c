//! The style sheet and the script, and their versions.

use curlew_model::hex;
use sha2::{Digest, Sha256};
use std::sync::LazyLock;

pub(crate) const STYLE: &str = include_str!("../assets/style.css");
pub(crate) const WORK: &str = include_str!("../assets/work.js");

/// Returns a text's version: it tells a file from an earlier one of the same name.
fn version(text: &str) -> String {
    hex(&Sha256::digest(text)[..4])
}

/// Returns the version of the style sheet.
pub(crate) fn style_version() -> &'static str {
    static VERSION: LazyLock<String> = LazyLock::new(|| version(STYLE));
    &VERSION
}

/// Returns the version of the script.
pub(crate) fn work_version() -> &'static str {
    static VERSION: LazyLock<String> = LazyLock::new(|| version(WORK));
    &VERSION
}
