//! Compares the profiles of `samconfig.toml` with the template, and with the commands in the documents. In those
//! commands, `--parameter-overrides` replaces a profile's whole list of parameters.

use curlew_tests::read;
use std::collections::{BTreeMap, BTreeSet};

/// Returns the parameters that each profile sets, and its deployment options.
pub(crate) fn profiles() -> BTreeMap<String, (BTreeSet<String>, String)> {
    let mut profiles = BTreeMap::<String, (BTreeSet<String>, String)>::new();
    for table in read("samconfig.toml").split("\n[").skip(1) {
        let Some((name, rest)) = table.split_once(".deploy.parameters]") else { continue };
        let (before, overrides) = rest.split_once("parameter_overrides").unwrap_or((rest, ""));
        let list = overrides.split(['[', ']']).nth(1).unwrap_or_default();
        let set = list.split('"').skip(1).step_by(2).map(str::to_owned).collect();
        profiles.insert(name.to_owned(), (set, before.to_owned()));
    }
    profiles
}

fn parameter(name: &str) -> String {
    let template = read("infra/template.yaml");
    let (_, parameters) = template.split_once("\nParameters:").expect("there are parameters");
    let (parameters, _) = parameters.split_once("\nMappings:\n").expect("they end");
    let (_, text) = parameters.split_once(&format!("\n  {name}:\n")).unwrap_or_else(|| panic!("no parameter {name}"));
    text.lines().take_while(|line| line.starts_with("    ")).collect::<Vec<_>>().join("\n")
}

#[test]
fn profiles_set_parameters_that_there_are_to_values_that_they_may_have() {
    let profiles = profiles();
    assert_eq!(profiles.keys().collect::<Vec<_>>(), ["dev", "local", "localstack", "prod"]);
    for (profile, (overrides, how)) in &profiles {
        // The capabilities are needed for the roles and for the nested stack.
        assert!(how.contains("capabilities = \"CAPABILITY_IAM CAPABILITY_AUTO_EXPAND\""), "{profile}");
        for (name, value) in overrides.iter().filter_map(|set| set.split_once('=')) {
            let text = parameter(name);
            let allowed = text.split_once("AllowedValues: [").and_then(|(_, list)| list.split_once(']'));
            let is_allowed = |(list, _): (&str, &str)| list.split(',').any(|one| one.trim().trim_matches('"') == value);
            assert!(allowed.is_none_or(is_allowed), "{profile}: {name} may not be {value}");
        }
    }
}

#[test]
fn the_first_deployment_of_a_profile_names_all_that_it_sets() {
    let readme = [read("docs/aws.md"), read("infra/README.md")].join("\n").replace(" \\\n", " ");
    for (profile, (overrides, _)) in profiles() {
        let command = format!("sam deploy --config-env {profile}");
        let first = readme.lines().find(|line| line.contains(&command));
        let first = first.unwrap_or_else(|| panic!("no command for {profile}"));
        let named: BTreeSet<&str> = first.split_whitespace().collect();
        let missing: Vec<_> = overrides.iter().filter(|set| !named.contains(set.as_str())).collect();
        let is_replaced = first.contains("--parameter-overrides");
        assert!(!is_replaced || missing.is_empty(), "{profile}: {missing:?} would be lost");
        assert!(
            first.contains("ContactUrl=") || overrides.iter().any(|set| set.starts_with("ContactUrl=")),
            "{profile}"
        );
    }
}
