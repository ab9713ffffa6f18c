//! Functions outside of Lambda: a program runs many of them over its own endpoint and web, in simulated time, to
//! measure everyday use. Everything except Lambda's runtime is real.

use crate::cold::Cold;
use crate::failure::Failure;
use crate::logs;
use crate::queue::{handle, no_names};
use crate::scheduled::{dispatched, indexed, sampled};
use crate::serve::Invocation;
use curlew_aws::Connection;
use curlew_model::{QueueName, Timestamp};
use curlew_ports::{Clock, Fetch, Seeds};
use lambda_runtime::{Config, Context};
use serde_json::Value;
use std::io::Write;
use std::sync::Arc;

/// Surroundings of a function.
#[derive(Clone)]
pub struct Outside {
    /// Connection to the stack.
    pub connection: Connection,
    /// Clock of the function.
    pub clock: Arc<dyn Clock>,
    /// Source of random seeds.
    pub seeds: Arc<dyn Seeds>,
    /// Makes calls to sites.
    pub fetch: Arc<dyn Fetch>,
}

/// Starts logging in the functions' format; each line is passed to `lines`. Does nothing if logging has already
/// started.
pub fn log_to(variables: &[(String, String)], lines: fn(&[u8])) {
    logs::start(variables, move || Lines(lines));
}

struct Lines(fn(&[u8]));

impl Write for Lines {
    fn write(&mut self, line: &[u8]) -> std::io::Result<usize> {
        (self.0)(line);
        Ok(line.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// An execution environment of a function: the memory of one of its processes.
pub struct Environment {
    function: &'static str,
    memory_mb: i32,
    cold: Arc<Cold>,
}

impl Environment {
    /// Starts an environment with these variables. Makes no request. An error names the setting that is invalid.
    pub fn start(
        function: &'static str,
        memory_mb: i32,
        variables: &[(String, String)],
        outside: &Outside,
    ) -> Result<Environment, String> {
        let cold = Cold::over(outside, variables).map_err(|failure| failure.to_string())?;
        // The start is not measured, so that the first invocation is like any other.
        cold.init();
        Ok(Environment { function, memory_mb, cold: Arc::new(cold) })
    }

    /// Runs one invocation, which Lambda would end at `deadline`. Writes its metrics line to `metrics`, and returns the
    /// function's response. An error is the failure of the whole invocation, or names a function that cannot be run
    /// here.
    pub async fn invoke(
        &self,
        event: Value,
        deadline: Timestamp,
        metrics: &mut (dyn Write + Send),
    ) -> Result<Value, String> {
        let config = Config { memory: self.memory_mb, ..Config::default() };
        let mut context = Context::default();
        context.deadline = u64::try_from(deadline.as_millis()).unwrap_or_default();
        context.request_id = "00000000-0000-0000-0000-000000000000".to_owned();
        context.env_config = Arc::new(config);
        let invocation = Invocation::begin(self.function, self.cold.clone(), &context);
        let call = invocation.call(event).await.map_err(|failure| failure.to_string())?;
        // On the heap: these futures together are large.
        let outcome = match self.function {
            "dispatch" => Box::pin(dispatched(call)).await,
            "index" => Box::pin(indexed(call)).await,
            "sample" => Box::pin(sampled(call)).await,
            name => match QueueName::ALL.into_iter().find(|stage| stage.as_str() == name) {
                Some(stage) => Box::pin(handle(stage, call, no_names)).await,
                None => Err(Failure::Event(format!("the function {name} is not rehearsed"))),
            },
        };
        invocation.end(outcome, metrics).map_err(|failure| failure.to_string())
    }
}
