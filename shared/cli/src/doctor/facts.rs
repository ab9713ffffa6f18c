//! Facts about a store and what works on it, as the checks judge them.
#![cfg_attr(
    not(any(feature = "aws", test)),
    allow(dead_code, reason = "a build that works on no stack has no facts about one")
)]

use curlew_app::{ImageScreening, Origin};
use curlew_model::{HoldReason, QueueName, Timestamp, Year};
use curlew_people::messages::OpenMessages;
use curlew_ports::QueueCount;
use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum MissingFact {
    /// The credentials lack a right: the action, and on which part of the stack.
    Denied(String),
    Failed(String),
}

/// A fact, or why it is not known.
pub(crate) type Fact<T> = Result<T, MissingFact>;

/// All facts. Those that are `None` were not looked for: they are not there, or lie behind others that are not known.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    pub(crate) now: Timestamp,
    /// The program's name with the flags that name the store, for advice.
    pub(crate) program: String,
    pub(crate) store: Option<Fact<String>>,
    /// The settings, or the line that says what is wrong with them.
    pub(crate) settings: Option<Fact<Result<StatedSettings, String>>>,
    pub(crate) free_bytes: Option<u64>,
    /// True if a site or feed was named.
    pub(crate) has_sources: Option<Fact<bool>>,
    /// Time until which everything due was sent; `None` if nothing ever was.
    pub(crate) sent_until: Option<Fact<Option<Timestamp>>>,
    pub(crate) queues: Vec<(QueueName, Fact<QueueFacts>)>,
    pub(crate) index: Option<Fact<IndexFacts>>,
    pub(crate) messages: Option<Fact<OpenMessages>>,
    /// Sites and held hosts, if they were counted.
    pub(crate) counted: Option<Fact<Option<HoldCount>>>,
    /// Number of rows with instants that lie further ahead than any rule sets them, if they were counted.
    pub(crate) ahead: Option<Fact<u64>>,
    pub(crate) is_stack: bool,
    pub(crate) stack: Option<StackFacts>,
}

impl Facts {
    /// Returns the facts about a store of which nothing else is known.
    pub(crate) fn new(now: Timestamp, is_stack: bool, program: String, store: Fact<String>) -> Facts {
        Facts { now, is_stack, program, store: Some(store), ..Facts::default() }
    }

    /// Returns the settings, if they are known and can be used.
    pub(crate) fn stated(&self) -> Option<&StatedSettings> {
        self.settings.as_ref()?.as_ref().ok()?.as_ref().ok()
    }

    pub(crate) fn is_paused(&self) -> bool {
        self.stated().is_some_and(|stated| stated.paused.is_some())
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StatedSettings {
    /// The operator's contact; `None` if there is none.
    pub(crate) contact: Fact<Option<String>>,
    /// The layer that has paused crawling, if it is paused; the environment has the parameter `Paused` of a stack.
    pub(crate) paused: Option<Origin>,
    /// What looks at pictures; `None` if that is not known.
    pub(crate) pictures: Option<ImageScreening>,
    pub(crate) persons: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct QueueFacts {
    pub(crate) count: QueueCount,
    /// Time since which the oldest job has been due, where the store tells it.
    pub(crate) due_since: Option<Timestamp>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct IndexFacts {
    pub(crate) pages: u64,
    pub(crate) published: Option<Timestamp>,
    pub(crate) has_unpublished: bool,
    /// The latest year whose index a newer version of the program has written.
    pub(crate) newer: Option<Year>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct HoldCount {
    /// Time of the count, if it was not made now.
    pub(crate) at: Option<Timestamp>,
    pub(crate) sites: u64,
    pub(crate) held: BTreeMap<HoldReason, u64>,
}

#[derive(Clone, Debug)]
pub(crate) struct StackFacts {
    /// Requests that only ask whether they are permitted.
    pub(crate) trials: Vec<Fact<()>>,
    /// Version of the rows; `None` if there are none.
    pub(crate) version: Fact<Option<u32>>,
    pub(crate) own_version: u32,
    pub(crate) functions: Vec<FunctionFacts>,
    pub(crate) mappings: Fact<Vec<(QueueName, Fact<MappingFacts>)>>,
    pub(crate) quota: Fact<QuotaFacts>,
    /// Time until which parked jobs were given back to their queues; `None` if none ever were.
    pub(crate) released_until: Fact<Option<Timestamp>>,
    /// Events of schedules that failed for good.
    pub(crate) dead_events: Fact<u64>,
    /// The receiver of alarms; `None` if the deployment does not say.
    pub(crate) alarms: Option<AlarmsGoTo>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AlarmsGoTo {
    Mail,
    /// Nobody: there are alarms, and no address.
    Nobody,
    NoAlarms,
}

#[derive(Clone, Debug)]
pub(crate) struct FunctionFacts {
    pub(crate) name: String,
    pub(crate) deployed: Fact<Deployment>,
    /// The answer to its smoke test; `None` if it was not asked.
    pub(crate) answer: Option<Fact<SmokeReport>>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Deployment {
    pub(crate) fault: Option<String>,
    pub(crate) reserved: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SmokeReport {
    pub(crate) version: String,
    pub(crate) rejects_settings: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MappingFacts {
    pub(crate) id: String,
    /// State of the mapping, by Lambda's word.
    pub(crate) state: String,
    pub(crate) max_concurrency: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct QuotaFacts {
    pub(crate) all: u32,
    /// Executions that are reserved for no function.
    pub(crate) unreserved: u32,
}
