//! Functions of a stack, from an operator's point of view.

use crate::connection::Connection;
use crate::error::{RequestContext, corrupt};
use aws_sdk_lambda::Client;
use aws_sdk_lambda::primitives::Blob;
use aws_sdk_lambda::types::{LastUpdateStatus, State};
use curlew_ports::PortError;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Alias of the version of a function that was deployed last.
const ALIAS: &str = "live";
/// Event that a function answers without doing any work.
const SMOKE_TEST: &[u8] = br#"{"smoke": true}"#;

/// The functions of a stack, by their names without the stack's prefix.
#[derive(Clone, Debug)]
pub struct Functions {
    client: Client,
    stack: String,
}

/// A deployed function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeployedFunction {
    /// Reason why Lambda cannot run the function; `None` if it can.
    pub fault: Option<String>,
    /// Environment variables of the function.
    pub environment: BTreeMap<String, String>,
    /// Reserved concurrency of the function.
    pub reserved: Option<u32>,
}

/// Response of a function to its smoke test.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct SmokeAnswer {
    /// Version of the function's program.
    pub version: String,
    /// True if the function uses the last valid settings because those in the stack are invalid.
    pub settings_rejected: bool,
}

/// Concurrency quota of all functions in the account and region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExecutionQuota {
    /// Concurrent executions of all functions.
    pub all: u32,
    /// Concurrent executions that are not reserved for a function.
    pub unreserved: u32,
}

impl Functions {
    /// Creates the adapter for the functions of the stack with this name. Makes no request.
    pub fn new(connection: &Connection, stack: &str) -> Functions {
        Functions { client: connection.lambda(), stack: stack.to_owned() }
    }

    /// Reads how a function is deployed; fails if there is no such function.
    pub async fn read(&self, function: &str) -> Result<DeployedFunction, PortError> {
        let name = self.name(function);
        let answer = self.client.get_function().function_name(&name).qualifier(ALIAS).send().await;
        let answer = answer.map_err(|error| self.context("look at a function", &name).failed(error))?;
        let reserved = answer.concurrency.and_then(|c| c.reserved_concurrent_executions?.try_into().ok());
        let Some(found) = answer.configuration else { return Ok(DeployedFunction { reserved, ..Default::default() }) };
        // A function that was not invoked for weeks is inactive; Lambda reactivates it.
        let fault = match (&found.state, &found.last_update_status) {
            (Some(State::Failed), _) => Some(found.state_reason.unwrap_or_else(|| "its state is Failed".to_owned())),
            (_, Some(LastUpdateStatus::Failed)) => {
                let why = found.last_update_status_reason;
                Some(why.unwrap_or_else(|| "its last update has failed".to_owned()))
            }
            _ => None,
        };
        let environment = found.environment.and_then(|environment| environment.variables).unwrap_or_default();
        Ok(DeployedFunction { fault, environment: environment.into_iter().collect(), reserved })
    }

    /// Runs a function's smoke test, for which the function starts and reads its settings.
    pub async fn smoke_test(&self, function: &str) -> Result<SmokeAnswer, PortError> {
        let payload = self.invoke(function, SMOKE_TEST).await?;
        serde_json::from_slice(&payload)
            .map_err(|e| corrupt(format!("the answer of the function {}", self.name(function)), e))
    }

    /// Invokes a function, waits until it is done, and returns its response; fails if the function does.
    pub async fn invoke(&self, function: &str, event: &[u8]) -> Result<Vec<u8>, PortError> {
        let name = self.name(function);
        // A role permits the function with its alias, so the alias must be part of the name.
        let invoke = self.client.invoke().function_name(format!("{name}:{ALIAS}")).payload(Blob::new(event));
        let answer = invoke.send().await.map_err(|error| self.context("invoke a function", &name).failed(error))?;
        let payload = answer.payload.map(Blob::into_inner).unwrap_or_default();
        if answer.function_error.is_some() {
            let why = serde_json::from_slice::<FunctionError>(&payload).map(|error| error.message);
            let why = why.unwrap_or_else(|_| String::from_utf8_lossy(&payload).into_owned());
            return Err(PortError::unavailable(format!("the function {name} fails"), why));
        }
        Ok(payload)
    }

    /// Reads the account's concurrency quota.
    pub async fn quota(&self) -> Result<ExecutionQuota, PortError> {
        let asked = RequestContext { what: "read the quotas", kind: "account's", name: "Lambda", stack: &self.stack };
        let answer = self.client.get_account_settings().send().await.map_err(|error| asked.failed(error))?;
        let limit = answer.account_limit.ok_or_else(|| corrupt("the quota of Lambda", "AWS does not tell it"))?;
        let all = u32::try_from(limit.concurrent_executions).unwrap_or(0);
        let unreserved = limit.unreserved_concurrent_executions.and_then(|n| n.try_into().ok());
        Ok(ExecutionQuota { all, unreserved: unreserved.unwrap_or(all) })
    }

    fn name(&self, function: &str) -> String {
        format!("{}-{function}", self.stack)
    }

    fn context<'a>(&'a self, what: &'a str, name: &'a str) -> RequestContext<'a> {
        RequestContext { what, kind: "function", name, stack: &self.stack }
    }
}

/// Error of a function, as Lambda's runtime reports it.
#[derive(Deserialize)]
struct FunctionError {
    #[serde(rename = "errorMessage")]
    message: String,
}
