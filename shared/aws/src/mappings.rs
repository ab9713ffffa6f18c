//! Event source mappings: whether Lambda polls the queue of a function. Requests to Lambda's API are free of charge.

use crate::connection::Connection;
use crate::error::RequestContext;
use aws_sdk_lambda::Client;
use curlew_model::{QueueName, Timestamp};
use curlew_ports::PortError;

/// The event source mappings of a stack, by their AWS ids.
#[derive(Clone, Debug)]
pub struct Mappings {
    client: Client,
    stack: String,
}

/// State of an event source mapping.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// State of the mapping: `Enabled`, `Disabled`, or a transition such as `Enabling`.
    pub state: String,
    /// Time of the last change.
    pub changed_at: Timestamp,
    /// Maximum concurrency, if it has one.
    pub max_concurrency: Option<u32>,
}

/// Environment variable of the dispatch function with the mappings: `stage=id`, separated by spaces.
pub const MAPPINGS: &str = "CURLEW_MAPPINGS";

/// Parses a value of [`MAPPINGS`]; returns `None` if it is malformed.
pub fn mapping_ids(text: &str) -> Option<Vec<(QueueName, String)>> {
    let named = |word: &str| {
        let (name, id) = word.split_once('=')?;
        let stage = QueueName::ALL.into_iter().find(|stage| stage.as_str() == name)?;
        (!id.is_empty()).then(|| (stage, id.to_owned()))
    };
    text.split_ascii_whitespace().map(named).collect()
}

impl Mappings {
    /// Creates the adapter for the mappings of the stack with this name. Makes no request.
    pub fn new(connection: &Connection, stack: &str) -> Mappings {
        Mappings { client: connection.lambda(), stack: stack.to_owned() }
    }

    /// Reads a mapping; fails if there is none with this id.
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

    /// Enables or disables a mapping, which takes AWS up to a minute; fails if the mapping is already being changed.
    pub async fn switch(&self, id: &str, is_on: bool) -> Result<(), PortError> {
        let what = if is_on { "switch on" } else { "switch off" };
        let answer = self.client.update_event_source_mapping().uuid(id).enabled(is_on).send().await;
        answer.map(drop).map_err(|error| self.context(what, id).failed(error))
    }

    fn context<'a>(&'a self, what: &'a str, id: &'a str) -> RequestContext<'a> {
        RequestContext { what, kind: "mapping", name: id, stack: &self.stack }
    }
}
