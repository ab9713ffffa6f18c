//! Trace ids: every chain of jobs has one, which each job passes on to the jobs that follow from it.

use crate::address::hash_hex;
use curlew_model::{Envelope, ExtractJob, HostKey, Job, SourceKey, Timestamp, TraceId};

const TIME_DIGITS: usize = 12;
const HASH_DIGITS: usize = 20;

/// Returns the id of a chain that a job of this kind begins, for this subject at this time.
pub fn begin(kind: &str, subject: &str, at: Timestamp) -> TraceId {
    let hash = hash_hex(format!("{kind} {subject} {at}").as_bytes());
    let millis = at.as_millis().clamp(0, (1 << (4 * TIME_DIGITS)) - 1);
    match TraceId::new(&format!("{millis:0TIME_DIGITS$x}{}", &hash[..HASH_DIGITS])) {
        Ok(id) => id,
        Err(error) => unreachable!("the digits have the form of a trace id: {error}"),
    }
}

/// Returns the id of the chain of a job. A job without an id gets the same one each time it runs.
pub fn trace_id(job: &Job) -> TraceId {
    let begun = || {
        let (subject, at) = job.work.chain();
        begin(job.work.kind(), &subject, at)
    };
    job.trace.clone().unwrap_or_else(begun)
}

/// Returns the id of the chain for the discovery of a site.
pub fn of_discovery(site: &SourceKey) -> TraceId {
    begin("discover", site.as_str(), Timestamp::EPOCH)
}

/// Returns the id of the chain for a step of a backfill; each step has one, since a back catalogue may take months.
pub fn of_backfill(backfill: &SourceKey, step: u32) -> TraceId {
    begin("backfill", &format!("{backfill} {step}"), Timestamp::EPOCH)
}

/// Returns the id of the chain for a sample's re-checks of a host key.
pub fn of_recheck(host: &HostKey, at: Timestamp) -> TraceId {
    begin("recheck", host.as_str(), at)
}

/// Returns the id of the chain that an extraction belongs to.
pub fn of_extraction(job: &Envelope<Box<ExtractJob>>) -> TraceId {
    let begun = || begin(ExtractJob::NAME, job.work.page.as_str(), Timestamp::EPOCH);
    job.trace.clone().unwrap_or_else(begun)
}

/// Returns the job with the id of its chain, so that the jobs that follow from it get the same id.
pub fn traced(job: Job) -> Job {
    let trace = trace_id(&job);
    job.traced(Some(trace))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;
    use curlew_model::PollJob;

    #[test]
    fn an_id_says_when_its_chain_began_and_stays_the_same() {
        let at = Timestamp::from_millis(1_795_000_000_123);
        let id = begin("poll", "a", at);
        assert_eq!(id.began(), Some(at));
        assert_eq!(id, begin("poll", "a", at));
        for other in [begin("poll", "b", at), begin("fetch", "a", at), begin("poll", "a", Timestamp::EPOCH)] {
            assert_ne!(id, other);
        }
        assert_eq!(begin("poll", "a", Timestamp::MIN).began(), None);
        assert!(begin("poll", "a", Timestamp::MAX).began().is_some());
    }

    #[test]
    fn a_job_without_an_id_gets_one_and_keeps_it() {
        let key = SourceKey::new("0123456789abcdef0123456789abcdef").unwrap();
        let old = Job::new(PollJob::new(key, "https://example.org/feed".into()));
        let message = old.to_message().unwrap();
        assert!(!message.contains("trace"), "{message}");
        let traced = traced(Job::from_message(&message).unwrap());
        assert_eq!(traced.trace, Some(trace_id(&old)));
        assert_eq!(Job::from_message(&traced.to_message().unwrap()).unwrap().trace, Some(trace_id(&old)));
    }
}
