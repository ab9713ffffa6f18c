//! Jobs: the messages in the queues. Each may be delivered more than once.

mod extract;
mod feeds;
mod rows;
mod visit;

pub use extract::{ExtractJob, MainImage, PageBody};
pub use feeds::{BackfillJob, DiscoverJob, PollJob, PollsJob, SubscribeJob};
pub use rows::{DeliverJob, IndexChange, OwnJob, OwnProgress, RemovalJob, TakeUpJob};
pub use visit::{NamedBy, Purpose, VisitItem, VisitJob};

use crate::{Timestamp, TraceId, polling::is_default, words};
use serde::{Deserialize, Serialize};

/// Version of the message format. Jobs of other versions are dead-lettered, never interpreted.
const VERSION: u8 = 1;

/// A piece of work of any kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "job", rename_all = "snake_case")]
pub enum Work {
    /// Finds the feeds of a site.
    Discover(DiscoverJob),
    /// Carries out a request of an owner.
    Own(OwnJob),
    /// Reads a feed.
    Poll(PollJob),
    /// Reads feeds whose polls fall due together.
    Polls(PollsJob),
    /// Requests a subscription from a hub, as a result of a poll.
    Subscribe(SubscribeJob),
    /// Does one step of a backfill.
    Backfill(BackfillJob),
    /// Posts new matches of a watch.
    Deliver(DeliverJob),
    /// Visits a host key.
    Fetch(VisitJob),
    /// Makes a record of a page.
    Extract(Box<ExtractJob>),
    /// Changes or removes a page in the index.
    Remove(RemovalJob),
    /// Fetches pages again after a block was lifted.
    TakeUp(TakeUpJob),
}

impl Work {
    /// Returns the name of the kind of work, as in the message.
    pub const fn kind(&self) -> &'static str {
        match self {
            Work::Discover(_) => "discover",
            Work::Own(_) => "own",
            Work::Poll(_) => "poll",
            Work::Polls(_) => "polls",
            Work::Subscribe(_) => "subscribe",
            Work::Backfill(_) => "backfill",
            Work::Deliver(_) => "deliver",
            Work::Fetch(_) => VisitJob::NAME,
            Work::Extract(_) => ExtractJob::NAME,
            Work::Remove(_) => "remove",
            Work::TakeUp(_) => "take_up",
        }
    }

    /// Returns the name of the queue for this work.
    pub const fn queue(&self) -> QueueName {
        match self {
            Work::Discover(_) => QueueName::Discover,
            // Only jobs on this queue call sites to look for a proof.
            Work::Own(own) if own.needs_look() => QueueName::Discover,
            Work::Poll(_) | Work::Polls(_) | Work::Subscribe(_) | Work::Backfill(_) | Work::Deliver(_) => {
                QueueName::Poll
            }
            Work::Fetch(_) => QueueName::Fetch,
            Work::Extract(_) => QueueName::Extract,
            Work::Own(_) | Work::Remove(_) | Work::TakeUp(_) => QueueName::Remove,
        }
    }

    /// Returns the subject of the chain of jobs that this work starts, and the start time of the chain, if known.
    pub fn chain(&self) -> (String, Timestamp) {
        let subject = match self {
            Work::Discover(job) => job.site.to_string(),
            Work::Own(job) => format!("{} {}", job.host, job.challenge),
            Work::Poll(job) => return (job.feed.to_string(), job.due.unwrap_or(Timestamp::EPOCH)),
            Work::Polls(job) => {
                let first = job.polls.first().map(|poll| poll.feed.to_string());
                return (first.unwrap_or_default(), job.made_at);
            }
            Work::Subscribe(job) => job.feed.to_string(),
            Work::Backfill(job) => format!("{} {}", job.backfill, job.step),
            Work::Deliver(job) => job.watch.clone(),
            Work::Fetch(job) => {
                let first = job.items.first().map(|item| item.page.as_str());
                format!("{} {}", job.host, first.unwrap_or_default())
            }
            Work::Extract(job) => job.page.to_string(),
            Work::Remove(job) => return (job.page.to_string(), job.judged_at),
            Work::TakeUp(job) => job.host.clone(),
        };
        (subject, Timestamp::EPOCH)
    }
}

macro_rules! work_from {
    ($($variant:ident($job:ty)),+) => {
        $(impl From<$job> for Work {
            fn from(job: $job) -> Work {
                Work::$variant(job.into())
            }
        })+
    };
}

work_from!(Discover(DiscoverJob), Own(OwnJob), Poll(PollJob), Polls(PollsJob), Subscribe(SubscribeJob));
work_from!(Backfill(BackfillJob), Deliver(DeliverJob), Fetch(VisitJob), Extract(ExtractJob), Extract(Box<ExtractJob>));
work_from!(Remove(RemovalJob), TakeUp(TakeUpJob));

/// A piece of work, with the state of its deliveries.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[must_use]
pub struct Envelope<W = Work> {
    /// Chain of jobs that the job belongs to; `None` before the first job of a chain has run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceId>,
    /// Number of times that the job was deferred.
    #[serde(default, skip_serializing_if = "is_default")]
    pub deferrals: u32,
    /// Number of consecutive times that the job found its host key in use.
    #[serde(default, skip_serializing_if = "is_default")]
    pub waits: u8,
    /// True if an earlier delivery did not finish. New pages are then left to visits of their own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_again: bool,
    /// The work.
    #[serde(flatten)]
    pub work: W,
}

/// A job of any kind.
pub type Job = Envelope<Work>;

impl<W> Envelope<W> {
    /// Creates a job that was never delivered.
    pub fn new(work: impl Into<W>) -> Envelope<W> {
        Envelope { trace: None, deferrals: 0, waits: 0, is_again: false, work: work.into() }
    }

    /// Returns other work with the same delivery state.
    pub fn with<V>(&self, work: V) -> Envelope<V> {
        let Envelope { deferrals, waits, is_again, .. } = *self;
        Envelope { trace: self.trace.clone(), deferrals, waits, is_again, work }
    }

    /// Returns the job as part of the given chain.
    pub fn traced(self, trace: Option<TraceId>) -> Envelope<W> {
        Envelope { trace, ..self }
    }

    /// Returns the job, deferred once more, with its waits for the host key reset.
    pub fn deferred(self) -> Envelope<W> {
        Envelope { deferrals: self.deferrals.saturating_add(1), waits: 0, ..self }
    }

    /// Returns the job after it found its host key in use once more.
    pub fn waited(self) -> Envelope<W> {
        Envelope { waits: self.waits.saturating_add(1), ..self }
    }

    /// Returns the job, marked as having had an unfinished delivery.
    pub fn again(self) -> Envelope<W> {
        Envelope { is_again: true, ..self }
    }
}

impl<W: Into<Work>> Envelope<W> {
    /// Converts the job to one of any kind.
    pub fn into_job(self) -> Job {
        let Envelope { trace, deferrals, waits, is_again, work } = self;
        Envelope { trace, deferrals, waits, is_again, work: work.into() }
    }
}

impl Job {
    /// Serializes the job to a message: JSON with the version first.
    pub fn to_message(&self) -> Result<String, serde_json::Error> {
        #[derive(Serialize)]
        struct Out<'a> {
            v: u8,
            #[serde(flatten)]
            job: &'a Job,
        }
        serde_json::to_string(&Out { v: VERSION, job: self })
    }

    /// Parses a message. The error says whether it is not JSON, of another version, or of an unknown kind.
    pub fn from_message(text: &str) -> Result<Job, String> {
        #[derive(Deserialize)]
        struct Version {
            v: u8,
        }
        let version: Version = serde_json::from_str(text).map_err(|e| format!("not a job: {e}"))?;
        if version.v != VERSION {
            return Err(format!("a job of version {}, but this program knows version {VERSION}", version.v));
        }
        serde_json::from_str(text).map_err(|e| format!("not a job of version {VERSION}: {e}"))
    }
}

words! {
    /// The queues, in the order in which a page passes through them.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum QueueName {
        /// Finds the feeds of a site.
        Discover = "discover",
        /// Reads feeds and back catalogues, subscribes at hubs, and calls webhooks.
        Poll = "poll",
        /// Visits a host.
        Fetch = "fetch",
        /// Makes a record of a page.
        Extract = "extract",
        /// Removes pages from the index, carries out owners' requests, and fetches pages again after a block.
        Remove = "remove",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{ImageId, PageId, SourceKey};
    use crate::page::Gone;
    use crate::source::Validators;
    use crate::{Challenge, FeedLine, LookResult, Miss, OwnerRequest, PageLine, ReportedState, Way};
    use bytes::Bytes;

    const AT: Timestamp = Timestamp::from_millis(1_795_000_000_000);
    const ID: &str = "0123456789abcdef0123456789abcdef";

    fn poll() -> Job {
        let feed = SourceKey::new(ID).expect("a key");
        Job { deferrals: 2, ..Job::new(PollJob::new(feed, "https://example.org/feed".into())) }
    }

    fn comes_back(job: &Job) -> Result<(), Box<dyn std::error::Error>> {
        assert_eq!(Job::from_message(&job.to_message()?)?, *job);
        Ok(())
    }

    #[test]
    fn waits_count_anew_after_a_deferral() {
        let waiting = poll().waited().waited();
        assert_eq!((waiting.waits, waiting.deferrals), (2, 2));
        let deferred = waiting.deferred();
        assert_eq!((deferred.waits, deferred.deferrals), (0, 3));
    }

    #[test]
    fn a_job_comes_back_from_its_message() -> Result<(), Box<dyn std::error::Error>> {
        comes_back(&poll())?;
        let body = PageBody::Inline(Bytes::from_static(b"\0\xff"));
        assert_eq!(serde_json::from_str::<PageBody>(&serde_json::to_string(&body)?)?, body);
        for thumbnail in [None, Some(Bytes::from_static(b"\xff\xd8"))] {
            let image = MainImage { id: ImageId::new(ID)?, thumbnail };
            assert_eq!(serde_json::from_str::<MainImage>(&serde_json::to_string(&image)?)?, image);
        }
        Ok(())
    }

    #[test]
    fn removals_come_back_from_their_messages_and_have_a_queue_of_their_own() -> Result<(), Box<dyn std::error::Error>>
    {
        for change in [
            IndexChange::Remove { reason: Gone::NotFound },
            IndexChange::Expire { at: Some(AT), validators: Some(Validators::default()) },
            IndexChange::Expire { at: None, validators: None },
        ] {
            let (page, url) = (PageId::new(ID)?, "https://example.org/a".to_owned());
            let job = Job::new(RemovalJob { page, url, change, judged_at: AT });
            comes_back(&job)?;
            assert_eq!((job.work.queue(), job.work.kind()), (QueueName::Remove, "remove"));
        }
        Ok(())
    }

    #[test]
    fn only_looking_for_a_proof_is_for_the_queue_whose_stage_calls_sites() -> Result<(), Box<dyn std::error::Error>> {
        let challenge = Challenge::new(&"a".repeat(Challenge::DIGITS))?;
        let of =
            |request, looked| OwnJob { looked, ..OwnJob::new("example.org".to_owned(), challenge.clone(), request) };
        let looked = LookResult { at: AT, found: Some(Way::File), misses: vec![(Way::Dns, Miss::Absent)] };
        let (url, state) = ("https://example.org/a".to_owned(), ReportedState::Accepted);
        let line = PageLine { url: url.clone(), state, reason: None, at: AT, checked_at: None };
        let progress = OwnProgress {
            asked: AT,
            after: Some(PageId::new(ID)?),
            after_source: Some(SourceKey::new(ID)?),
            counts: [(state, 100_000)].into(),
            pages: vec![line],
            feeds: vec![FeedLine { url, polled_at: None, next: Some(AT) }],
            history: vec![],
        };
        let first = of(OwnerRequest::Forget, None);
        let further = OwnJob { progress: Some(progress), ..first.clone() };
        assert_eq!(Work::from(of(OwnerRequest::Look, None)).queue(), QueueName::Discover);
        for job in [of(OwnerRequest::Look, Some(looked)), of(OwnerRequest::Report, None), first, further] {
            let job = Job::new(job);
            assert_eq!(job.work.queue(), QueueName::Remove);
            comes_back(&job)?;
        }
        Ok(())
    }

    #[test]
    fn a_job_of_another_version_is_named_as_such() -> Result<(), Box<dyn std::error::Error>> {
        let message = poll().to_message()?.replacen("\"v\":1", "\"v\":9", 1);
        let error = Job::from_message(&message).err().unwrap_or_default();
        assert!(error.contains("version 9"), "{error}");
        assert!(Job::from_message("{").is_err());
        Ok(())
    }
}
