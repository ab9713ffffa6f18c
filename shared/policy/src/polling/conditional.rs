//! Conditional requests: the validators to send, and checks whether a server's 304 is true.
//!
//! Some servers answer 304 forever. So a feed that has answered only 304 for [`Rules::verify_every`] is requested
//! unconditionally once (row H05); while that finds nothing new, the time doubles up to eightfold. If such a check
//! finds other content, it may have come just after publication, so the next polls send the validators of the older
//! document: only a false 304 can call that unmodified.

use crate::{politeness::http, rules::Rules};
use curlew_model::{FeedSource, Timestamp, Trust, Validators};

/// Maximum length in bytes of one validator of a page: rows are billed by the kilobyte.
const PAGE_VALIDATOR_BYTES: usize = 128;
/// Suffixes that servers append to an entity tag when they compress.
const CODING_SUFFIXES: [&str; 6] = ["--gzip", "-gzip", ";gzip", "-df", "-br", ";br"];
/// Number of full answers in a row, one for each form of the tag, after which a server is assumed to send no 304.
const IGNORED_IS_BLIND: u8 = 2;
const MOST_DOUBLINGS: u8 = 3;
/// Number of signs in a row that prove a server's 304s false; a single sign may come from a stale cache.
const MOST_DOUBTS: u8 = 3;

/// Returns the validators for the next poll, byte for byte (RFC 9110 §13.1); none for an unconditional request.
pub fn to_send(feed: &FeedSource, rules: &Rules, now: Timestamp) -> Validators {
    if feed.polling.trust.distrusted || is_check_due(feed, rules, now) {
        return Validators::default();
    }
    match feed.validators.etag.as_deref().and_then(other_form).filter(|_| feed.polling.trust.ignored > 0) {
        Some(etag) => Validators { etag: Some(etag), ..feed.validators.clone() },
        None => feed.validators.clone(),
    }
}

/// Returns the validators to send for a page, with both forms of its entity tag.
pub fn to_ask(page: &Validators) -> Validators {
    let both = page.etag.as_deref().map(|etag| match other_form(etag) {
        Some(other) if other.starts_with(etag) => other,
        Some(other) => format!("{etag}, {other}"),
        None => etag.to_owned(),
    });
    Validators { etag: both, ..page.clone() }
}

/// Returns the other form of an entity tag that a server may recognize. Compressing proxies make tags weak (RFC 9110
/// §8.8.3.3), which some servers do not match; compressing modules append a suffix, and match their tag in a list.
fn other_form(etag: &str) -> Option<String> {
    let (is_weak, opaque) = etag.strip_prefix("W/").map_or((false, etag), |opaque| (true, opaque));
    let inner =
        opaque.strip_prefix('"')?.strip_suffix('"').filter(|inner| !inner.is_empty() && !inner.contains('"'))?;
    let bare = CODING_SUFFIXES.iter().find_map(|suffix| inner.strip_suffix(suffix)).filter(|bare| !bare.is_empty());
    match bare {
        Some(bare) => Some(format!("{etag}, \"{bare}\"")),
        None => is_weak.then(|| opaque.to_owned()),
    }
}

/// True if a server sends the full document to a client that has it, whatever form of the tag is sent.
pub fn is_blind(trust: &Trust) -> bool {
    trust.ignored >= IGNORED_IS_BLIND
}

/// Returns true if the next poll is unconditional, to check whether the 304s were true.
pub fn is_check_due(feed: &FeedSource, rules: &Rules, now: Timestamp) -> bool {
    let is_ill = feed.failures > 0 || feed.polling.streak.is_some();
    let trust = &feed.polling.trust;
    // While a 304 is in doubt, a conditional request decides.
    let is_decided = trust.distrusted || trust.doubts > 0;
    if feed.validators.is_empty() || is_decided || rules.verify_every.0 == 0 || is_ill {
        return false;
    }
    now >= trust.verify_at.unwrap_or(feed.polled_at + rules.verify_every)
}

/// Returns the validators to keep in a page's row: those that are not too long, since the row must stay small.
pub fn for_page(sent: &Validators) -> Validators {
    let short = |value: &Option<String>| value.clone().filter(|value| value.len() <= PAGE_VALIDATOR_BYTES);
    Validators { etag: short(&sent.etag), last_modified: short(&sent.last_modified) }
}

/// Applies the 304 answer to a conditional request, which updates validators and removes none (RFC 9111 §4.3.4). A 304
/// with a later Last-Modified contradicts itself, so the next poll is unconditional. A 304 to the validators of an
/// outdated document is false.
pub fn unchanged(stored: &mut Validators, trust: &mut Trust, sent: &Validators, now: Timestamp) {
    // The server recognized the form of the tag that was sent.
    trust.ignored = trust.ignored.min(IGNORED_IS_BLIND - 1);
    if trust.doubts > 0 {
        trust.doubts = trust.doubts.saturating_add(1);
        trust.distrusted = trust.doubts >= MOST_DOUBTS;
        if trust.distrusted {
            (trust.doubts, trust.verify_at) = (0, None);
        }
        return;
    }
    let date = |v: &Validators| v.last_modified.as_deref().and_then(http::http_date);
    if let (Some(old), Some(new)) = (date(stored), date(sent))
        && new > old
    {
        trust.verify_at = Some(now);
    }
    for (old, new) in [(&mut stored.etag, &sent.etag), (&mut stored.last_modified, &sent.last_modified)] {
        if new.is_some() {
            old.clone_from(new);
        }
    }
}

/// Applies a full answer, whose content has this `hash`; `was_check` is true if the request verified earlier 304s.
pub fn whole(feed: &FeedSource, hash: u64, sent: &Validators, was_check: bool, rules: &Rules, now: Timestamp) -> Trust {
    let mut trust = feed.polling.trust;
    let is_same = hash == trust.content || trust.content == 0;
    if was_check && is_same {
        trust.proofs = trust.proofs.saturating_add(1).min(MOST_DOUBLINGS);
    } else if was_check {
        trust.proofs = 0;
        trust.distrusted |= *sent == feed.validators;
        trust.doubts = u8::from(!trust.distrusted && !sent.is_empty());
    } else {
        let was_asked = !feed.validators.is_empty() && !trust.distrusted && trust.doubts == 0;
        if was_asked && hash == trust.content && *sent == feed.validators {
            trust.ignored = trust.ignored.saturating_add(1).min(IGNORED_IS_BLIND);
        } else {
            trust.ignored = trust.ignored.min(IGNORED_IS_BLIND - 1);
        }
        trust.doubts = 0;
    }
    trust.content = hash;
    if is_same && !was_check && trust.verify_at.is_some() {
        // An unchanged answer is not worth a write.
        return trust;
    }
    trust.verify_at = (!sent.is_empty() && !trust.distrusted && rules.verify_every.0 > 0)
        .then(|| now + rules.verify_every.saturating_mul(1 << trust.proofs.min(MOST_DOUBLINGS)));
    trust
}

/// Returns the validators to keep after a full answer: those of the previous document while a 304 is in doubt.
pub fn to_keep(before: &Validators, sent: &Validators, trust: &Trust) -> Validators {
    if trust.doubts > 0 { before.clone() } else { sent.clone() }
}

#[cfg(test)]
mod tests;
