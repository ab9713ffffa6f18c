//! Checks the files for operators with the programs that read them.

use std::path::PathBuf;
use std::process::Command;

/// Maximum exposure of the unit in tenths of a point. systemd considers less than 20 well protected.
const MOST_EXPOSED: u32 = 20;

fn contrib(name: &str) -> PathBuf {
    curlew_tests::root().join("contrib").join(name)
}

fn systemd_analyze(arguments: &[&str]) -> (bool, String) {
    let program = std::env::var_os("SYSTEMD_ANALYZE").unwrap_or_else(|| "systemd-analyze".into());
    let run = Command::new(program).args(arguments).arg(contrib("curlew.service")).output();
    let run = run.expect("SYSTEMD_ANALYZE names systemd-analyze: `cargo xtask test` installs it");
    (run.status.success(), String::from_utf8_lossy(&run.stdout).into_owned() + &String::from_utf8_lossy(&run.stderr))
}

#[test]
fn the_unit_is_right_and_closes_what_it_does_not_need() {
    let threshold = format!("--threshold={MOST_EXPOSED}");
    let (is_closed, said) = systemd_analyze(&["security", "--offline=true", "--no-pager", &threshold]);
    assert!(is_closed && said.contains("Overall exposure level"), "{said}");
    let (_, said) = systemd_analyze(&["verify", "--man=no"]);
    // The program is not installed on the test machine; nothing else may be wrong.
    let wrong: Vec<&str> = said.lines().filter(|line| !line.contains("is not executable")).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn the_alerts_are_rules_that_prometheus_takes() {
    let program = std::env::var_os("PROMTOOL").unwrap_or_else(|| "promtool".into());
    let run = Command::new(program).args(["check", "rules"]).arg(contrib("prometheus/curlew.rules.yml")).output();
    let run = run.expect("PROMTOOL names promtool: `cargo xtask test` installs it");
    let said = String::from_utf8_lossy(&run.stdout).into_owned() + &String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success() && said.contains("SUCCESS"), "{said}");
}
