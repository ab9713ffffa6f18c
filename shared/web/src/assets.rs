//! The style sheet and the script, and what tells one version of them from the next.

use curlew_model::hex;
use sha2::{Digest, Sha256};
use std::sync::LazyLock;

pub(crate) const STYLE: &str = include_str!("../assets/style.css");
pub(crate) const WORK: &str = include_str!("../assets/work.js");

/// Tells a file from an earlier one of the same name.
fn version(text: &str) -> String {
    hex(&Sha256::digest(text)[..4])
}

/// Tells this style sheet from an earlier one.
pub(crate) fn style_version() -> &'static str {
    static VERSION: LazyLock<String> = LazyLock::new(|| version(STYLE));
    &VERSION
}

/// Tells this script from an earlier one.
pub(crate) fn work_version() -> &'static str {
    static VERSION: LazyLock<String> = LazyLock::new(|| version(WORK));
    &VERSION
}
