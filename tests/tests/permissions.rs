//! `infra/permissions.md` says why each role has each of its rights. Here its rows are held against the roles of the template: no
//! right without a reason, and no reason without the right.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The actions of each role, by the name that the table has for it.
type Rights = BTreeMap<String, BTreeSet<String>>;

fn read(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests lie in the workspace");
    std::fs::read_to_string(root.join("infra").join(name)).expect("the file is there")
}

/// The rows of the table.
fn explained() -> Rights {
    let mut rights = Rights::new();
    for line in read("permissions.md").lines().filter(|line| line.starts_with("| ") && line.contains("`")) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        assert!(cells.len() == 4 && !cells[3].is_empty(), "no four cells, or no reason: {line}");
        rights.entry(cells[0].to_owned()).or_default().insert(cells[1].trim_matches('`').to_owned());
    }
    rights
}

/// The actions between the head of each resource that is a role and the next resource.
fn granted() -> Rights {
    let mut rights = Rights::new();
    let mut role = None;
    for line in read("template.yaml").lines() {
        if let Some(name) = line.strip_prefix("  ").filter(|rest| !rest.starts_with([' ', '#'])) {
            role = name.strip_suffix("Role:").map(str::to_lowercase);
        }
        let Some(role) = &role else { continue };
        let Some((_, actions)) = line.split_once("Action: ") else { continue };
        let actions = actions.split(['[', ']']).nth(1).unwrap_or(actions);
        let actions = actions.split('"').skip(1).step_by(2).filter(|action| *action != "sts:AssumeRole");
        rights.entry(role.clone()).or_default().extend(actions.map(str::to_owned));
    }
    rights
}

#[test]
fn every_right_of_a_role_has_its_reason() {
    let (granted, explained) = (granted(), explained());
    assert!(granted.len() >= 8, "the template has fewer roles than functions: {:?}", granted.keys());
    assert_eq!(granted, explained);
}
