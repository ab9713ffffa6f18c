//! Facts about a store and its processes, which the checks judge.
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
    /// The credentials lack this right: an action on a part of the stack.
    Denied(String),
    Failed(String),
}

/// A fact, or the reason why it is unknown.
pub(crate) type Fact<T> = Result<T, MissingFact>;

/// All facts. Those that are `None` were not gathered: they do not apply, or depend on facts that are unknown.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    pub(crate) now: Timestamp,
    /// The program's name with the flags that select the store, for advice.
    pub(crate) program: String,
    pub(crate) store: Option<Fact<String>>,
    /// The settings, or a line that says what is wrong with them.
    pub(crate) settings: Option<Fact<Result<StatedSettings, String>>>,
    pub(crate) free_bytes: Option<u64>,
    /// True if a site or feed was named.
    pub(crate) has_sources: Option<Fact<bool>>,
    /// Time up to which due work was sent; `None` if nothing was ever sent.
    pub(crate) sent_until: Option<Fact<Option<Timestamp>>>,
    pub(crate) queues: Vec<(QueueName, Fact<QueueFacts>)>,
    pub(crate) index: Option<Fact<IndexFacts>>,
    pub(crate) messages: Option<Fact<OpenMessages>>,
    /// Sites and held hosts, if they were counted.
    pub(crate) counted: Option<Fact<Option<HoldCount>>>,
    /// Number of rows with times further in the future than any rule sets, if they were counted.
    pub(crate) ahead: Option<Fact<u64>>,
    pub(crate) is_stack: bool,
    pub(crate) stack: Option<StackFacts>,
}

impl Facts {
    /// Returns facts about a store, with all others not gathered.
    pub(crate) fn new(now: Timestamp, is_stack: bool, program: String, store: Fact<String>) -> Facts {
        Facts { now, is_stack, program, store: Some(store), ..Facts::default() }
    }

    /// Returns the settings, if they are known and valid.
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
    /// The layer that pauses crawling, if any; a stack's parameter `Paused` counts as environment.
    pub(crate) paused: Option<Origin>,
    /// How images are screened; `None` if unknown.
    pub(crate) pictures: Option<ImageScreening>,
    pub(crate) persons: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct QueueFacts {
    pub(crate) count: QueueCount,
    /// Time at which the oldest due job became due, if the store reports it.
    pub(crate) due_since: Option<Timestamp>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct IndexFacts {
    pub(crate) pages: u64,
    pub(crate) published: Option<Timestamp>,
    pub(crate) has_unpublished: bool,
    /// The latest year whose index was written by a newer version of the program.
    pub(crate) newer: Option<Year>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct HoldCount {
    /// Time of a stored count; `None` if the hosts were counted now.
    pub(crate) at: Option<Timestamp>,
    pub(crate) sites: u64,
    pub(crate) held: BTreeMap<HoldReason, u64>,
}

#[derive(Clone, Debug)]
pub(crate) struct StackFacts {
    /// Results of requests that only test rights.
    pub(crate) trials: Vec<Fact<()>>,
    /// Version of the rows; `None` if there are none.
    pub(crate) version: Fact<Option<u32>>,
    pub(crate) own_version: u32,
    pub(crate) functions: Vec<FunctionFacts>,
    pub(crate) mappings: Fact<Vec<(QueueName, Fact<MappingFacts>)>>,
    pub(crate) quota: Fact<QuotaFacts>,
    /// Time up to which parked jobs were released to their queues; `None` if they never were.
    pub(crate) released_until: Fact<Option<Timestamp>>,
    /// Number of schedule events that failed for good.
    pub(crate) dead_events: Fact<u64>,
    /// The receiver of alarms; `None` if the deployment does not say.
    pub(crate) alarms: Option<AlarmsGoTo>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AlarmsGoTo {
    Mail,
    /// There are alarms, but no address.
    Nobody,
    NoAlarms,
}

#[derive(Clone, Debug)]
pub(crate) struct FunctionFacts {
    pub(crate) name: String,
    pub(crate) deployed: Fact<Deployment>,
    /// The function's answer to the smoke test; `None` if it was not invoked.
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
    /// State of the mapping, as Lambda names it.
    pub(crate) state: String,
    pub(crate) max_concurrency: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct QuotaFacts {
    pub(crate) all: u32,
    /// Number of executions not reserved for any function.
    pub(crate) unreserved: u32,
}
