//! Shows owners the state of their sites and accepts their requests; [`crate::owner_jobs::Own`] does longer work.

use crate::block::{BlockedBy, Blocks};
use crate::objects::{self, readable};
use crate::suggest::{Refusal, RefusedAddress, shortened};
use curlew_catalog::listing::all_keys;
use curlew_crawl::politeness::access::Politeness;
use curlew_crawl::politeness::visit::robots::{as_last_asked, compile};
use curlew_model::{
    Challenge, Claim, HostReport, Job, Millis, OwnJob, OwnerRequest, Ownership, RobotsNotes, Timestamp,
};
use curlew_policy::address::{self, hash_hex};
use curlew_policy::politeness::pace;
use curlew_policy::site::ownership::{self, GrantExtent, RequestRefusal};
use curlew_ports::stage::{Result, StageError};
use curlew_ports::{Blobs, PortError, Queue};
use futures::FutureExt;
use std::sync::Arc;
use url::{Host, Url};

/// Prefix of the keys of claims; there is one object per host.
pub(crate) const PREFIX: &str = "owners/";
/// Maximum number of bytes of a robots.txt that are shown to its owner.
const ROBOTS_SHOWN: usize = 4 * 1024;
/// Maximum number of attempts to set or lift a block while its owners keep requesting the opposite.
const SETTLE_TRIES: u32 = 4;
const DIGITS: usize = 32;

/// Answers owners' requests as far as that needs no calls to sites.
#[derive(Clone)]
pub struct Owners {
    /// Provides claims, host states, copies of robots.txt, and the address guard; makes no calls here.
    pub politeness: Arc<Politeness>,
    /// Blocks and unblocks hosts.
    pub blocks: Blocks,
    /// Queue of the jobs for longer work.
    pub queue: Arc<dyn Queue>,
    /// URL scheme for fetching proofs: `https`, or `http` if the operator configures it.
    pub scheme: &'static str,
}

/// A claim to a host, as shown to its claimant.
#[derive(Clone, Debug, PartialEq)]
pub struct ClaimView {
    /// Canonical name of the host.
    pub host: String,
    /// Name of the TXT record that may contain the challenge.
    pub record: String,
    /// Address of the file that may contain the challenge.
    pub file: String,
    /// Name of the home page's meta tag that may contain the challenge.
    pub tag: &'static str,
    /// Stored requests and results of searches for a proof, if there are any.
    pub claim: Option<Claim>,
    /// Time at which the proof expires, if the claim is proven.
    pub proven_until: Option<Timestamp>,
    /// State of the host; `None` unless the claim is proven.
    pub held: Option<HostView>,
}

/// State of a host and its stored data, as shown to its owner.
#[derive(Clone, Debug, PartialEq)]
pub struct HostView {
    /// The party that has blocked crawling and search of the host, if there is one.
    pub block: BlockedBy,
    /// True if the owner has turned off the reading of the back catalogue.
    pub is_without_history: bool,
    /// Earliest time of the next call, ignoring holds.
    pub not_before: Timestamp,
    /// End and reason of the hold, if the host is on hold.
    pub hold: Option<(Timestamp, &'static str)>,
    /// Time since which a bot wall has been seen, and its vendor (empty if unknown).
    pub wall: Option<(Timestamp, String)>,
    /// Minimum time between two calls.
    pub pause: Millis,
    /// robots.txt as last fetched, if it was.
    pub robots: Option<RobotsSeen>,
    /// The last report about the host's feeds and pages.
    pub report: Option<HostReport>,
}

/// A robots.txt file, as shown to the owner of its site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RobotsSeen {
    /// Time of the last request for the file.
    pub at: Timestamp,
    /// Time until which the file is used without another request.
    pub until: Timestamp,
    /// Beginning of the file's text.
    pub text: String,
    /// True if the file allows the crawler to fetch the home page.
    pub lets_in: bool,
}

/// Outcome of an owner's request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestOutcome {
    /// The request is granted; a job does the rest of the work, if there is any.
    Granted,
    /// Only the DNS is searched for a proof: the daily limit of calls for proofs is reached.
    ByDnsOnly,
    /// The claim is not proven, or its proof has expired.
    Unproven,
    /// An equal request was made recently, and may be repeated from this instant on.
    TooSoon(Timestamp),
    /// A block by the operator prevents the request, or the host has the maximum number of proven claims.
    Refused,
}

impl Owners {
    /// Returns the canonical name of the host, typed as a name or an address, that somebody wants to claim.
    pub fn site_of(&self, typed: &str) -> Result<String, RefusedAddress> {
        let typed = typed.trim();
        let refused = |why| RefusedAddress { typed: shortened(typed), why };
        let url = address::parse_typed(typed).map_err(|e| refused(Refusal::Form(e.to_string())))?;
        let Some(Host::Domain(name)) = url.host() else { return Err(refused(Refusal::NoName)) };
        let name = name.trim_end_matches('.').to_owned();
        if name.contains('*') {
            return Err(refused(Refusal::Form("'*' is no part of a host's name".to_owned())));
        }
        if address::has_keys_below(&name, &self.politeness.groups) {
            return Err(refused(Refusal::Shared));
        }
        let home = format!("{}://{name}/", self.scheme);
        self.politeness.fetch.vet(&home).map_err(|why| refused(Refusal::Unsafe(why)))?;
        Ok(name)
    }

    /// Returns the claim with this challenge, as shown to its claimant.
    pub async fn claimed(&self, host: &str, challenge: &Challenge) -> Result<ClaimView> {
        let now = self.politeness.clock.now();
        let all = load_claims(self.politeness.blobs.as_ref(), host).await?;
        let claim = ownership::claim(&all, challenge).cloned();
        let proven_until = claim.as_ref().and_then(|claim| ownership::proven_until(claim, now));
        let held = match proven_until {
            Some(_) => Some(self.kept(host, all).await?),
            None => None,
        };
        Ok(ClaimView {
            host: host.to_owned(),
            record: ownership::txt_name(host),
            file: ownership::file_url(host, self.scheme).map(String::from).unwrap_or_default(),
            tag: ownership::META,
            claim,
            proven_until,
            held,
        })
    }

    /// Accepts a request. Unless `may_call` is set, only the DNS is searched for a proof.
    pub async fn request(
        &self,
        host: &str,
        challenge: &Challenge,
        request: OwnerRequest,
        may_call: bool,
    ) -> Result<RequestOutcome> {
        let (now, blobs) = (self.politeness.clock.now(), self.politeness.blobs.as_ref());
        // Checked before the request is stored, so that nobody waits for a request that is never carried out.
        if request == OwnerRequest::Unblock && self.blocks.blocked_by(host).await? == BlockedBy::Operator {
            let all = load_claims(blobs, host).await?;
            let is_proven =
                ownership::claim(&all, challenge).is_some_and(|c| ownership::proven_until(c, now).is_some());
            return Ok(if is_proven { RequestOutcome::Refused } else { RequestOutcome::Unproven });
        }
        let decide = |all| ownership::ask(all, challenge, request, may_call, now);
        let dns_only = match change_claims(blobs, host, decide).await? {
            Ok(granted) => granted == GrantExtent::ByDnsOnly,
            Err(RequestRefusal::Unproven) => return Ok(RequestOutcome::Unproven),
            Err(RequestRefusal::Until(at)) => return Ok(RequestOutcome::TooSoon(at)),
            Err(RequestRefusal::Full) => return Ok(RequestOutcome::Refused),
        };
        if matches!(request, OwnerRequest::Block | OwnerRequest::Forget) {
            settle_claims(blobs, &self.blocks, host).await?;
        }
        if matches!(request, OwnerRequest::HistoryOff | OwnerRequest::HistoryOn) {
            let off = ownership::is_history_off(&load_claims(blobs, host).await?);
            self.blocks.turn_history(host, off).await?;
        }
        tracing::info!(%host, ?request, "an owner asks");
        if matches!(request, OwnerRequest::Block | OwnerRequest::HistoryOff | OwnerRequest::HistoryOn) {
            change_claims(blobs, host, |all| (ownership::done(all, challenge, request, now, now), ())).await?;
        } else {
            let (host, challenge) = (host.to_owned(), challenge.clone());
            let job = OwnJob { dns_only, ..OwnJob::new(host, challenge, request) };
            self.queue.send(&[(Job::new(job), now)]).await?;
        }
        change_claims(blobs, host, |all| (ownership::sent(all, challenge, request), ())).await?;
        Ok(if dns_only { RequestOutcome::ByDnsOnly } else { RequestOutcome::Granted })
    }

    async fn kept(&self, host: &str, all: Ownership) -> Result<HostView> {
        let now = self.politeness.clock.now();
        let home = ownership::home_url(host, self.scheme).ok_or_else(|| StageError::Job("no host".into()))?;
        let key = self.politeness.key_of(&home).map_err(|e| StageError::Job(e.to_string()))?;
        let (state, _) = self.politeness.ledger.load(&key).await?;
        Ok(HostView {
            block: self.blocks.blocked_by(host).await?,
            is_without_history: self.blocks.is_without_history(host).await?,
            not_before: pace::next_call_at(&state, &self.politeness.rules, now),
            hold: state.hold_at(now).map(|hold| (hold.until, hold.reason.as_str())),
            wall: state.substitutes.since.map(|since| (since, state.substitutes.vendor)),
            pause: self.politeness.rules.min_pause.max(state.crawl_delay),
            robots: self.robots_of(&home, &state.robots).await?,
            report: all.report,
        })
    }

    /// Returns the host's stored robots.txt, over https if there is one, or else over http.
    async fn robots_of(&self, home: &Url, notes: &RobotsNotes) -> Result<Option<RobotsSeen>> {
        let host = home.host_str().unwrap_or_default();
        for scheme in ["https", "http"] {
            let Some(home) = ownership::home_url(host, scheme) else { continue };
            let origin = address::origin(&home).map_err(|e| StageError::Job(e.to_string()))?;
            let Some(copy) = self.politeness.robots.get(&origin).await? else { continue };
            let copy = as_last_asked(copy, &origin, notes);
            let now = self.politeness.clock.now();
            let rules = compile(self.politeness.pool.as_ref(), &copy, &self.politeness.token, now).await?;
            let shown = copy.body.len().min(ROBOTS_SHOWN);
            return Ok(Some(RobotsSeen {
                at: copy.fetched_at,
                until: copy.fresh_until,
                lets_in: rules.is_some_and(|rules| rules.check(&home).allowed),
                text: String::from_utf8_lossy(&copy.body[..shown]).into_owned(),
            }));
        }
        Ok(None)
    }
}

pub(crate) async fn load_claims(blobs: &dyn Blobs, host: &str) -> Result<Ownership> {
    let stored: Option<Ownership> = objects::load(blobs, &key(host)).await?;
    Ok(Ownership { host: host.to_owned(), ..stored.unwrap_or_default() })
}

/// Changes the claims to a host by compare-and-swap.
pub(crate) async fn change_claims<T>(
    blobs: &dyn Blobs,
    host: &str,
    decide: impl Fn(Ownership) -> (Ownership, T),
) -> Result<T> {
    let unclaimed = || Ownership { host: host.to_owned(), ..Ownership::default() };
    objects::change(blobs, &key(host), unclaimed, |all| {
        let (after, answer) = decide(std::mem::take(all));
        *all = after;
        Ok(answer)
    })
    .await
}

/// Blocks or unblocks a host according to its owners' last request; repeats this if a newer request has arrived.
pub(crate) async fn settle_claims(blobs: &dyn Blobs, blocks: &Blocks, host: &str) -> Result<()> {
    let is_to_be_lifted = || async { Ok(!ownership::is_to_be_blocked(&load_claims(blobs, host).await?)) }.boxed();
    let mut is_wanted = ownership::is_to_be_blocked(&load_claims(blobs, host).await?);
    for _ in 0..SETTLE_TRIES {
        if is_wanted {
            blocks.block_for_owner(host).await?;
        } else {
            blocks.unblock_for_owner(host, &is_to_be_lifted).await?;
        }
        let before = is_wanted;
        is_wanted = ownership::is_to_be_blocked(&load_claims(blobs, host).await?);
        if is_wanted == before {
            return Ok(());
        }
    }
    Err(PortError::Conflict.into())
}

/// Returns all claims, ordered by host; skips damaged objects.
pub async fn claims(blobs: &dyn Blobs) -> Result<Vec<Ownership>> {
    let claims = readable(blobs, all_keys(blobs, PREFIX, None).await?).await?;
    let mut all: Vec<Ownership> = claims.into_iter().map(|(_, claims)| claims).collect();
    all.sort_by(|a, b| a.host.cmp(&b.host));
    Ok(all)
}

/// Deletes the claims to each host that has neither a proven nor a recent one; returns the number of these hosts.
pub async fn expire_claims(blobs: &dyn Blobs, now: Timestamp) -> Result<usize> {
    let mut over = 0;
    for key in all_keys(blobs, PREFIX, None).await? {
        let Some(blob) = blobs.get(&key).await? else { continue };
        // An object that cannot be read proves nothing.
        let all: Option<Ownership> = serde_json::from_slice(&blob.bytes).ok();
        if all.is_none_or(|all| ownership::is_over(&all, now)) {
            blobs.delete(&key).await?;
            over += 1;
        }
    }
    Ok(over)
}

fn key(host: &str) -> String {
    format!("{PREFIX}{}.json", &hash_hex(host.as_bytes())[..DIGITS])
}
