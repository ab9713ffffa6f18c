//! Posts the new matches of a watch to its receiver, in order, under the same politeness rules as any other call.

use crate::watches::{Match, ReceiverState, SECRET_PREFIX, Watch, Watches, change_receiver, job_of, load, outbox_of};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use curlew_catalog::hidden::{hidden_hosts, is_hidden};
use curlew_catalog::listing::all_keys;
use curlew_catalog::object;
use curlew_catalog::segment::RecordReader;
use curlew_crawl::politeness::visit::{CallEnd, LeaseOutcome, Visit};
use curlew_model::{DeliverJob, HoldReason, Job, Millis, PageId, PageState, Record, Timestamp};
use curlew_policy::address;
use curlew_policy::delivery::after_refusal;
use curlew_policy::politeness::admission::NotNow;
use curlew_policy::politeness::http;
use curlew_ports::Post;
use curlew_ports::stage::{Result, StageError, Verdict};
use hmac::{Hmac, KeyInit, Mac};
use serde::Serialize;
use sha2::Sha256;
use url::Url;

const DELIVERIES_PER_VISIT: usize = 50;
const EXCERPT_CHARS: usize = 300;
/// Maximum wait that a receiver can request by `Retry-After`.
const LONGEST_WAIT: Millis = Millis::from_days(1);
const JSON: &str = "application/json";

#[derive(Serialize)]
struct Webhook<'a> {
    watch: &'a str,
    query: &'a str,
    matches: Vec<MatchedPage<'a>>,
}

#[derive(Serialize)]
struct MatchedPage<'a> {
    id: &'a PageId,
    url: &'a str,
    title: &'a str,
    host: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    site_name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    author: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    language: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    published: Option<Timestamp>,
    fetched_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    image: Option<&'a str>,
    excerpt: String,
}

enum ReceiverRefusal {
    /// The receiver failed for this reason, and must not be called before this instant.
    Failed(String, Timestamp),
    /// The visit ended without an answer of the receiver; the job is deferred to this instant.
    Later(Timestamp),
}

impl Watches {
    /// Runs a delivery job; the job may run more than once.
    pub async fn deliver(&self, job: &DeliverJob) -> Result<Verdict> {
        let now = self.politeness.clock.now();
        let Some(watch) = load(self.politeness.blobs.as_ref(), &job.watch).await? else {
            return Ok(Verdict::Drop("the watch was removed".into()));
        };
        if let Some(at) = watch.receiver.retry_at.filter(|at| *at > now) {
            // Only the job of this retry waits for it. The job may come early: clocks differ, and are adjusted.
            return Ok(match job.retry_at == Some(at) {
                true => Verdict::Defer(at),
                false => Verdict::Drop(format!("the receiver is tried again at {at}, by a job of its own")),
            });
        }
        let waiting = all_keys(self.politeness.blobs.as_ref(), &outbox_of(&watch.name), None).await?;
        if waiting.is_empty() {
            return Ok(Verdict::Done);
        }
        let url = address::parse(&watch.to, None).map_err(|e| StageError::Job(e.to_string()))?;
        let host = self.politeness.key_of(&url).map_err(|e| StageError::Job(e.to_string()))?;
        let told = match self.politeness.open(&host, &format!("deliver {}", watch.name)).await? {
            LeaseOutcome::Granted(mut visit) => {
                let told = self.tell(&mut visit, &watch, &url, &waiting).await;
                visit.give_back().await;
                told?
            }
            LeaseOutcome::NotNow(not_now) if not_now.is_brief() => return Ok(Verdict::Defer(not_now.until)),
            LeaseOutcome::NotNow(NotNow { until, why }) => {
                let why = format!("the host is held ({})", why.map_or("", HoldReason::as_str));
                Err(ReceiverRefusal::Failed(why, until))
            }
            LeaseOutcome::Blocked => Err(ReceiverRefusal::Failed("the host is blocked".into(), now)),
        };
        match told {
            Ok(true) => Ok(Verdict::Defer(self.politeness.clock.now())),
            Ok(false) => Ok(Verdict::Done),
            Err(refusal) => self.failed(&watch, refusal).await,
        }
    }

    /// Posts the waiting deliveries, at most [`DELIVERIES_PER_VISIT`]; returns true if others remain.
    async fn tell(
        &self,
        visit: &mut Visit,
        watch: &Watch,
        url: &Url,
        waiting: &[String],
    ) -> Result<Result<bool, ReceiverRefusal>> {
        // Another job may have delivered some of them in the meantime.
        let Some(watch) = load(self.politeness.blobs.as_ref(), &watch.name).await? else { return Ok(Ok(false)) };
        for key in waiting.iter().take(DELIVERIES_PER_VISIT) {
            let Some(blob) = self.politeness.blobs.get(key).await? else { continue };
            // A damaged object must not block the other deliveries.
            let matches: Vec<Match> = serde_json::from_slice(&blob.bytes).unwrap_or_else(|error| {
                tracing::error!(watch = watch.name, key, %error, "matches that cannot be read are not delivered");
                Vec::new()
            });
            let records = self.present(&watch, &matches).await?;
            if !records.is_empty() {
                let end = visit.tell(url, self.post(&watch, key, &records)?).await?;
                let failure = visit.failure.take().map(|failure| failure.to_string());
                let now = self.politeness.clock.now();
                if let Some(refusal) = refusal_of(end, failure, now) {
                    return Ok(Err(refusal));
                }
                let took = |receiver: &mut ReceiverState| receiver.took(records.iter().map(|r| r.id.clone()), now);
                change_receiver(self.politeness.blobs.as_ref(), &watch.name, took).await?;
                tracing::info!(watch = watch.name, to = watch.to, matches = records.len(), "matches were delivered");
            }
            self.politeness.blobs.delete(key).await?;
        }
        Ok(Ok(waiting.len() > DELIVERIES_PER_VISIT))
    }

    /// Returns the records of the matches that are not gone, hidden, expired or already delivered.
    async fn present(&self, watch: &Watch, matches: &[Match]) -> Result<Vec<Record>> {
        let (reader, now) = (RecordReader(self.politeness.blobs.as_ref()), self.politeness.clock.now());
        let hidden = hidden_hosts(self.politeness.blobs.as_ref()).await?;
        let mut records = Vec::new();
        for Match { page, .. } in matches.iter().filter(|found| !watch.receiver.recent.contains(&found.page)) {
            let Some((row, _)) = self.pages.get(page).await? else { continue };
            let PageState::Accepted { location, .. } = &row.state else { continue };
            let Some(record) = reader.read(location).await? else { continue };
            let has_expired = record.unavailable_after.is_some_and(|at| at <= now);
            if !has_expired && !is_hidden(&hidden, &record.url) {
                records.push(record);
            }
        }
        Ok(records)
    }

    /// Returns the request that posts these records; `key` is that of their outbox object.
    fn post(&self, watch: &Watch, key: &str, records: &[Record]) -> Result<Post> {
        let matches = records.iter().map(matched).collect();
        let body = object::json(&Webhook { watch: &watch.name, query: &watch.query, matches })?;
        let id = key.rsplit('/').next().unwrap_or_default().trim_end_matches(".json");
        let headers = standard_headers(watch, id, self.politeness.clock.now(), &body);
        Ok(Post { content_type: JSON, body: body.into(), headers })
    }

    /// Stores the failure of a receiver and the time of the next attempt. The job of that attempt is sent first, so a
    /// crash can leave a superfluous job, but never lose one.
    async fn failed(&self, watch: &Watch, refusal: ReceiverRefusal) -> Result<Verdict> {
        let (blobs, now) = (self.politeness.blobs.as_ref(), self.politeness.clock.now());
        let (why, earliest) = match refusal {
            ReceiverRefusal::Later(until) => return Ok(Verdict::Defer(until)),
            ReceiverRefusal::Failed(why, earliest) => (why, earliest),
        };
        let Some(known) = load(blobs, &watch.name).await? else {
            return Ok(Verdict::Drop("the watch was removed".into()));
        };
        let since = known.receiver.failing_since.unwrap_or(now);
        let failures = known.receiver.failures.saturating_add(1);
        let retry_at = after_refusal(failures, since, earliest, now);
        if let Some(at) = retry_at {
            self.queue.send(&[(Job::new(job_of(&known, retry_at)), at)]).await?;
        }
        let next = change_receiver(blobs, &watch.name, |receiver| {
            (receiver.failures, receiver.failing_since) = (failures, Some(since));
            (receiver.error, receiver.retry_at) = (Some(why.clone()), retry_at);
            receiver.given_up = retry_at.is_none();
            if receiver.given_up {
                // When an operator puts the job back into its queue, the week starts again.
                (receiver.failures, receiver.failing_since) = (0, None);
            }
        })
        .await?;
        let Some(next) = next else { return Ok(Verdict::Drop("the watch was removed".into())) };
        tracing::warn!(
            watch = next.name,
            to = next.to,
            reason = why,
            retry_at = ?next.receiver.retry_at,
            "a receiver took nothing"
        );
        match next.receiver.retry_at {
            Some(_) => Ok(Verdict::Done),
            None => Err(StageError::Job(format!("the receiver {} took nothing for a week: {why}", next.to))),
        }
    }
}

/// Returns the receiver's refusal if a call ended in one; `failure` describes a failed call.
fn refusal_of(end: CallEnd, failure: Option<String>, now: Timestamp) -> Option<ReceiverRefusal> {
    match end {
        CallEnd::Reply(reply) if matches!(reply.status, 200..300) => None,
        CallEnd::Reply(reply) => {
            let asked = reply.headers.retry_after.as_deref().and_then(|value| http::retry_after(value, now));
            let earliest = asked.map_or(now, |at| at.min(now + LONGEST_WAIT));
            Some(ReceiverRefusal::Failed(format!("it answered {}", reply.status), earliest))
        }
        CallEnd::Rejected(why) => Some(ReceiverRefusal::Failed(why.to_string(), now)),
        CallEnd::Later(until) | CallEnd::Elsewhere(until) | CallEnd::Refused(until) | CallEnd::Held(until, _) => {
            Some(failure.map_or(ReceiverRefusal::Later(until), |why| ReceiverRefusal::Failed(why, until)))
        }
    }
}

/// Returns the Standard Webhooks headers: an id that stays the same when a delivery is repeated, the time, a signature.
fn standard_headers(watch: &Watch, id: &str, now: Timestamp, body: &[u8]) -> Vec<(&'static str, String)> {
    let seconds = (now.as_millis() / 1_000).to_string();
    let mut headers = vec![("webhook-id", id.to_owned()), ("webhook-timestamp", seconds.clone())];
    let key = watch.secret.as_deref().and_then(|secret| STANDARD.decode(secret.strip_prefix(SECRET_PREFIX)?).ok());
    headers.extend(key.map(|key| {
        // HMAC takes a key of any length.
        let mac = Hmac::<Sha256>::new_from_slice(&key).map(|mac| {
            mac.chain_update(format!("{id}.{seconds}.")).chain_update(body).finalize().into_bytes().to_vec()
        });
        ("webhook-signature", format!("v1,{}", STANDARD.encode(mac.unwrap_or_default())))
    }));
    headers
}

fn matched(record: &Record) -> MatchedPage<'_> {
    // A page may limit how much of its text is shown.
    let shown = record.snippet_limit.0.map_or(EXCERPT_CHARS, |limit| EXCERPT_CHARS.min(limit as usize));
    MatchedPage {
        id: &record.id,
        url: &record.url,
        title: &record.title,
        host: &record.host,
        site_name: record.site_name.as_deref(),
        author: record.author.as_deref(),
        language: record.language.as_deref(),
        published: record.published,
        fetched_at: record.fetched_at,
        image: record.image.as_deref(),
        excerpt: record.text.chars().take(shown).collect(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;

    #[test]
    fn a_webhook_is_signed_as_standard_webhooks_say() {
        // Example from the specification (standard-webhooks/standard-webhooks, signature scheme).
        let watch = Watch {
            name: "0123456789abcdef".into(),
            query: "mud".into(),
            to: "https://example.org/hook".into(),
            secret: Some("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw".into()),
            added: Timestamp::EPOCH,
            receiver: ReceiverState::default(),
        };
        let body = br#"{"test": 2432232314}"#;
        let at = Timestamp::from_millis(1_614_265_330_000);
        let headers = standard_headers(&watch, "msg_p5jXN8AQM9LWM0D4loKWxJek", at, body);
        assert_eq!(headers[2], ("webhook-signature", "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=".to_owned()));
    }
}
