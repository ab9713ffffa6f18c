//! Interstitials: a bot wall, a challenge or a login that a server shows in place of every page with status 200.
//!
//! No vendor's marks are looked for. An interstitial is one and the same text in place of several different pages of a host
//! key, with no page of it in between that shows a text of its own. A `noindex` for the whole site is none, since each page
//! keeps its own text; nor is a soft 404, since other pages of the host are still themselves.

use crate::politeness::outcome::{hold_length, longer};
use crate::rules::Rules;
use curlew_model::{Circuit, Hold, HoldReason, HostState, Millis, PageId, Substitute, Timestamp};

/// Number of different pages of one host key that must show the same text before it counts as an interstitial.
pub const PAGES: usize = 3;
/// Number of texts that a host's state remembers; the state must stay small.
const MOST_TEXTS: usize = 3;
/// Bytes of a text that its key is made of.
const KEYED_BYTES: usize = 4_000;

/// Returns a short hash of what a document says. Words of the text that hold a digit are left out: request numbers, times
/// and addresses, which challenges like to show, differ with each answer.
pub fn text_key(title: &str, text: &str) -> u32 {
    let text = &text[..text.floor_char_boundary(KEYED_BYTES)];
    let words = text.split_whitespace().filter(|word| !word.contains(|c: char| c.is_numeric()));
    title.split_whitespace().chain(["\n"]).chain(words).fold(FNV_OFFSET, |hash, word| {
        word.bytes().chain([b' ']).fold(hash, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(FNV_PRIME))
    })
}

/// Parameters of the FNV-1a hash.
const FNV_OFFSET: u32 = 0x811c_9dc5;
/// As [`FNV_OFFSET`].
const FNV_PRIME: u32 = 0x0100_0193;

/// Notes that a page showed a text that is not its own.
#[must_use]
pub fn substituted(mut state: HostState, text: u32, page: &PageId) -> HostState {
    let page = page_key(page);
    let texts = &mut state.substitutes.texts;
    let known = texts.iter().position(|known| known.text == text).map(|at| texts.remove(at));
    let mut known = known.unwrap_or(Substitute { text, pages: vec![] });
    if known.pages.len() < PAGES && !known.pages.contains(&page) {
        known.pages.push(page);
    }
    texts.push(known);
    let above = texts.len().saturating_sub(MOST_TEXTS);
    texts.drain(..above);
    state
}

/// Notes that the home page of the host shows this text as well: no further page has to.
#[must_use]
pub fn covers_home(mut state: HostState, text: u32) -> HostState {
    for known in state.substitutes.texts.iter_mut().filter(|known| known.text == text) {
        known.pages.resize(PAGES, text);
    }
    state
}

/// True if a text is known to stand in place of several pages of the host.
pub fn is_interstitial(state: &HostState, text: u32) -> bool {
    state.substitutes.texts.iter().any(|known| known.text == text && known.pages.len() >= PAGES)
}

/// A page showed a text of its own: nothing stands before all pages of this host.
#[must_use]
pub fn own_text(state: HostState) -> HostState {
    HostState { substitutes: curlew_model::Substitutes::default(), ..state }
}

/// Leaves a host alone that shows an interstitial, as one that refuses: twice as long each time, since every good status
/// in between is the interstitial's and forgives nothing.
#[must_use]
pub fn hold_interstitial(mut state: HostState, rules: &Rules, now: Timestamp, seed: u64) -> HostState {
    let length = hold_length(rules.hold_refused, Millis::ZERO, state.substitutes.holds, rules, seed);
    state.substitutes.holds = state.substitutes.holds.saturating_add(1);
    state.circuit = Circuit::Probe;
    state.hold = longer(state.hold, Some(Hold { until: now + length, reason: HoldReason::Interstitial, since: now }));
    state
}

/// The first digits of a page's id: pages of one host that cannot be told apart only make it seem less.
fn page_key(page: &PageId) -> u32 {
    page.as_str().get(..8).and_then(|digits| u32::from_str_radix(digits, 16).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]
    use super::*;
    use proptest::prelude::*;

    const WALL: u32 = 7;

    fn page(n: u32) -> PageId {
        PageId::new(&format!("{n:08x}{n:024x}")).unwrap()
    }

    #[test]
    fn one_text_in_place_of_three_pages_is_an_interstitial() {
        let mut state = HostState::default();
        for n in 0..3 {
            assert!(!is_interstitial(&state, WALL), "{n}");
            // The same page again tells nothing new.
            state = substituted(substituted(state, WALL, &page(n)), WALL, &page(n));
        }
        assert!(is_interstitial(&state, WALL));
        assert!(!is_interstitial(&own_text(state), WALL), "a page of its own disproves it");
    }

    #[test]
    fn pages_that_each_say_something_else_are_none() {
        let state = (0..40).fold(HostState::default(), |state, n| substituted(state, n, &page(n)));
        assert!((0..40).all(|text| !is_interstitial(&state, text)));
        assert!(state.substitutes.texts.len() <= MOST_TEXTS);
    }

    #[test]
    fn a_home_page_that_shows_it_too_decides_at_once() {
        let state = covers_home(substituted(HostState::default(), WALL, &page(1)), WALL);
        assert!(is_interstitial(&state, WALL) && !is_interstitial(&state, 8));
    }

    #[test]
    fn holds_grow_while_the_interstitial_stays_and_begin_anew_after_it() {
        let rules = Rules::default();
        let mut state = substituted(HostState::default(), WALL, &page(1));
        let mut longest = Millis::ZERO;
        for n in 0..5 {
            state.hold = None;
            state = hold_interstitial(state, &rules, Timestamp::EPOCH, n);
            let hold = state.hold.clone().unwrap();
            assert_eq!(hold.reason, HoldReason::Interstitial);
            let length = hold.until.since(Timestamp::EPOCH);
            assert!(length >= longest && length <= rules.hold_cap, "{n}");
            longest = Millis(length.0 / 11 * 10);
        }
        assert!(longest > Millis::from_days(10));
        let again = hold_interstitial(HostState { hold: None, ..own_text(state) }, &rules, Timestamp::EPOCH, 1);
        assert!(again.hold.unwrap().until.since(Timestamp::EPOCH) < Millis::from_days(4));
    }

    #[test]
    fn what_differs_with_each_answer_is_not_in_the_key_and_words_are() {
        let wall = |ray: &str| text_key("Just a moment", &format!("Checking your browser. Ray ID: {ray} at 10:31."));
        assert_eq!(wall("8f3a1c"), wall("91bb02"));
        assert_ne!(text_key("Walk number 1", ""), text_key("Walk number 2", ""), "titles count whole");
        assert_ne!(text_key("a", "b c"), text_key("a", "b d"));
        assert_ne!(text_key("a b", ""), text_key("a", "b"));
    }

    proptest! {
        #[test]
        fn however_pages_answer_the_state_stays_small(seen in proptest::collection::vec((0u32..6, 0u32..9), 0..60)) {
            let state = seen.iter().fold(HostState::default(), |state, (text, n)| substituted(state, *text, &page(*n)));
            prop_assert!(serde_json::to_vec(&state.substitutes).unwrap().len() < 260);
        }
    }
}
