//! The bill of materials, in the JSON format of CycloneDX 1.5.

use super::crates::Crate;
use anyhow::{Context, Result};
use serde_json::{Value, json};

/// Returns the bill of materials of a program with this SHA-256.
pub(super) fn cyclonedx(crates: &[Crate], sha256: &str) -> Result<String> {
    let own = crates.iter().find(|one| one.name == "curlew").context("the program is a crate")?;
    let components: Vec<Value> = crates.iter().filter(|one| one.name != own.name).map(component).collect();
    let uses = |one: &Crate| -> Vec<String> { one.uses.iter().map(|(name, version)| url(name, version)).collect() };
    let dependencies: Vec<Value> =
        crates.iter().map(|one| json!({"ref": url(&one.name, &one.version), "dependsOn": uses(one)})).collect();
    let mut program = component(own);
    program["type"] = "application".into();
    program["hashes"] = json!([{"alg": "SHA-256", "content": sha256}]);
    let bill = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": program},
        "components": components,
        "dependencies": dependencies,
    });
    Ok(serde_json::to_string_pretty(&bill)? + "\n")
}

fn component(one: &Crate) -> Value {
    let mut component = json!({
        "type": "library",
        "bom-ref": url(&one.name, &one.version),
        "name": one.name,
        "version": one.version,
        "licenses": [{"expression": one.licence}],
    });
    // A crate without a checksum is not from a registry.
    if let Some(checksum) = &one.checksum {
        component["purl"] = url(&one.name, &one.version).into();
        component["hashes"] = json!([{"alg": "SHA-256", "content": checksum}]);
    }
    if let Some(repository) = &one.repository {
        component["externalReferences"] = json!([{"type": "vcs", "url": repository}]);
    }
    component
}

/// Returns the name of a crate as a package URL (ECMA-427).
fn url(name: &str, version: &str) -> String {
    format!("pkg:cargo/{name}@{}", version.replace('+', "%2B"))
}
