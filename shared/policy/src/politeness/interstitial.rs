//! Interstitials: bot walls, challenges and logins that a server shows, with status 200, in place of every page.
//!
//! An interstitial is recognized by behaviour: several pages of a host key show one text, and no page shows its own. A
//! site-wide `noindex` is none, since each page keeps its own text; nor is a soft 404, since other pages keep theirs.

use crate::politeness::{hold_length, longer};
use crate::{address::hash32, rules::Rules};
use curlew_model::{
    Circuit, Hold, HoldReason, HomeLook, HostState, Millis, PageId, Substitute, Substitutes, Timestamp,
};

/// Number of different pages of one host key that must show the same text before it counts as an interstitial.
pub const PAGES: usize = 3;
const MOST_TEXTS: usize = 3;
/// Number of bytes at the beginning of a text that are read.
const KEYED_BYTES: usize = 4_000;
const TITLE_WORDS: usize = 12;
/// Minimum length in bytes of a significant word.
const LONG_WORD_BYTES: usize = 4;

/// Returns a short hash of title and text, skipping the text's words with digits, such as request numbers and times.
pub fn text_key(title: &str, text: &str) -> u32 {
    let text = &text[..text.floor_char_boundary(KEYED_BYTES)];
    let words = text.split_whitespace().filter(|word| !word.contains(|c: char| c.is_numeric()));
    let said = title.split_whitespace().chain(["\n"]).chain(words);
    hash32(said.flat_map(|word| word.bytes().chain([b' '])))
}

/// True if a page has most words of its entry's title (long words, if there are any); `None` without a title or words.
pub fn is_announced(entry: Option<&str>, title: &str, text: &str) -> Option<bool> {
    let entry = entry?.to_lowercase();
    let said = format!("{title}\n{}", &text[..text.floor_char_boundary(KEYED_BYTES)]).to_lowercase();
    let words = entry.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).take(TITLE_WORDS);
    let long: Vec<&str> = words.clone().filter(|word| word.len() >= LONG_WORD_BYTES).collect();
    let words = if long.is_empty() { words.collect() } else { long };
    let found = words.iter().filter(|word| said.contains(**word)).count();
    (!words.is_empty()).then_some(found * 2 > words.len())
}

/// Records that a page showed a text that is not its own.
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

/// Records that the host's home page shows this text, too, which proves an interstitial without further pages.
pub fn covers_home(mut state: HostState, text: u32) -> HostState {
    for known in state.substitutes.texts.iter_mut().filter(|known| known.text == text) {
        known.pages.resize(PAGES, text);
    }
    state
}

/// Minimum time between two fetches of a host key's home page for comparison with other pages.
pub const HOME_LOOK_EVERY: Millis = Millis::from_hours(24);

/// Returns the last look at a home page within [`HOME_LOOK_EVERY`], without its text if it was at another URL.
pub fn home_look(state: &HostState, url: u32, now: Timestamp) -> Option<HomeLook> {
    let look = state.home_look.filter(|look| look.at + HOME_LOOK_EVERY > now)?;
    Some(HomeLook { text: look.text.filter(|_| look.url == url), ..look })
}

/// True if at least [`PAGES`] pages of the host, or its home page, are known to show this text.
pub fn is_interstitial(state: &HostState, text: u32) -> bool {
    state.substitutes.texts.iter().any(|known| known.text == text && known.pages.len() >= PAGES)
}

const NEW_LOOKS: u32 = 2;
/// Text key that represents a refusal without a mark (202, 402, 403, 451).
const REFUSAL: u32 = 0;

/// Records that a page was refused. Returns true if a call was refused before and no page has shown its own text since:
/// then a wall refuses all pages, not only this one.
pub fn refused(state: HostState, page: &PageId) -> (HostState, bool) {
    let is_wall = state.substitutes.texts.iter().any(|known| known.text == REFUSAL);
    (substituted(state, REFUSAL, page), is_wall)
}

/// True unless `page` showed this text and no page of the host has shown its own text since.
pub fn is_refuted(state: &HostState, text: u32, page: &PageId) -> bool {
    let page = page_key(page);
    !state.substitutes.texts.iter().any(|known| known.text == text && known.pages.contains(&page))
}

/// True if several pages of the host showed this text, and no page has shown its own text since.
pub fn is_shared(state: &HostState, text: u32) -> bool {
    state.substitutes.texts.iter().any(|known| known.text == text && known.pages.len() > 1)
}

/// Returns when to fetch a page again whose text may be an interstitial's. `None` if the text counts as the page's own:
/// a page of the host has shown its own or another text since (`was_refuted`: [`is_refuted`] before this look was
/// recorded), or there were enough `looks`.
pub fn look_again_at(
    state: &HostState,
    text: u32,
    was_refuted: bool,
    looks: u32,
    rules: &Rules,
    now: Timestamp,
) -> Option<Timestamp> {
    let texts = &state.substitutes.texts;
    let is_known = texts.iter().any(|known| known.text == text);
    let has_others = texts.iter().any(|known| known.text != text && known.text != REFUSAL);
    // Without a wait, another look would have the same result.
    let is_enough = looks >= rules.max_deferrals || rules.confirm_after == Millis::ZERO;
    if !is_known || has_others || is_enough || (looks > 0 && was_refuted) {
        return None;
    }
    Some(now + rules.confirm_after.saturating_mul(1u64 << looks.min(16)).min(rules.hold_cap))
}

/// Returns when to fetch a new page again whose text may be an interstitial's: after a week, then after two more weeks.
/// `deferrals` counts all deferrals of its job.
pub fn look_at_new_again_at(
    state: &HostState,
    text: u32,
    was_refuted: bool,
    deferrals: u32,
    rules: &Rules,
    now: Timestamp,
) -> Option<Timestamp> {
    let wait = rules.confirm_after.saturating_mul(7 << deferrals.min(1)).min(rules.hold_cap);
    look_again_at(state, text, was_refuted, deferrals, rules, now).filter(|_| deferrals < NEW_LOOKS).map(|_| now + wait)
}

/// Records that a page showed its own text: no interstitial covers all pages of this host.
pub fn own_text(state: HostState) -> HostState {
    HostState { substitutes: Substitutes::default(), ..state }
}

/// Records that a page showed its own text and asked not to be indexed.
pub fn own_noindex(state: HostState, page: &PageId) -> HostState {
    let page = page_key(page);
    let mut noindexed = state.substitutes.noindexed;
    if noindexed.len() < PAGES && !noindexed.contains(&page) {
        noindexed.push(page);
    }
    HostState { substitutes: Substitutes { noindexed, ..Substitutes::default() }, ..state }
}

/// True if the last [`PAGES`] or more different pages that showed their own text all asked not to be indexed.
pub fn is_noindex_site_wide(state: &HostState) -> bool {
    state.substitutes.noindexed.len() >= PAGES
}

/// Puts a host that shows an interstitial on hold like one that refuses, twice as long each time: a good status in
/// between comes from the interstitial and resets nothing. `vendor` is empty if no mark names it.
pub fn hold_interstitial(mut state: HostState, vendor: &str, rules: &Rules, now: Timestamp, seed: u64) -> HostState {
    let length = hold_length(rules.hold_refused, Millis::ZERO, state.substitutes.holds, rules, seed);
    state.substitutes.holds = state.substitutes.holds.saturating_add(1);
    state.substitutes.since.get_or_insert(now);
    if !vendor.is_empty() {
        vendor.clone_into(&mut state.substitutes.vendor);
    }
    state.circuit = Circuit::Probe;
    state.hold = longer(state.hold, Some(Hold { until: now + length, reason: HoldReason::Interstitial, since: now }));
    state
}

/// Returns the first 32 bits of a page's id; pages that collide count once, which only delays the verdict.
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
            // The same page again is no new evidence.
            state = substituted(substituted(state, WALL, &page(n)), WALL, &page(n));
        }
        assert!(is_interstitial(&state, WALL));
        assert!(!is_interstitial(&own_text(state), WALL), "a page of its own disproves it");
        let home = covers_home(substituted(HostState::default(), WALL, &page(1)), WALL);
        assert!(is_interstitial(&home, WALL) && !is_interstitial(&home, 8), "a home page decides at once");
        let each_another = (0..40).fold(HostState::default(), |state, n| substituted(state, n, &page(n)));
        assert!((0..40).all(|text| !is_interstitial(&each_another, text)));
        assert!(each_another.substitutes.texts.len() <= MOST_TEXTS);
    }

    #[test]
    fn a_refused_page_is_one_of_several_until_a_page_shows_its_own_text() {
        let (state, is_wall) = refused(HostState::default(), &page(1));
        assert!(!is_wall, "a single refusal may be of this page");
        let (state, is_wall) = refused(state, &page(1));
        assert!(is_wall, "no page was let through in between");
        let (state, is_wall) = refused(own_text(state), &page(1));
        assert!(!is_wall, "others are let through");
        assert!(refused(state, &page(2)).1);
    }

    #[test]
    fn a_doubtful_text_is_looked_at_again_later_each_time_and_decided_once_a_page_showed_its_own() {
        let (rules, now) = (Rules::default(), Timestamp::EPOCH);
        let state = substituted(HostState::default(), WALL, &page(1));
        let look = |state: &HostState, refuted, looks| {
            look_again_at(state, WALL, refuted, looks, &rules, now).map(|at| at.since(now))
        };
        assert!(is_refuted(&HostState::default(), WALL, &page(1)) && !is_refuted(&state, WALL, &page(1)));
        assert!(is_refuted(&state, WALL, &page(2)) && is_refuted(&own_text(state.clone()), WALL, &page(1)));
        let days: Vec<_> = (0..=rules.max_deferrals).map(|n| look(&state, n == 0, n)).collect();
        let expected = [1, 2, 4, 8, 14, 14].map(|days| Some(Millis::from_days(days)));
        assert_eq!(days, [&expected[..], &[None]].concat());
        let new = |n| look_at_new_again_at(&state, WALL, n == 0, n, &rules, now).map(|at| at.since(now));
        assert_eq!([0, 1, 2].map(new), [Some(Millis::from_days(7)), Some(Millis::from_days(14)), None]);
        let at_once = Rules { confirm_after: Millis::ZERO, ..Rules::default() };
        assert_eq!(look_at_new_again_at(&state, WALL, true, 0, &at_once, now), None, "no time passes between looks");
        assert_eq!(look(&state, true, 1), None, "a page showed its own text in between");
        assert_eq!(look(&own_text(state.clone()), false, 1), None, "or in this visit");
        let other = substituted(state.clone(), 8, &page(3));
        assert_eq!(look(&other, false, 0), None, "or each page shows another one");
    }

    #[test]
    fn holds_grow_while_the_interstitial_stays_and_begin_anew_after_it() {
        let rules = Rules::default();
        let mut state = substituted(HostState::default(), WALL, &page(1));
        let mut longest = Millis::ZERO;
        for n in 0..5 {
            state.hold = None;
            state = hold_interstitial(state, "", &rules, Timestamp::EPOCH + Millis(n), n);
            let hold = state.hold.clone().unwrap();
            assert_eq!(hold.reason, HoldReason::Interstitial);
            let length = hold.until.since(hold.since);
            assert!(length >= longest && length <= rules.hold_cap, "{n}");
            longest = Millis(length.0 / 11 * 10);
        }
        assert!(longest > Millis::from_days(10));
        assert_eq!(state.substitutes.since, Some(Timestamp::EPOCH), "when the first one began");
        let again =
            hold_interstitial(HostState { hold: None, ..own_text(state) }, "Anubis", &rules, Timestamp::EPOCH, 1);
        assert!(again.hold.unwrap().until.since(Timestamp::EPOCH) < Millis::from_days(4));
        assert_eq!(again.substitutes.vendor, "Anubis");
    }

    #[test]
    fn a_site_asks_as_a_whole_once_three_pages_did_with_texts_of_their_own_and_none_did_not() {
        let mut state = substituted(HostState::default(), WALL, &page(9));
        for n in 0..3 {
            assert!(!is_noindex_site_wide(&state));
            state = own_noindex(own_noindex(state, &page(n)), &page(n));
        }
        assert!(is_noindex_site_wide(&state) && state.substitutes.texts.is_empty());
        assert!(!is_noindex_site_wide(&own_text(state)));
    }

    #[test]
    fn what_differs_with_each_answer_is_not_in_the_key_and_words_are() {
        let wall = |ray: &str| text_key("Just a moment", &format!("Checking your browser. Ray ID: {ray} at 10:31."));
        assert_eq!(wall("8f3a1c"), wall("91bb02"));
        assert_ne!(text_key("Walk number 1", ""), text_key("Walk number 2", ""), "titles count whole");
        assert_ne!(text_key("a", "b c"), text_key("a", "b d"));
        assert_ne!(text_key("a b", ""), text_key("a", "b"));
    }

    #[test]
    fn a_page_says_what_its_entry_announced_and_a_wall_does_not() {
        let text = "The curlew walks along the edge of the water.";
        assert_eq!(is_announced(Some("A curlew by the water"), "Birds", text), Some(true));
        assert_eq!(is_announced(Some("Godwits of Friesland"), "One moment", "Checking your browser."), Some(false));
        assert_eq!(is_announced(Some("\u{9dfa}"), "\u{9dfa}\u{306e}\u{6d77}", ""), Some(true));
        assert_eq!((is_announced(None, "a", "b"), is_announced(Some(" ... "), "a", "b")), (None, None));
    }

    proptest! {
        #[test]
        fn however_pages_answer_the_state_stays_small(seen in proptest::collection::vec((0u32..6, 0u32..9), 0..60)) {
            let state = seen.iter().fold(HostState::default(), |state, (text, n)| substituted(state, *text, &page(*n)));
            prop_assert!(serde_json::to_vec(&state.substitutes).unwrap().len() < 260);
        }
    }
}
