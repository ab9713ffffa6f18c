//! What the parts of a stack are called. `infra/template.yaml` gives them the same names.

use curlew_model::Stage;

/// What the parts of a stack are found by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    /// The stack's name; tables and queues begin with it.
    pub stack: String,
    /// The data bucket's name, which is the only one that the stack's name does not give. See [`crate::find_bucket`].
    pub bucket: String,
}

impl Names {
    /// Host states, robots.txt copies and marks.
    pub(crate) fn hosts(&self) -> String {
        self.part("hosts")
    }

    /// Feeds and sites.
    pub(crate) fn sources(&self) -> String {
        self.part("sources")
    }

    /// Rows of pages.
    pub(crate) fn pages(&self) -> String {
        self.part("pages")
    }

    /// Jobs that wait for longer than a queue can keep them.
    pub(crate) fn parked(&self) -> String {
        self.part("parked")
    }

    /// The queue of a stage.
    pub(crate) fn queue(&self, stage: Stage) -> String {
        self.part(stage.as_str())
    }

    /// Where what the stage's queue gave up is kept.
    pub(crate) fn dead_queue(&self, stage: Stage) -> String {
        format!("{}-dead", self.queue(stage))
    }

    /// What data buckets of a stack begin with; account and region follow.
    pub(crate) fn bucket_prefix(stack: &str) -> String {
        format!("{stack}-data")
    }

    fn part(&self, name: &str) -> String {
        format!("{}-{name}", self.stack)
    }
}
