//! The entry point for libFuzzer. The environment variable [`TARGET`] names the target that a process runs.

use crate::{CHECKS, Check};
use libfuzzer_sys::fuzz_target;
use std::sync::OnceLock;

/// The environment variable that names the target.
const TARGET: &str = "CURLEW_FUZZ_TARGET";

static CHOSEN: OnceLock<Check> = OnceLock::new();

fn chosen() -> Check {
    *CHOSEN.get_or_init(|| {
        let name = std::env::var(TARGET).unwrap_or_default();
        let check = CHECKS.iter().find(|(known, _)| *known == name);
        check.unwrap_or_else(|| panic!("{TARGET} names no target: {name:?}")).1
    })
}

fuzz_target!(|data: &[u8]| chosen()(data));
