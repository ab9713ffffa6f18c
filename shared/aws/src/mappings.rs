//! Event source mappings: whether the queue of a function is asked for messages. Requests to Lambda's API are free of
//! charge.

use crate::connection::Connection;
use crate::error::RequestContext;
use aws_sdk_lambda::Client;
use curlew_model::{QueueName, Timestamp};
use curlew_ports::PortError;

/// The mappings of a stack, by the ids that AWS gave them.
#[derive(Clone, Debug)]
pub struct Mappings {
    client: Client,
    stack: String,
}

/// A mapping as Lambda describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// State of the mapping: `Enabled`, `Disabled`, or on the way from one to the other.
    pub state: String,
    /// The time of its last change.
    pub changed_at: Timestamp,
    /// Maximum number of invocations at once, if it has one.
    pub max_concurrency: Option<u32>,
}

/// Environment variable of dispatch that names the mappings: `stage=id`, with spaces between them.
pub const MAPPINGS: &str = "CURLEW_MAPPINGS";

/// Returns the ids that the value of [`MAPPINGS`] names; `None` if it does not name queues and mappings.
pub fn mapping_ids(text: &str) -> Option<Vec<(QueueName, String)>> {
    let named = |word: &str| {
        let (name, id) = word.split_once('=')?;
        let stage = QueueName::ALL.into_iter().find(|stage| stage.as_str() == name)?;
        (!id.is_empty()).then(|| (stage, id.to_owned()))
    };
    text.split_ascii_whitespace().map(named).collect()
}

impl Mappings {
    /// Creates the adapter for the mappings of a stack of this name. Makes no request.
    pub fn new(connection: &Connection, stack: &str) -> Mappings {
        Mappings { client: connection.lambda(), stack: stack.to_owned() }
    }

    /// Reads a mapping.
    ///
    /// # Errors
    /// Transport errors, missing permissions, or that there is no mapping of this id.
    pub async fn read(&self, id: &str) -> Result<Mapping, PortError> {
        let answer = self.client.get_event_source_mapping().uuid(id).send().await;
        let answer = answer.map_err(|error| self.context("read", id).failed(error))?;
        let changed_at = answer.last_modified.and_then(|time| time.to_millis().ok()).unwrap_or_default();
        Ok(Mapping {
            state: answer.state.unwrap_or_default(),
            changed_at: Timestamp::from_millis(changed_at),
            max_concurrency: answer.scaling_config.and_then(|scaling| scaling.maximum_concurrency?.try_into().ok()),
        })
    }

    /// Switches a mapping on or off, which takes AWS up to a minute.
    ///
    /// # Errors
    /// As [`Mappings::read`]; and that the mapping is being changed already.
    pub async fn switch(&self, id: &str, is_on: bool) -> Result<(), PortError> {
        let what = if is_on { "switch on" } else { "switch off" };
        let answer = self.client.update_event_source_mapping().uuid(id).enabled(is_on).send().await;
        answer.map(drop).map_err(|error| self.context(what, id).failed(error))
    }

    fn context<'a>(&'a self, what: &'a str, id: &'a str) -> RequestContext<'a> {
        RequestContext { what, kind: "mapping", name: id, stack: &self.stack }
    }
}
