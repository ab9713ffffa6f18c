//! Ownership of sites: proofs, limits and lifetimes (draft-ietf-dnsop-domain-verification-techniques).

use curlew_model::{Challenge, Claim, LookResult, Millis, Miss, OwnerRequest, Ownership, Timestamp, Way};
use url::Url;

/// Label before the host name of the TXT record.
const LABEL: &str = "_curlew-challenge";
/// Path of the file with the challenge (RFC 8615).
const FILE: &str = "/.well-known/curlew-challenge.txt";
/// Name of the meta tag with the challenge.
pub const META: &str = "curlew-challenge";
/// Time for which an unproven claim is stored, with the limits of its host; the URL of the claim's page restores it.
pub const CLAIM_LIFE: Millis = Millis::from_days(1);
/// Lifetime of a proof, after which it must be checked again.
pub const PROOF_LIFE: Millis = Millis::from_days(90);
/// Maximum number of checks a day that call one host; DNS lookups are not counted.
pub const LOOKS_A_DAY: usize = 12;
/// Number of these checks that are reserved for claims never checked before.
pub const LOOKS_FOR_NEW_CLAIMS: usize = 4;
/// Maximum number of claims stored per host. Beyond it, the oldest unproven claim is dropped; it may be made again.
pub const MAX_CLAIMS: usize = 16;
/// Maximum size in bytes of a file with a challenge, including line ends.
const MAX_FILE: usize = 64;

/// Extent to which a request is granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GrantExtent {
    /// The whole request.
    Whole,
    /// Only the DNS lookup.
    ByDnsOnly,
}

/// Reason why a request is not granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestRefusal {
    /// The challenge was not found, or was found too long ago.
    Unproven,
    /// The request was made too recently; contains the time from which it may be repeated.
    Until(Timestamp),
    /// All stored claims to this host are proven, so there is no room for another.
    Full,
}

/// Returns the name whose TXT records may hold the challenge.
pub fn txt_name(host: &str) -> String {
    format!("{LABEL}.{host}")
}

/// Returns the URL of the file with the challenge.
pub fn file_url(host: &str, scheme: &str) -> Option<Url> {
    Url::parse(&format!("{scheme}://{host}{FILE}")).ok()
}

/// Returns the URL of the home page.
pub fn home_url(host: &str, scheme: &str) -> Option<Url> {
    Url::parse(&format!("{scheme}://{host}/")).ok()
}

/// Looks for the challenge in a host's TXT records; one of them must equal it.
pub fn in_records<R: AsRef<[u8]>>(records: &[R], challenge: &Challenge) -> Result<(), Miss> {
    let is_ours = |record: &R| record.as_ref().trim_ascii() == challenge.as_str().as_bytes();
    if records.is_empty() {
        return Err(Miss::Absent);
    }
    if records.iter().any(is_ours) { Ok(()) } else { Err(Miss::Other) }
}

/// Looks for the challenge in a file, which must contain nothing else: a page that echoes its request is no proof.
pub fn in_file(status: u16, body: &[u8], challenge: &Challenge) -> Result<(), Miss> {
    match status {
        200 if body.len() <= MAX_FILE && body.trim_ascii() == challenge.as_str().as_bytes() => Ok(()),
        200 => Err(Miss::Other),
        300..400 => Err(Miss::Redirect),
        404 | 410 => Err(Miss::Absent),
        _ => Err(Miss::Unreachable),
    }
}

/// Looks for the challenge in the meta tags named [`META`] in the head of the home page.
pub fn in_tags<T: AsRef<str>>(tags: &[T], challenge: &Challenge) -> Result<(), Miss> {
    if tags.is_empty() {
        return Err(Miss::Absent);
    }
    if tags.iter().any(|tag| tag.as_ref().trim() == challenge.as_str()) { Ok(()) } else { Err(Miss::Other) }
}

/// Returns the claim with this challenge.
pub fn claim<'a>(all: &'a Ownership, challenge: &Challenge) -> Option<&'a Claim> {
    all.claims.iter().find(|claim| claim.challenge == *challenge)
}

/// Returns the instant until which a claim is proven, if it is.
pub fn proven_until(claim: &Claim, now: Timestamp) -> Option<Timestamp> {
    let until = claim.proof?.1 + PROOF_LIFE;
    (until > now).then_some(until)
}

/// Time after which an unfinished request may be repeated: it may have been lost.
const LOST: Millis = Millis::from_mins(10);

const fn pause(request: OwnerRequest) -> Millis {
    match request {
        // Limits on calls to the site.
        OwnerRequest::Look => Millis::from_mins(1),
        OwnerRequest::Visit => Millis::from_days(1),
        // Reports, erasures and unblocks read all rows of pages.
        OwnerRequest::Report | OwnerRequest::Forget | OwnerRequest::Unblock => Millis::from_mins(10),
        // Two small writes, which should take effect soon.
        OwnerRequest::Block | OwnerRequest::HistoryOff | OwnerRequest::HistoryOn => Millis::ZERO,
    }
}

/// Records a claimant's request; returns the state and the decision. Without `may_call`, a look uses only the DNS.
pub fn ask(
    mut all: Ownership,
    challenge: &Challenge,
    request: OwnerRequest,
    may_call: bool,
    now: Timestamp,
) -> (Ownership, Result<GrantExtent, RequestRefusal>) {
    let known = claim(&all, challenge);
    if request != OwnerRequest::Look && known.and_then(|claim| proven_until(claim, now)).is_none() {
        return (all, Err(RequestRefusal::Unproven));
    }
    let again = known.and_then(|claim| {
        let asked = *claim.asked.get(&request)?;
        let is_done = claim.done.get(&request).is_some_and(|done| *done >= asked);
        let may_be_lost = claim.unsent.contains(&request) && !is_done;
        (!may_be_lost).then_some(asked + if is_done { pause(request) } else { pause(request).min(LOST) })
    });
    if let Some(again) = again.filter(|again| *again > now) {
        return (all, Err(RequestRefusal::Until(again)));
    }
    let is_new = known.is_none();
    let Some(claim) = place(&mut all, challenge, now) else { return (all, Err(RequestRefusal::Full)) };
    claim.asked.insert(request, now);
    claim.unsent.insert(request);
    if request != OwnerRequest::Look {
        return (all, Ok(GrantExtent::Whole));
    }
    all.looks.retain(|look| *look + Millis::from_days(1) > now);
    let room = if is_new { LOOKS_A_DAY } else { LOOKS_A_DAY - LOOKS_FOR_NEW_CLAIMS };
    if !may_call || all.looks.len() >= room {
        return (all, Ok(GrantExtent::ByDnsOnly));
    }
    all.looks.push(now);
    (all, Ok(GrantExtent::Whole))
}

fn place<'a>(all: &'a mut Ownership, challenge: &Challenge, now: Timestamp) -> Option<&'a mut Claim> {
    if let Some(at) = all.claims.iter().position(|claim| claim.challenge == *challenge) {
        return all.claims.get_mut(at);
    }
    if all.claims.len() >= MAX_CLAIMS {
        let oldest = all.claims.iter().position(|claim| proven_until(claim, now).is_none())?;
        all.claims.remove(oldest);
    }
    all.claims.push(Claim {
        challenge: challenge.clone(),
        asked: Default::default(),
        unsent: Default::default(),
        done: Default::default(),
        misses: vec![],
        proof: None,
    });
    all.claims.last_mut()
}

/// Records the result of a look, unless a later one is recorded. A proof that is no longer found becomes invalid.
pub fn looked(mut all: Ownership, challenge: &Challenge, look: LookResult) -> Ownership {
    let LookResult { at: now, found, misses } = look;
    let Some(claim) = place(&mut all, challenge, now) else { return all };
    if claim.done.get(&OwnerRequest::Look).is_some_and(|last| *last > now) {
        return all;
    }
    claim.done.insert(OwnerRequest::Look, now);
    let was = claim.proof.map(|(way, _)| way);
    let is_there_no_more = |(way, miss): &(Way, Miss)| Some(*way) == was && matches!(miss, Miss::Absent | Miss::Other);
    claim.proof = match found {
        Some(way) => Some((way, now)),
        None if misses.iter().any(is_there_no_more) => None,
        None => claim.proof,
    };
    claim.misses = misses;
    all
}

/// Records that the job of a request was sent. Until then the request may be repeated, since the job may be missing.
pub fn sent(mut all: Ownership, challenge: &Challenge, request: OwnerRequest) -> Ownership {
    if let Some(claim) = all.claims.iter_mut().find(|claim| claim.challenge == *challenge) {
        claim.unsent.remove(&request);
    }
    all
}

/// Records that a request made at `asked` was carried out; ignored if it was repeated since, which sent another job.
pub fn done(
    mut all: Ownership,
    challenge: &Challenge,
    request: OwnerRequest,
    asked: Timestamp,
    now: Timestamp,
) -> Ownership {
    let is_last = |claim: &Claim| claim.asked.get(&request).is_none_or(|last| *last <= asked);
    if let Some(claim) = all.claims.iter_mut().find(|claim| claim.challenge == *challenge && is_last(claim)) {
        claim.done.insert(request, now);
    }
    all
}

/// True if a request made at `asked` was carried out, and was not repeated since.
pub fn is_done(claim: &Claim, request: OwnerRequest, asked: Timestamp) -> bool {
    claim.asked.get(&request) == Some(&asked) && claim.done.get(&request).is_some_and(|done| *done >= asked)
}

/// True if the latest request of a host's owners is to block it, so that a late job does not undo a later request.
pub fn is_to_be_blocked(all: &Ownership) -> bool {
    prevail(all, &[OwnerRequest::Block, OwnerRequest::Forget], OwnerRequest::Unblock)
}

/// True if the latest request of a host's owners about its back catalogue forbids reading it.
pub fn is_history_off(all: &Ownership) -> bool {
    prevail(all, &[OwnerRequest::HistoryOff], OwnerRequest::HistoryOn)
}

/// True if one of these requests was made at or after the last request of the opposite.
fn prevail(all: &Ownership, requests: &[OwnerRequest], opposite: OwnerRequest) -> bool {
    let last = |request: &OwnerRequest| all.claims.iter().filter_map(|claim| claim.asked.get(request)).max();
    let made = requests.iter().filter_map(last).max();
    made.is_some() && made >= last(&opposite)
}

/// True if nothing needs to be stored: no claim is proven, and none was made recently.
pub fn is_over(all: &Ownership, now: Timestamp) -> bool {
    let is_recent = |claim: &Claim| claim.asked.values().any(|at| *at + CLAIM_LIFE > now);
    all.claims.iter().all(|claim| proven_until(claim, now).is_none() && !is_recent(claim))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;

    const T0: Timestamp = Timestamp::from_millis(1_800_000_000_000);

    fn challenge(digit: usize) -> Challenge {
        Challenge::new(&format!("{digit:0>40}")).unwrap()
    }

    fn ask(
        all: Ownership,
        n: usize,
        request: OwnerRequest,
        now: Timestamp,
    ) -> (Ownership, Result<GrantExtent, RequestRefusal>) {
        super::ask(all, &challenge(n), request, true, now)
    }

    fn proven(n: usize) -> Ownership {
        let (all, granted) = ask(Ownership::default(), n, OwnerRequest::Look, T0);
        assert_eq!(granted, Ok(GrantExtent::Whole));
        let look = LookResult { at: T0, found: Some(Way::File), misses: vec![(Way::Dns, Miss::Absent)] };
        looked(all, &challenge(n), look)
    }

    #[test]
    fn w07_only_the_challenge_itself_is_a_proof() {
        let (ours, text) = (challenge(7), challenge(7).to_string());
        assert_eq!(in_records(&[b"v=spf1 -all".to_vec(), text.clone().into_bytes()], &ours), Ok(()));
        assert_eq!(in_records::<Vec<u8>>(&[], &ours), Err(Miss::Absent));
        assert_eq!(in_records(&[format!("x{text}")], &ours), Err(Miss::Other));
        assert_eq!(in_file(200, format!("{text}\r\n").as_bytes(), &ours), Ok(()));
        for body in
            [format!("<html>{text}</html>"), format!("{text}{}", " ".repeat(64)), String::new(), text.replace('7', "8")]
        {
            assert_eq!(in_file(200, body.as_bytes(), &ours), Err(Miss::Other), "{body}");
        }
        for (status, miss) in
            [(302, Miss::Redirect), (404, Miss::Absent), (403, Miss::Unreachable), (206, Miss::Unreachable)]
        {
            assert_eq!(in_file(status, text.as_bytes(), &ours), Err(miss));
        }
        assert_eq!(in_tags(&["other", &format!(" {text} ")], &ours), Ok(()));
        assert_eq!(in_tags(&["other"], &ours), Err(Miss::Other));
        let file = file_url("example.org", "https").unwrap();
        assert_eq!(file.as_str(), "https://example.org/.well-known/curlew-challenge.txt");
        assert_eq!(txt_name("example.org"), "_curlew-challenge.example.org");
    }

    #[test]
    fn i06_w06_without_a_proof_nothing_but_a_look_is_granted() {
        use OwnerRequest::{Block, Forget, Report, Unblock, Visit};
        let unproven = Err(RequestRefusal::Unproven);
        for request in [Report, Block, Unblock, Visit, Forget] {
            assert_eq!(ask(Ownership::default(), 1, request, T0), (Ownership::default(), unproven));
            assert_eq!(ask(proven(1), 2, request, T0).1, unproven, "another's proof");
            assert_eq!(ask(proven(1), 1, request, T0).1, Ok(GrantExtent::Whole));
            assert_eq!(ask(proven(1), 1, request, T0 + PROOF_LIFE).1, unproven, "too long ago");
        }
    }

    #[test]
    fn what_is_asked_for_again_has_to_wait() {
        let visit = |all: &Ownership, now| ask(all.clone(), 1, OwnerRequest::Visit, now);
        let (all, first) = visit(&proven(1), T0);
        assert_eq!(first, Ok(GrantExtent::Whole));
        let (all, again) = visit(&all, T0);
        assert_eq!(again, Ok(GrantExtent::Whole), "its job was not sent");
        let all = sent(all, &challenge(1), OwnerRequest::Visit);
        assert_eq!(visit(&all, T0).1, Err(RequestRefusal::Until(T0 + LOST)));
        assert_eq!(visit(&all, T0 + LOST).1, Ok(GrantExtent::Whole), "the job may have been lost");
        let all = done(all, &challenge(1), OwnerRequest::Visit, T0, T0 + Millis::from_secs(1));
        let day = T0 + Millis::from_days(1);
        assert_eq!(visit(&all, day - Millis(1)).1, Err(RequestRefusal::Until(day)));
        assert_eq!(visit(&all, day).1, Ok(GrantExtent::Whole));
        assert_eq!(ask(all, 1, OwnerRequest::Block, T0).1, Ok(GrantExtent::Whole));
    }

    #[test]
    fn of_a_request_that_was_repeated_only_the_last_job_records_that_it_is_done() {
        let (all, _) = ask(proven(1), 1, OwnerRequest::Forget, T0);
        let (all, again) = ask(all, 1, OwnerRequest::Forget, T0 + LOST);
        assert_eq!(again, Ok(GrantExtent::Whole), "the first job may have been lost");
        let later = T0 + LOST + Millis::from_secs(1);
        let of = |all: &Ownership, asked| is_done(claim(all, &challenge(1)).unwrap(), OwnerRequest::Forget, asked);
        let all = done(all, &challenge(1), OwnerRequest::Forget, T0, later);
        assert!(!of(&all, T0) && !of(&all, T0 + LOST));
        let all = done(all, &challenge(1), OwnerRequest::Forget, T0 + LOST, later);
        assert!(!of(&all, T0) && of(&all, T0 + LOST));
    }

    #[test]
    fn w06_a_host_is_called_a_few_times_a_day_whoever_asks() {
        let mut all = Ownership::default();
        let mut look = |n: usize, may_call, at| {
            let (next, granted) = super::ask(std::mem::take(&mut all), &challenge(n), OwnerRequest::Look, may_call, at);
            all = next;
            granted
        };
        let minute = |n: usize| T0 + Millis::from_mins(2 * n as u64);
        assert_eq!(look(0, false, T0), Ok(GrantExtent::ByDnsOnly), "who may not call takes nothing away");
        for n in 1..=LOOKS_A_DAY - LOOKS_FOR_NEW_CLAIMS {
            assert_eq!(look(n % 3, true, minute(n)), Ok(GrantExtent::Whole), "{n}");
        }
        assert_eq!(look(1, true, minute(20)), Ok(GrantExtent::ByDnsOnly), "the rest is kept for claims that are new");
        for n in 0..LOOKS_FOR_NEW_CLAIMS {
            assert_eq!(look(10 + n, true, minute(30 + n)), Ok(GrantExtent::Whole), "{n}");
        }
        for n in 20..60 {
            assert_eq!(look(n, true, minute(n)), Ok(GrantExtent::ByDnsOnly), "the DNS is looked up all the same");
        }
        assert_eq!(look(60, true, T0 + Millis::from_days(2)), Ok(GrantExtent::Whole), "another day");
    }

    #[test]
    fn i05_the_last_word_counts_whoever_of_the_owners_has_it() {
        assert!(!is_to_be_blocked(&proven(1)));
        let mut all = proven(1);
        all.claims.extend(proven(2).claims);
        let words = [
            (1, OwnerRequest::Block, true),
            (2, OwnerRequest::Unblock, false),
            (1, OwnerRequest::Visit, false),
            (2, OwnerRequest::Forget, true),
        ];
        for (minute, (n, request, blocked)) in words.into_iter().enumerate() {
            let (next, granted) = ask(all, n, request, T0 + Millis::from_mins(minute as u64));
            assert_eq!((granted, is_to_be_blocked(&next)), (Ok(GrantExtent::Whole), blocked), "{request:?}");
            all = next;
        }
        let (both, _) = ask(proven(1), 1, OwnerRequest::Unblock, T0);
        assert!(is_to_be_blocked(&ask(both, 1, OwnerRequest::Block, T0).0), "in doubt a site is left alone");
    }

    #[test]
    fn claims_are_few_and_a_proven_one_is_not_pushed_out() {
        let mut all = proven(0);
        for n in 1..40 {
            let now = T0 + Millis::from_hours(3 * n as u64);
            let (next, granted) = ask(all, n, OwnerRequest::Look, now);
            assert_eq!(granted, Ok(GrantExtent::Whole), "{n}");
            all = next;
        }
        assert_eq!(all.claims.len(), MAX_CLAIMS);
        assert!(claim(&all, &challenge(0)).is_some() && claim(&all, &challenge(1)).is_none());
        let now = T0 + Millis::from_days(8);
        for claim in &mut all.claims {
            claim.proof = Some((Way::Dns, T0));
        }
        assert_eq!(ask(all.clone(), 99, OwnerRequest::Look, now).1, Err(RequestRefusal::Full));
        assert!(!is_over(&all, now) && is_over(&all, T0 + PROOF_LIFE + CLAIM_LIFE));
    }

    #[test]
    fn i08_a_proof_ends_when_it_is_taken_away_and_not_when_it_cannot_be_seen() {
        let now = T0 + Millis::from_days(2);
        let at = |at, miss| LookResult { at, found: None, misses: vec![(Way::Dns, Miss::Absent), (Way::File, miss)] };
        let again = |miss| looked(proven(1), &challenge(1), at(now, miss));
        for miss in [Miss::Absent, Miss::Other] {
            assert_eq!(claim(&again(miss), &challenge(1)).unwrap().proof, None);
        }
        for miss in [Miss::Robots, Miss::Blocked, Miss::Held, Miss::Unreachable, Miss::Redirect] {
            let all = again(miss);
            assert_eq!(proven_until(claim(&all, &challenge(1)).unwrap(), now), Some(T0 + PROOF_LIFE), "{miss:?}");
        }
        let late = looked(proven(1), &challenge(1), at(T0 - Millis(1), Miss::Absent));
        assert_eq!(late, proven(1), "the result of an earlier look comes late");
    }
}
