//! A month of politeness, judged call by call, and proofs that the judge notices when a rule is taken out.

use curlew_model::Millis;
use curlew_simulator::long::{LongRun, Report, Rule, run};

#[test]
fn a_month_of_five_hundred_hosts_is_simulated_without_a_violation() {
    let report = run(LongRun::new(1, 500, 30));
    eprintln!("{report:#?}");
    assert_eq!((report.violations, report.missed, report.blamed), (0, 0, 0), "{report:#?}");
    assert!(report.hosts >= 500 && report.feeds > 600, "{report:#?}");
    assert!(report.polls > report.feeds as u64 * 80, "three polls a day, except where hosts are in trouble");
    assert!(report.pages > 2_000 && report.excused > 0);
    for reason in ["forbidden", "too_many_requests", "server_error", "network"] {
        assert!(report.holds.contains_key(reason), "{reason}: {report:#?}");
    }
}

#[test]
fn a_month_of_intervals_that_follow_the_feeds_is_simulated_with_fewer_polls() {
    let slots = run(LongRun::new(2, 120, 30));
    let adaptive = run(LongRun { adaptive: true, ..LongRun::new(2, 120, 30) });
    for report in [&slots, &adaptive] {
        assert_eq!((report.violations, report.missed, report.blamed), (0, 0, 0), "{report:#?}");
    }
    // A feed without dates has no known interval before its second new entry, which a month seldom brings for half of
    // them.
    assert!(adaptive.polls * 20 < slots.polls * 19, "{} polls instead of {}", adaptive.polls, slots.polls);
    eprintln!(
        "{} polls instead of {}; mean age {} ms, {} ms",
        adaptive.polls, slots.polls, adaptive.mean_age, slots.mean_age
    );
}

#[test]
fn a_long_run_is_simulated_identically_from_its_seed() {
    let plan = LongRun::new(7, 40, 4);
    assert_eq!(run(plan), run(plan));
    assert_ne!(run(plan), run(LongRun::new(8, 40, 4)));
}

fn without(rule: Rule) -> Report {
    run(LongRun { without: Some(rule), ..LongRun::new(3, 100, 12) })
}

#[test]
fn with_all_rules_the_small_run_is_simulated_without_a_violation() {
    let report = run(LongRun::new(3, 100, 12));
    assert_eq!((report.violations, report.missed, report.blamed), (0, 0, 0), "{report:#?}");
}

/// The time on a host is so short that visits use it up.
#[test]
fn the_time_on_a_host_is_simulated_to_be_kept_within_any_window_and_its_loss_is_noticed() {
    let brief = LongRun { hour: Millis::from_mins(3), ..LongRun::new(3, 60, 6) };
    let report = run(brief);
    assert_eq!((report.violations, report.blamed), (0, 0), "{report:#?}");
    let without = run(LongRun { without: Some(Rule::Window), ..brief });
    assert!(without.violations > 0 && without.first[0].contains("its hour is used up"), "{without:#?}");
}

#[test]
fn taking_out_any_rule_is_noticed_in_the_simulation() {
    for rule in [
        Rule::CompareAndSwap,
        Rule::Pause,
        Rule::CrawlDelay,
        Rule::Hold,
        Rule::UrlHold,
        Rule::Rest,
        Rule::HomeLook,
        Rule::Robots,
        Rule::Block,
    ] {
        let report = without(rule);
        assert!(report.violations > 0, "{rule:?}: {report:#?}");
        eprintln!("{rule:?}: {} violations; {:?}", report.violations, report.first.first());
    }
}

#[test]
fn without_the_breaker_for_our_own_network_hosts_are_blamed_in_the_simulation() {
    let report = without(Rule::Outage);
    assert!(report.blamed > 0, "{report:#?}");
}
