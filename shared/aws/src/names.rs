//! Names of the parts of a stack. `infra/template.yaml` gives them the same names.

use curlew_model::QueueName;

/// Names by which the parts of a stack are found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    /// The stack's name; tables and queues begin with it.
    pub stack: String,
    /// The data bucket's name, the only one that does not follow from the stack's name. See [`crate::find_bucket`].
    pub bucket: String,
}

impl Names {
    /// Returns the table of host states, robots.txt copies and marks.
    pub(crate) fn hosts(&self) -> String {
        self.part("hosts")
    }

    /// Returns the table of feeds and sites.
    pub(crate) fn sources(&self) -> String {
        self.part("sources")
    }

    /// Returns the table of pages.
    pub(crate) fn pages(&self) -> String {
        self.part("pages")
    }

    /// Returns the table of parked jobs.
    pub(crate) fn parked(&self) -> String {
        self.part("parked")
    }

    /// Returns the queue of a stage.
    pub(crate) fn queue(&self, stage: QueueName) -> String {
        self.part(stage.as_str())
    }

    /// Returns the dead-letter queue of a stage.
    pub(crate) fn dead_queue(&self, stage: QueueName) -> String {
        format!("{}-dead", self.queue(stage))
    }

    /// Returns the queue of events that the schedules could not get done.
    pub(crate) fn schedules_dead_queue(&self) -> String {
        self.part("schedules-dead")
    }

    /// Returns the prefix of a stack's data buckets; account and region follow.
    pub(crate) fn bucket_prefix(stack: &str) -> String {
        format!("{stack}-data")
    }

    fn part(&self, name: &str) -> String {
        format!("{}-{name}", self.stack)
    }
}
