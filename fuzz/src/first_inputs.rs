//! Runs each target on its first inputs, without libFuzzer. So each test run checks that faults once found stay fixed.

use crate::CHECKS;
use std::path::Path;

/// The list of targets that `cargo xtask fuzz` reads.
const TARGETS: &str = include_str!("../targets.txt");

#[test]
fn every_target_passes_on_its_first_inputs() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the targets lie in the workspace");
    let lines = TARGETS.lines().filter(|line| !line.starts_with('#'));
    let listed: Vec<Vec<&str>> = lines.map(|line| line.split_whitespace().collect()).collect();
    let (names, known): (Vec<&str>, Vec<&str>) =
        (listed.iter().map(|target| target[0]).collect(), CHECKS.iter().map(|(name, _)| *name).collect());
    assert_eq!(names, known, "fuzz/targets.txt names the targets of the program");
    let mut inputs = 0;
    for (target, (name, check)) in listed.iter().zip(CHECKS) {
        let max_length: usize = target[1].parse().expect("a maximum length");
        check(b"");
        let own = format!("fuzz/corpus/{name}");
        let folders = std::iter::once(own.as_str()).chain(target[2..].iter().copied()).map(|folder| root.join(folder));
        for folder in folders.filter(|folder| folder.is_dir()) {
            for entry in std::fs::read_dir(&folder).expect("a folder that can be read") {
                let input = std::fs::read(entry.expect("an entry").path()).expect("a file");
                check(&input[..input.len().min(max_length)]);
                inputs += 1;
            }
        }
    }
    assert!(inputs > CHECKS.len(), "{inputs} inputs");
}
