//! Disables the event source mappings of idle queues: at each tick dispatch checks the queues and switches their
//! mappings by the rule of `curlew_policy::mapping_rest`. Errors do no harm: the next tick retries.

use curlew_aws::{Jobs, MAPPINGS, Mapping, Mappings, mapping_ids};
use curlew_model::{Millis, QueueName, Timestamp};
use curlew_policy::mapping_rest::{MappingState, QueueMemory, Switch};
use curlew_ports::stage::with_causes;
use curlew_ports::{Clock, PortError};
use futures::future::join_all;
use std::sync::{Mutex, PoisonError};

/// Number of seconds without use after which a queue's mapping is disabled; 0 for never.
const REST_AFTER: &str = "CURLEW_REST_AFTER";
/// Maximum time that a tick spends on this.
const MOST_TIME: Millis = Millis::from_secs(5);

/// The mappings that may be disabled, and after which time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RestPlan {
    mappings: Vec<(QueueName, String)>,
    after: Millis,
}

impl RestPlan {
    /// Reads the plan from the environment. Without the two variables no mapping is disabled. An error names the
    /// variable that is invalid.
    pub(crate) fn read(value: impl Fn(&str) -> Option<String>) -> Result<RestPlan, String> {
        let seconds = value(REST_AFTER).unwrap_or_default();
        let seconds = if seconds.is_empty() { Ok(0) } else { seconds.parse() };
        let after = Millis::from_secs(seconds.map_err(|_| format!("{REST_AFTER} is no number of seconds"))?);
        let mappings = mapping_ids(&value(MAPPINGS).unwrap_or_default());
        let mappings = mappings.ok_or_else(|| format!("{MAPPINGS} does not name queues and mappings"))?;
        Ok(if after == Millis::ZERO { RestPlan::default() } else { RestPlan { mappings, after } })
    }
}

/// The mappings of a stack, and this process's memory of their queues.
pub(crate) struct Resting {
    mappings: Mappings,
    queues: Vec<WatchedQueue>,
}

struct WatchedQueue {
    stage: QueueName,
    mapping: String,
    memory: Mutex<QueueMemory>,
}

impl Resting {
    /// Starts watching the queues; makes no request.
    pub(crate) fn new(RestPlan { mappings: ids, after }: RestPlan, mappings: Mappings, now: Timestamp) -> Resting {
        let memory = |stage| Mutex::new(QueueMemory::new(stage, after, now));
        let watched = |(stage, mapping)| WatchedQueue { stage, mapping, memory: memory(stage) };
        Resting { mappings, queues: ids.into_iter().map(watched).collect() }
    }

    /// Checks every queue and switches its mapping if necessary. Takes a few seconds at most, and ends before `until`
    /// in monotonic time. `was_sent_to` returns true for queues to which this tick has sent jobs.
    pub(crate) async fn keep(
        &self,
        jobs: &Jobs,
        clock: &dyn Clock,
        until: Millis,
        was_sent_to: impl Fn(QueueName) -> bool,
    ) {
        if self.queues.is_empty() {
            return;
        }
        let now = clock.now();
        let all = self.queues.iter().map(|queue| {
            let was_sent_to = was_sent_to(queue.stage);
            async move {
                if let Err(error) = self.keep_one(queue, jobs, was_sent_to, now).await {
                    let (queue, error) = (queue.stage.as_str(), with_causes(&error));
                    tracing::warn!(
                        queue,
                        error,
                        "whether the queue's mapping may rest is not known; the next tick looks again"
                    );
                }
            }
        });
        tokio::select! {
            _ = join_all(all) => {}
            () = clock.sleep(until.saturating_sub(clock.monotonic()).min(MOST_TIME)) => {
                tracing::warn!("there was no time to look which mappings may rest; the next tick looks again");
            }
        }
    }

    async fn keep_one(
        &self,
        queue: &WatchedQueue,
        jobs: &Jobs,
        was_sent_to: bool,
        now: Timestamp,
    ) -> Result<(), PortError> {
        // The service's count may not yet include the jobs that this tick has sent.
        let messages = if was_sent_to { 1 } else { jobs.messages(queue.stage).await? };
        let Some(wish) = queue.remember(|memory| memory.note(messages, now)) else { return Ok(()) };
        let state = state(&self.mappings.read(&queue.mapping).await?);
        let switch = queue.remember(|memory| memory.switch(wish, state, now));
        if let Some(switch) = switch {
            self.mappings.switch(&queue.mapping, switch == Switch::Wake).await?;
            let queue = queue.stage.as_str();
            match switch {
                Switch::Wake => tracing::info!(queue, "messages wait: the queue's mapping is switched on"),
                Switch::Rest => tracing::info!(queue, "nothing waits: the queue's mapping is switched off"),
            }
        }
        queue.remember(|memory| memory.saw(wish, state, switch, now));
        Ok(())
    }
}

impl WatchedQueue {
    fn remember<T>(&self, act: impl FnOnce(&mut QueueMemory) -> T) -> T {
        act(&mut self.memory.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Returns the state of a mapping. AWS also has `Creating`, `Enabling`, `Disabling`, `Updating` and `Deleting`.
fn state(mapping: &Mapping) -> MappingState {
    match mapping.state.as_str() {
        "Enabled" => MappingState::On,
        "Disabled" => MappingState::Off(mapping.changed_at),
        _ => MappingState::Changing,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;
    use crate::cold::Cold;
    use crate::rehearsal::Outside;
    use crate::scheduled::dispatched;
    use crate::serve::Call;
    use async_trait::async_trait;
    use bytes::Bytes;
    use curlew_aws::{Connection, Endpoint};
    use curlew_testkit::memory::{CountingSeeds, MemoryFetch, TokioClock};
    use http::{Request, Response};
    use serde_json::{Value, json};
    use std::sync::Arc;

    const START: &str = "2026-11-21T12:00:00Z";

    fn plan(mappings: &str, after: &str) -> Result<RestPlan, String> {
        let value = |name: &str| Some(if name == MAPPINGS { mappings } else { after }.to_owned());
        RestPlan::read(value)
    }

    #[test]
    fn the_plan_is_read_or_refused() {
        let read = plan("poll=a-1 fetch=b-2", "1200").unwrap();
        assert_eq!(read.mappings, [(QueueName::Poll, "a-1".to_owned()), (QueueName::Fetch, "b-2".to_owned())]);
        assert_eq!(read.after, Millis::from_mins(20));
        assert_eq!(plan("poll=a-1", "0").unwrap(), RestPlan::default(), "0 is never");
        assert_eq!(RestPlan::read(|_| None).unwrap(), RestPlan::default());
        for (mappings, after) in [("poll", "20"), ("web=a", "20"), ("poll=", "20"), ("poll=a", "20m"), ("poll=a", "-1")]
        {
            assert!(plan(mappings, after).is_err(), "{mappings} {after}");
        }
    }

    /// A stack without work, with a mapping only for discover.
    #[derive(Debug)]
    struct Aws(Mutex<State>);

    #[derive(Clone, Debug)]
    struct State {
        messages: u64,
        is_on: bool,
        /// True if Lambda's API refuses requests.
        refuses: bool,
        /// True if Lambda's API never responds.
        hangs: bool,
        /// Time of the last change, in seconds since the epoch.
        changed_at: i64,
        calls: Vec<String>,
    }

    impl Aws {
        fn new() -> Arc<Aws> {
            let calls = Vec::new();
            let state = State { messages: 0, is_on: true, refuses: false, hangs: false, changed_at: 0, calls };
            Arc::new(Aws(Mutex::new(state)))
        }

        fn state<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
            act(&mut self.0.lock().unwrap())
        }
    }

    #[async_trait]
    impl Endpoint for Aws {
        async fn answer(&self, request: Request<Bytes>) -> Response<Bytes> {
            let target = request.headers().get("x-amz-target").and_then(|target| target.to_str().ok());
            let operation = target.and_then(|target| target.split_once('.')).map_or("", |(_, name)| name).to_owned();
            let hangs = self.state(|state| state.hangs && operation.is_empty());
            if hangs && request.uri().path().contains("event-source-mappings") {
                std::future::pending::<()>().await;
            }
            let (status, answer) = self.state(|state| match operation.as_str() {
                "GetQueueUrl" => (200, json!({"QueueUrl": "http://endpoint.test/0/queue"})),
                "GetQueueAttributes" => {
                    (200, json!({"Attributes": {"ApproximateNumberOfMessagesDelayed": state.messages.to_string()}}))
                }
                "Query" | "Scan" => (200, json!({"Items": [], "Count": 0})),
                "GetItem" | "PutItem" => (200, json!({})),
                "" if request.uri().path() == "/2015-03-31/event-source-mappings/discover-1" => {
                    state.calls.push(format!("{} {}", request.method(), String::from_utf8_lossy(request.body())));
                    if state.refuses {
                        return (403, json!({"Message": "not authorized to perform this"}));
                    }
                    if request.method() == "PUT" {
                        let asked: Value = serde_json::from_slice(request.body()).unwrap();
                        state.is_on = asked["Enabled"].as_bool().unwrap();
                        state.changed_at = 0;
                    }
                    let name = if state.is_on { "Enabled" } else { "Disabled" };
                    (200, json!({"UUID": "discover-1", "State": name, "LastModified": state.changed_at}))
                }
                "" if request.method() == "PUT" => (200, json!({})),
                // There are no objects.
                _ => (404, json!({})),
            });
            let answer = if status == 404 {
                Bytes::from("<Error><Code>NoSuchKey</Code></Error>")
            } else {
                Bytes::from(answer.to_string())
            };
            Response::builder().status(status).body(answer).unwrap()
        }
    }

    /// A process of dispatch.
    struct Process {
        aws: Arc<Aws>,
        cold: Arc<Cold>,
    }

    impl Process {
        async fn start(aws: &Arc<Aws>, more: &[(&str, &str)]) -> Process {
            let clock = TokioClock::starting_at(START.parse().unwrap());
            let outside = Outside {
                connection: Connection::to_endpoint(aws.clone(), || START.parse().unwrap()).await,
                clock: Arc::new(clock),
                seeds: Arc::new(CountingSeeds::new(7)),
                fetch: Arc::new(MemoryFetch::default()),
            };
            let variables = [
                ("AWS_LAMBDA_RUNTIME_API", "127.0.0.1:9001"),
                ("CURLEW_STACK", "curlew"),
                ("CURLEW_BUCKET", "curlew-data"),
                ("CURLEW_CONTACT", "a@b.example"),
                (MAPPINGS, "discover=discover-1"),
                (REST_AFTER, "1200"),
            ];
            // The first value of a variable counts.
            let variables =
                more.iter().chain(&variables).map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
            let cold = Cold::over(&outside, &variables.collect::<Vec<_>>());
            Process { aws: aws.clone(), cold: Arc::new(cold.map_err(|failure| failure.to_string()).unwrap()) }
        }

        /// Runs a tick after some minutes; returns its calls to Lambda's API.
        async fn tick_after(&self, minutes: u64) -> Vec<String> {
            self.cold.clock.sleep(Millis::from_mins(minutes)).await;
            let call = Call {
                cold: self.cold.clone(),
                in_force: self.cold.settings.current().await.map_err(|failure| failure.to_string()).unwrap(),
                refusal: None,
                payload: json!({}),
                deadline: self.cold.clock.monotonic() + Millis::from_mins(1),
                meter: Arc::default(),
            };
            let done = Box::pin(dispatched(call)).await;
            done.map(drop).map_err(|failure| failure.to_string()).unwrap();
            self.aws.state(|state| std::mem::take(&mut state.calls))
        }
    }

    #[tokio::test(start_paused = true)]
    async fn dispatch_lets_the_mapping_of_an_unused_queue_rest_and_wakes_it_when_messages_wait() {
        let aws = Aws::new();
        let process = Process::start(&aws, &[]).await;
        assert!(process.tick_after(0).await.is_empty());
        assert!(process.tick_after(19).await.is_empty());
        assert_eq!(process.tick_after(1).await, ["GET ", "PUT {\"Enabled\":false}"]);
        assert!(process.tick_after(1).await.is_empty(), "free of charge, but not of time");
        aws.state(|state| state.messages = 1);
        assert_eq!(process.tick_after(1).await, ["GET ", "PUT {\"Enabled\":true}"]);
        assert_eq!(process.tick_after(1).await, ["GET "]);
        // Another process does not know the state.
        aws.state(|state| state.is_on = false);
        let other = Process::start(&aws, &[]).await;
        assert_eq!(other.tick_after(0).await, ["GET ", "PUT {\"Enabled\":true}"]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_tick_does_not_fail_because_a_mapping_cannot_be_read_or_switched() {
        let aws = Aws::new();
        let process = Process::start(&aws, &[]).await;
        process.tick_after(0).await;
        aws.state(|state| state.refuses = true);
        assert_eq!(process.tick_after(20).await, ["GET "]);
        assert_eq!(process.tick_after(1).await, ["GET "], "it is tried again");
        aws.state(|state| (state.refuses, state.hangs) = (false, true));
        let before = process.cold.clock.monotonic();
        process.tick_after(0).await;
        assert_eq!(process.cold.clock.monotonic().saturating_sub(before), MOST_TIME);
    }

    #[tokio::test(start_paused = true)]
    async fn nothing_is_switched_while_crawling_is_paused_or_if_nothing_may_rest() {
        for set in [("CURLEW_PAUSED", "true"), (REST_AFTER, "0"), (MAPPINGS, "")] {
            let aws = Aws::new();
            let process = Process::start(&aws, &[set]).await;
            aws.state(|state| (state.is_on, state.messages) = (false, 3));
            assert!(process.tick_after(0).await.is_empty(), "{set:?}");
            aws.state(|state| (state.is_on, state.messages) = (true, 0));
            assert!(process.tick_after(0).await.is_empty(), "{set:?}");
            assert!(process.tick_after(60).await.is_empty(), "{set:?}");
        }
    }
}
