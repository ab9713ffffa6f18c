//! Runs a process from its start through its invocations, and writes one log line for each of them.

use crate::batch::Summary;
use crate::cold::Cold;
use crate::failure::{self, Failure};
use crate::in_force::InForce;
use crate::meter::{Meter, Trouble};
use crate::smoke::{Reply, Smoke, is_asked};
use crate::{logs, time, usage};
use curlew_model::Millis;
use lambda_runtime::{Context, LambdaEvent, service_fn};
use serde::Serialize;
use serde_json::Value;
use std::future::Future;
use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Exit code of a process whose thread pool is worn out.
const WORN_OUT: i32 = 1;

/// An invocation.
pub(crate) struct Call {
    pub(crate) cold: Arc<Cold>,
    pub(crate) in_force: Arc<InForce>,
    /// Reason for refusing all work, if a newer program has written the stack.
    pub(crate) refusal: Option<String>,
    pub(crate) payload: Value,
    /// End of the invocation, in monotonic time.
    pub(crate) deadline: Millis,
    pub(crate) meter: Arc<Meter>,
}

/// Result of an invocation: the response, and the outcome of a batch's messages.
pub(crate) struct Answer<R> {
    pub(crate) response: R,
    pub(crate) summary: Summary,
}

impl<R> Answer<R> {
    pub(crate) fn new(response: R) -> Answer<R> {
        Answer { response, summary: Summary::default() }
    }

    fn into_work(self) -> Answer<Reply<R>> {
        Answer { response: Reply::Work(self.response), summary: self.summary }
    }
}

/// Runs a function until Lambda ends it: passes each event to `act`, with the settings in force.
pub(crate) async fn serve<R, F, Fut>(function: &'static str, act: F) -> ExitCode
where
    R: Serialize,
    F: Fn(Call) -> Fut,
    Fut: Future<Output = Result<Answer<R>, Failure>>,
{
    let Some(cold) = start().await else { return ExitCode::FAILURE };
    let (cold, act) = (&cold, &act);
    let handler = |event: LambdaEvent<Value>| async move {
        if cold.memory.is_worn_out() {
            tracing::error!(
                "too many documents are still being parsed long after their limit; Lambda starts another process"
            );
            std::process::exit(WORN_OUT);
        }
        let invocation = Invocation::begin(function, cold.clone(), &event.context);
        let outcome = match is_asked(&event.payload) {
            Ok(true) => invocation.smoke().await,
            Ok(false) => match invocation.call(event.payload).await {
                Ok(call) => Box::pin(act(call)).await.map(Answer::into_work),
                Err(failure) => Err(failure),
            },
            Err(failure) => Err(failure),
        };
        invocation.end(outcome, &mut std::io::stdout().lock())
    };
    ended(lambda_runtime::run(service_fn(handler)).await)
}

/// Runs the cold start; reports its errors to the log and to Lambda.
async fn start() -> Option<Arc<Cold>> {
    let began = Instant::now();
    let environment = environment();
    logs::start(&environment, std::io::stdout);
    match Cold::start(began, &environment).await {
        Ok(cold) => Some(Arc::new(cold)),
        Err(failure) => {
            tracing::error!(error = %failure, "the function cannot start");
            failure::report(failure).await;
            None
        }
    }
}

/// Returns the exit code. After an error of Lambda's runtime API the process exits, and Lambda starts a new one.
fn ended(ran: Result<(), lambda_runtime::Error>) -> ExitCode {
    match ran {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!(%error, "the function ends");
            ExitCode::FAILURE
        }
    }
}

/// Skips variables that are not valid UTF-8, since Curlew has none.
fn environment() -> Vec<(String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}

/// An invocation, from its start to its log line.
pub(crate) struct Invocation {
    function: &'static str,
    cold: Arc<Cold>,
    request_id: String,
    memory_mb: i32,
    given_deadline: u64,
    began: Instant,
    processor: Millis,
    init: Option<Duration>,
    /// Number of throttled calls to tables before this invocation.
    throttled: u64,
    meter: Arc<Meter>,
}

impl Invocation {
    pub(crate) fn begin(function: &'static str, cold: Arc<Cold>, context: &Context) -> Invocation {
        let init = cold.init();
        Invocation {
            function,
            request_id: context.request_id.clone(),
            memory_mb: context.env_config.memory,
            given_deadline: context.deadline,
            began: Instant::now(),
            processor: usage::processor_time(),
            init,
            throttled: cold.connection.throttled(),
            meter: Arc::new(Meter::default()),
            cold,
        }
    }

    pub(crate) async fn call(&self, payload: Value) -> Result<Call, Failure> {
        let clock = &self.cold.clock;
        let deadline = time::deadline(self.given_deadline, clock.now(), clock.monotonic())?;
        let (in_force, refusal) = self.read().await?;
        Ok(Call { cold: self.cold.clone(), in_force, refusal, payload, deadline, meter: self.meter.clone() })
    }

    /// Answers the smoke test, unless all work is refused.
    async fn smoke<R>(&self) -> Result<Answer<Reply<R>>, Failure> {
        match self.read().await? {
            (_, Some(why)) => Err(Failure::Version(why)),
            (in_force, None) => Ok(Answer::new(Reply::Smoke(Smoke::new(self.function, in_force.as_ref())))),
        }
    }

    /// Reads two parts of the stack concurrently: the settings in force, and the reason for refusing all work, if there
    /// is one. Records settings that are not those of the stack's file.
    async fn read(&self) -> Result<(Arc<InForce>, Option<String>), Failure> {
        let (in_force, refusal) = tokio::join!(self.cold.settings.current(), self.cold.refusal());
        let in_force = in_force?;
        self.meter.note_trouble(Trouble::SettingsRejected, in_force.is_rejected.into());
        Ok((in_force, refusal))
    }

    /// Ends the invocation, and writes the line of its metrics.
    pub(crate) fn end<R>(self, outcome: Result<Answer<R>, Failure>, metrics: &mut dyn Write) -> Result<R, Failure> {
        let (summary, outcome) = match outcome {
            Ok(Answer { response, summary }) => (summary, Ok(response)),
            Err(failure) => (Summary::default(), Err(failure)),
        };
        self.meter.note_throttled(self.cold.connection.throttled().saturating_sub(self.throttled));
        self.meter.note_trouble(Trouble::NothingAccepted, self.cold.rejected_in_a_row(&self.meter.counts()));
        let given_up = summary.given_up as u64;
        if let Some(line) = self.meter.line(&self.cold.stack, self.function, given_up, self.cold.clock.now()) {
            // CloudWatch extracts metrics only from lines that contain nothing else.
            let _ = writeln!(metrics, "{line}");
        }
        self.log(&summary, outcome.as_ref().err());
        outcome
    }

    fn log(&self, summary: &Summary, failure: Option<&Failure>) {
        let counts = self.meter.counts();
        tracing::info!(
            function = self.function,
            request_id = self.request_id,
            messages = summary.messages,
            done = summary.done,
            deferred = summary.deferred,
            failed = summary.failures.len(),
            given_up = summary.given_up,
            calls = counts.calls,
            holds = counts.held.values().sum::<u64>(),
            wall_ms = millis(self.began.elapsed()),
            cpu_ms = usage::processor_time().saturating_sub(self.processor).0,
            max_rss_kb = usage::peak_memory_kb(),
            memory_mb = self.memory_mb,
            cold = self.init.is_some(),
            init_ms = self.init.map(millis),
            slots = (summary.slots > 0).then_some(summary.slots),
            slots_used_percent = summary.utilisation(),
            error = failure.map(tracing::field::display),
            "invocation done"
        );
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
