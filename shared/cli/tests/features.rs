//! Tests that a build without cargo features names the missing feature and the way to get it.
#![cfg(not(feature = "aws"))]

use std::process::Command;

fn said(args: &[&str], setting: Option<(&str, &str)>) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = Command::new(env!("CARGO_BIN_EXE_curlew"));
    command.current_dir(folder.path()).args(args).envs(setting);
    let output = command.output().expect("the program runs");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn a_stack_needs_the_feature_aws() {
    let (code, line) = said(&["--aws", "status"], None);
    assert_eq!(code, Some(2), "{line}");
    assert!(line.contains("cargo build --release --features aws"), "{line}");
}
