//! Checks of a deployment on AWS: rights, versions, functions, mappings, quota and alarms.

use super::checks::{TICKS_LATE, judged};
use super::facts::{AlarmsGoTo, Facts, FunctionFacts, MappingFacts, QuotaFacts, SmokeReport, StackFacts};
use super::finding::Finding;
use crate::output::count;
use curlew_model::QueueName;
use curlew_policy::mapping_rest::gathers;
use std::collections::BTreeMap;

/// Concurrent executions of a function without a queue.
const ONE_AT_A_TIME: u32 = 1;
/// Concurrent executions of a function whose mapping sets no maximum.
const AT_LEAST: u32 = 2;

/// Checks whether the caller may read the stack.
pub(super) fn rights(facts: &Facts) -> Vec<Finding> {
    let Some(stack) = &facts.stack else { return Vec::new() };
    let wrong: Vec<Finding> =
        stack.trials.iter().filter_map(|trial| trial.as_ref().err()).map(Finding::unknown).collect();
    if wrong.is_empty() { vec![Finding::ok("you may read the tables, the queues and the bucket")] } else { wrong }
}

/// Checks whether this program knows the version of the rows.
pub(super) fn version(facts: &Facts) -> Vec<Finding> {
    let Some(stack) = &facts.stack else { return Vec::new() };
    let (own, see) = (stack.own_version, "docs/aws.md#upgrade-it");
    let judge = |version: &Option<u32>| match version {
        None => Finding::ok("nothing has used the stack yet"),
        Some(found) if *found == own => {
            Finding::ok(format!("the rows are of version {found}, which this program writes"))
        }
        Some(found) if *found < own => {
            let found = format!(
                "the rows are of version {found}, and any other command of this program upgrades them to {own}"
            );
            Finding::warning(found)
                .remedy("Deploy the functions of this version first: earlier ones refuse the new rows", see)
        }
        Some(found) => {
            Finding::failed(format!("the rows are of version {found}, and this program knows {own} at most"))
                .remedy("Use the curlew of the version that is deployed", see)
        }
    };
    vec![judged(&stack.version, judge)]
}

/// Checks whether the functions can run, are of this program's version, and accept the settings.
pub(super) fn functions(facts: &Facts) -> Vec<Finding> {
    let Some(stack) = &facts.stack else { return Vec::new() };
    let see = "docs/runbooks.md#functions-fail";
    let remedy = "Look at its log; deploy again if it is missing";
    let mut findings: Vec<Finding> = Vec::new();
    let mut by_version: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut rejecting = Vec::new();
    for FunctionFacts { name, deployed, answer } in &stack.functions {
        match deployed {
            Err(why) => findings.push(Finding::unknown(why).remedy(remedy, see)),
            Ok(deployed) => {
                let fault = deployed.fault.as_ref();
                findings
                    .extend(fault.map(|why| Finding::failed(format!("{name} cannot run: {why}")).remedy(remedy, see)));
            }
        }
        match answer {
            None => {}
            Some(Err(why)) => findings.push(Finding::unknown(why).remedy(remedy, see)),
            Some(Ok(SmokeReport { version, rejects_settings })) => {
                by_version.entry(version).or_default().push(name);
                rejecting.extend(rejects_settings.then_some(name.as_str()));
            }
        }
    }
    if !rejecting.is_empty() {
        let found =
            format!("{} cannot use the settings of the bucket, and uses the last good ones", rejecting.join(", "));
        findings.push(Finding::warning(found).remedy(
            format!("If `{} config check` accepts them, deploy a newer version", facts.program),
            "docs/runbooks.md#trouble",
        ));
    }
    findings.extend(versions(&by_version));
    if findings.is_empty() {
        let version = by_version.keys().next().copied().unwrap_or("?");
        findings.push(Finding::ok(format!(
            "{} run, of this program's version {version}",
            count(stack.functions.len() as u64, "function")
        )));
    }
    findings
}

fn versions(by_version: &BTreeMap<&str, Vec<&str>>) -> Option<Finding> {
    let own = env!("CARGO_PKG_VERSION");
    if by_version.keys().all(|version| *version == own) {
        return None;
    }
    let named: Vec<String> = by_version.iter().map(|(version, of)| format!("{version} ({})", of.join(", "))).collect();
    let found = format!("functions have version {}, this program has {own}", named.join(" and "));
    Some(
        Finding::warning(found)
            .remedy("Deploy all functions, and use curlew, in the same version", "docs/aws.md#upgrade-it"),
    )
}

/// Checks whether each event source mapping is enabled, or its queue is empty.
pub(super) fn mappings(facts: &Facts) -> Vec<Finding> {
    let Some(stack) = &facts.stack else { return Vec::new() };
    let mappings = match &stack.mappings {
        Ok(mappings) => mappings,
        Err(why) => return vec![Finding::unknown(why).remedy("Deploy again", "docs/aws.md#upgrade-it")],
    };
    let mut findings = Vec::new();
    let mut states: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (stage, mapping) in mappings {
        match mapping {
            Err(why) => findings.push(Finding::unknown(why).remedy("Deploy again", "docs/aws.md#upgrade-it")),
            Ok(mapping) => {
                let word = match mapping.state.as_str() {
                    "Enabled" => "on",
                    "Disabled" => "resting",
                    _ => "being switched",
                };
                states.entry(word).or_default().push(stage.as_str());
                findings.extend(unasked(facts, *stage, mapping));
            }
        }
    }
    if findings.is_empty() {
        let words: Vec<String> = states.iter().map(|(word, of)| format!("{} {word}", of.join(", "))).collect();
        findings.push(Finding::ok(words.join("; ")));
    }
    findings
}

/// Returns a finding if a mapping is disabled although messages wait in its queue, unless dispatch lets them gather.
fn unasked(facts: &Facts, stage: QueueName, mapping: &MappingFacts) -> Option<Finding> {
    let (_, queue) = facts.queues.iter().find(|(of, _)| *of == stage)?;
    let waiting = queue.as_ref().ok()?.count.ready;
    let sent = facts.sent_until.as_ref().and_then(|sent| *sent.as_ref().ok()?);
    let is_dispatch_well = sent.is_some_and(|until| facts.now.since(until) <= TICKS_LATE.0);
    let may_gather = is_dispatch_well && gathers(stage);
    if mapping.state != "Disabled" || waiting == 0 || facts.is_paused() || may_gather {
        return None;
    }
    let wait = if waiting == 1 { "waits" } else { "wait" };
    let found = format!("the mapping of {} is off, and {} {wait} there", stage.as_str(), count(waiting, "message"));
    Some(if is_dispatch_well {
        Finding::warning(found).remedy(
            "Dispatch switches it on at its next tick, or within 15 minutes if a person has switched it off",
            "docs/aws.md#cost",
        )
    } else {
        let command =
            format!("`aws lambda update-event-source-mapping --enabled --uuid {}` switches it on", mapping.id);
        Finding::failed(found).remedy(command, "docs/runbooks.md#dispatch-silent")
    })
}

/// Checks whether the account's concurrency quota is enough for the stack.
pub(super) fn quota(facts: &Facts) -> Vec<Finding> {
    let Some(stack) = &facts.stack else { return Vec::new() };
    let wanted = wanted(stack);
    let judge = |quota: &QuotaFacts| {
        let found = format!(
            "Lambda allows this account {} at once, {} of them unreserved; this stack may need {wanted} of these",
            count(quota.all.into(), "execution"),
            quota.unreserved,
        );
        match quota.unreserved {
            0 => Finding::failed(found).remedy("Set ReservedConcurrency or WebConcurrency lower", "docs/aws.md#deploy"),
            unreserved if unreserved < wanted => Finding::warning(found).remedy(
                "More are throttled and retried, and the search page answers 429 meanwhile; ask AWS for a higher quota",
                "docs/aws.md#deploy",
            ),
            _ => Finding::ok(found),
        }
    };
    vec![judged(&stack.quota, judge)]
}

/// Checks whether alarms notify anybody.
pub(super) fn alarms(facts: &Facts) -> Vec<Finding> {
    let (remedy, see) =
        ("Deploy with AlarmEmail set, and confirm the mail that AWS sends to it", "docs/runbooks.md#alarms");
    let judge = |goes_to| match goes_to {
        AlarmsGoTo::Mail => Finding::ok("alarms are mailed to AlarmEmail"),
        AlarmsGoTo::Nobody => Finding::warning("alarms go off, but nobody is notified").remedy(remedy, see),
        AlarmsGoTo::NoAlarms => Finding::ok("the stack was deployed without alarms (Watch=false)"),
    };
    facts.stack.iter().filter_map(|stack| stack.alarms).map(judge).collect()
}

/// Returns the number of concurrent executions that the functions without reserved concurrency may need.
fn wanted(stack: &StackFacts) -> u32 {
    let of = |function: &FunctionFacts| {
        if function.deployed.as_ref().is_ok_and(|deployed| deployed.reserved.is_some()) {
            return 0;
        }
        let mappings = stack.mappings.as_ref().ok();
        let mapping = mappings.and_then(|all| all.iter().find(|(stage, _)| stage.as_str() == function.name));
        match mapping {
            Some((_, mapping)) => mapping.as_ref().ok().and_then(|mapping| mapping.max_concurrency).unwrap_or(AT_LEAST),
            None => ONE_AT_A_TIME,
        }
    };
    stack.functions.iter().map(of).sum()
}
