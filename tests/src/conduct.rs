//! Judges the conduct of the crawler by the sites' own logs.

use curlew_fixtureweb::{Call, Farm, judge};
use std::collections::BTreeSet;

/// Checks that calls to one host key never overlapped and were at least `pause` microseconds apart.
#[track_caller]
pub fn judge_pauses(calls: &[Call], pause: u64) {
    assert_eq!(judge::overlaps(calls, judge::registrable), []);
    assert_eq!(judge::closer_than(calls, judge::registrable, pause), []);
}

/// Checks the pauses, and further manners: hosts were left alone when an answer or robots.txt asked for it, robots.txt
/// was read first, and no call had headers that tell of other calls.
#[track_caller]
pub fn judge_manners(calls: &[Call], farm: &Farm, pause: u64) {
    judge_pauses(calls, pause);
    assert_eq!(judge::intrusions(calls, judge::registrable), []);
    assert_eq!(judge::forbidden(calls, farm), []);
    assert_eq!(judge::unasked(calls), BTreeSet::new());
    assert_eq!(judge::indiscreet(calls), []);
}
