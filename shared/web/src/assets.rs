//! The style sheet and its version.

use curlew_model::hex;
use sha2::{Digest, Sha256};
use std::sync::LazyLock;

pub(crate) const STYLE: &str = include_str!("../assets/style.css");

/// Returns the version of the style sheet, which tells it from an earlier one of the same name.
pub(crate) fn style_version() -> &'static str {
    static VERSION: LazyLock<String> = LazyLock::new(|| hex(&Sha256::digest(STYLE)[..4]));
    &VERSION
}
