//! Compares the numbers in the documentation for site owners with the rules.

use curlew_model::Millis;
use curlew_policy::politeness::interstitial::HOME_LOOK_EVERY;
use curlew_policy::rules::{FORBIDDEN_LIMIT, Rules, SERVER_ERROR_LIMIT, VISIT_REST};

fn hours(time: Millis) -> String {
    let hour = Millis::from_hours(1).0;
    assert!(time.0.is_multiple_of(hour), "{} ms are no whole hours", time.0);
    if time.0 == hour { "1 hour".to_owned() } else { format!("{} hours", time.0 / hour) }
}

#[test]
fn m19_site_owners_are_told_the_numbers_that_the_rules_have() {
    let rules = Rules::default();
    let (refused, failed, rest) = (hours(rules.hold_refused), hours(rules.hold_server_error), hours(VISIT_REST));
    let days = rules.hold_cap.0 / Millis::from_days(1).0;
    assert_eq!((FORBIDDEN_LIMIT, SERVER_ERROR_LIMIT), (2, 2), "the text names a second address");
    let text = include_str!("../../../../docs/site-owners.md");
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for sentence in [
        format!(
            "After a `429` it calls nothing at the domain for {refused} or more, after a `503` for {failed} or more."
        ),
        format!(
            "After a `202`, `402`, `403` or `451` it leaves that address alone for {refused} or more, after another server error \
             for {failed} or more, and calls nothing at the domain for {rest}. A second address that is refused, or a second one \
             that fails, counts for the whole domain"
        ),
        format!("Repeated failures double the wait, up to {days} days."),
        format!("Its visits to a domain take at most {} within any {}", hours(rules.window_limit), hours(rules.window)),
        format!("later at most once in {}, to tell whether a bot wall stands", hours(HOME_LOOK_EVERY)),
    ] {
        assert!(text.contains(&sentence), "docs/site-owners.md does not say: {sentence}");
    }
}
