//! Conditional requests: what is sent with them, and whether a server's 304 is true.
//!
//! A well-kept reader sends one unconditional request in a feed's life (row H05). Some servers, and caches before them,
//! answer 304 for ever, though; who always believes that never sees another entry. The trade-off: a feed that gave
//! nothing but 304s for eight days is asked unconditionally once. While that finds nothing new the time to the next
//! such question doubles up to eightfold, so an honest server answers three of them in the first quarter of a year, and
//! none if its feed changes once a week. [`Rules::verify_every`] of zero switches them off.
//!
//! A check that finds something else may have come just after it was published, and the 304s before it were true. So
//! the polls that follow ask with the validators of the older document: a server that is honest answers with the
//! present one, and only a false 304 can say that nothing has changed.

use crate::politeness::http;
use crate::rules::Rules;
use curlew_model::{FeedSource, Timestamp, Trust, Validators};

/// Maximum length of one validator of a page, in bytes: a row is billed by the kilobyte.
const PAGE_VALIDATOR_BYTES: usize = 128;
/// Words that servers append to an entity tag when they compress.
const CODING_SUFFIXES: [&str; 6] = ["--gzip", "-gzip", ";gzip", "-df", "-br", ";br"];
/// Number of whole answers in a row that repeat a document under its validators after which a server counts as one that
/// never says 304: one for each form of the entity tag.
const IGNORED_IS_BLIND: u8 = 2;
/// Maximum number of times that the time between two checks doubles.
const MOST_DOUBLINGS: u8 = 3;
/// Number of successive signs that prove a server's 304s false. A sign is a check that finds other content, or a 304 to
/// the validators of what that replaced. One such 304 may come from a cache that is not quite up to date.
const MOST_DOUBTS: u8 = 3;

/// The validators to send with the next poll, byte for byte as the server gave them (RFC 9110 §13.1). Empty for an
/// unconditional request.
pub fn to_send(feed: &FeedSource, rules: &Rules, now: Timestamp) -> Validators {
    if feed.polling.trust.distrusted || is_check_due(feed, rules, now) {
        return Validators::default();
    }
    match feed.validators.etag.as_deref().and_then(other_form).filter(|_| feed.polling.trust.ignored > 0) {
        Some(etag) => Validators { etag: Some(etag), ..feed.validators.clone() },
        None => feed.validators.clone(),
    }
}

/// The validators to send for a page: its row does not remember what its server made of them, so that both forms of an
/// entity tag go out.
pub fn to_ask(page: &Validators) -> Validators {
    let both = page.etag.as_deref().map(|etag| match other_form(etag) {
        Some(other) if other.starts_with(etag) => other,
        Some(other) => format!("{etag}, {other}"),
        None => etag.to_owned(),
    });
    Validators { etag: both, ..page.clone() }
}

/// The other form by which a server may know an entity tag that was changed on its way to us, as `If-None-Match` gives
/// it.
///
/// A proxy that compresses makes a tag weak (RFC 9110 §8.8.3.3), and some servers compare strings where §13.1.2 asks
/// for the weak comparison: they know the strong form, alone. Modules that compress append a word inside the quotes,
/// and then do not know what comes back: they find their own tag in a list of both.
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

/// Returns true if a server goes on sending the whole document to a client that has it already, in whatever form it is
/// asked: its feed is polled as one without validators.
pub fn is_blind(trust: &Trust) -> bool {
    trust.ignored >= IGNORED_IS_BLIND
}

/// Returns true if the next poll is unconditional, to check whether the 304s were true.
pub fn is_check_due(feed: &FeedSource, rules: &Rules, now: Timestamp) -> bool {
    let is_ill = feed.failures > 0 || feed.polling.streak.is_some();
    let trust = &feed.polling.trust;
    // While it is in doubt whether the last check found a false 304, a conditional request tells.
    let is_decided = trust.distrusted || trust.doubts > 0;
    if feed.validators.is_empty() || is_decided || rules.verify_every.0 == 0 || is_ill {
        return false;
    }
    // The first whole answer says when; a row without one is from a time when there were no checks.
    now >= trust.verify_at.unwrap_or(feed.polled_at + rules.verify_every)
}

/// The validators of a page to keep with its row, which is to stay small: those that are not too long.
pub fn for_page(sent: &Validators) -> Validators {
    let short = |value: &Option<String>| value.clone().filter(|value| value.len() <= PAGE_VALIDATOR_BYTES);
    Validators { etag: short(&sent.etag), last_modified: short(&sent.last_modified) }
}

/// Applies a 304 to a conditional request: validators are brought up to date and none is taken away (RFC 9111 §4.3.4).
/// One that names a later Last-Modified than the document that it calls unmodified says itself that something has
/// changed: the next poll asks unconditionally. One to the validators of a document that is known to be outdated is
/// false.
pub fn unchanged(stored: &mut Validators, trust: &mut Trust, sent: &Validators, now: Timestamp) {
    // The form that was sent last is one that works.
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

/// Applies a complete answer. `content` is a hash of what it says, `sent` its validators, and `was_check` whether the
/// request was made unconditionally to look into the 304s that came before. [`to_keep`] says what becomes of the
/// validators.
pub fn whole(
    feed: &FeedSource,
    content: u64,
    sent: &Validators,
    was_check: bool,
    rules: &Rules,
    now: Timestamp,
) -> Trust {
    let mut trust = feed.polling.trust;
    let is_same = content == trust.content || trust.content == 0;
    if was_check && is_same {
        trust.proofs = trust.proofs.saturating_add(1).min(MOST_DOUBLINGS);
    } else if was_check {
        trust.proofs = 0;
        // Other content under the same validators needs no second look; without any there is nothing to believe.
        trust.distrusted |= *sent == feed.validators;
        trust.doubts = u8::from(!trust.distrusted && !sent.is_empty());
    } else {
        // A conditional request was answered in full, as it should be if something has changed.
        let was_asked = !feed.validators.is_empty() && !trust.distrusted && trust.doubts == 0;
        if was_asked && content == trust.content && *sent == feed.validators {
            trust.ignored = trust.ignored.saturating_add(1).min(IGNORED_IS_BLIND);
        } else {
            trust.ignored = trust.ignored.min(IGNORED_IS_BLIND - 1);
        }
        trust.doubts = 0;
    }
    trust.content = content;
    if is_same && !was_check && trust.verify_at.is_some() {
        // A server that sends the same again and again is no reason to write anything down.
        return trust;
    }
    trust.verify_at = (!sent.is_empty() && !trust.distrusted && rules.verify_every.0 > 0)
        .then(|| now + rules.verify_every.saturating_mul(1 << trust.proofs.min(MOST_DOUBLINGS)));
    trust
}

/// The validators to keep after a whole answer that made this of the trust: its own, unless it has to be seen what the
/// server says to those of the document before.
pub fn to_keep(before: &Validators, sent: &Validators, trust: &Trust) -> Validators {
    if trust.doubts > 0 { before.clone() } else { sent.clone() }
}

#[cfg(test)]
mod tests;
