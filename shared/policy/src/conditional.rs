//! Conditional requests: what is sent with them, and whether a server's 304 is true.
//!
//! A well-kept reader sends one unconditional request in a feed's life (row H05). Some servers, and caches before them,
//! answer 304 for ever, though; who always believes that never sees another entry. The trade-off: a feed that gave
//! nothing but 304s for a week is asked unconditionally once. While that finds nothing new the time to the next such
//! question doubles up to eight weeks, so an honest server answers three of them in the first quarter of a year, and
//! none if its feed changes once a week. [`Rules::verify_every`] of zero switches them off.

use crate::{Rules, http};
use curlew_model::{FeedSource, Timestamp, Trust, Validators};

/// The time between two checks doubles so often.
const MOST_DOUBLINGS: u8 = 3;
/// So many checks in a row that find other content than the 304s made believe mean that these are false. One may be
/// chance: an entry that came after the last poll.
const STRIKES: u8 = 2;

/// The validators to send with the next poll, byte for byte as the server gave them (RFC 9110 §13.1). Empty for an
/// unconditional request.
pub fn to_send(feed: &FeedSource, rules: &Rules, now: Timestamp) -> Validators {
    if feed.polling.trust.distrusted || is_check_due(feed, rules, now) {
        return Validators::default();
    }
    feed.validators.clone()
}

/// Whether the next poll asks unconditionally to see whether the 304s were true.
pub fn is_check_due(feed: &FeedSource, rules: &Rules, now: Timestamp) -> bool {
    let is_ill = feed.failures > 0 || feed.polling.ailment.is_some();
    if feed.validators.is_empty() || feed.polling.trust.distrusted || rules.verify_every.0 == 0 || is_ill {
        return false;
    }
    // The first whole answer says when; a row without one is from a time when there were no checks.
    now >= feed.polling.trust.verify_at.unwrap_or(feed.polled_at + rules.verify_every)
}

/// Takes in a 304 to a conditional request: validators are brought up to date and none is taken away (RFC 9111 §4.3.4).
/// One that names a later Last-Modified than the document that it calls unmodified says itself that something has
/// changed: the next poll asks unconditionally.
pub fn unchanged(stored: &mut Validators, trust: &mut Trust, sent: &Validators, now: Timestamp) {
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

/// Takes in a whole answer. `content` is a hash of what it says, `sent` its validators, and `was_check` whether the request
/// was made unconditionally to look into the 304s that came before.
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
        trust.strikes = 0;
    } else if was_check {
        trust.proofs = 0;
        trust.strikes = trust.strikes.saturating_add(1);
        // Other content under the same validators needs no second look.
        trust.distrusted |= *sent == feed.validators || trust.strikes >= STRIKES;
    } else if !is_same {
        // A conditional request was answered with news, as it should be.
        trust.strikes = 0;
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

#[cfg(test)]
mod tests;
