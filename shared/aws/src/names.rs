//! Names of the parts of a stack, the same as in `infra/template.yaml`.

use curlew_model::QueueName;

/// Names by which the parts of a stack are found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    /// The stack's name; the names of tables and queues begin with it.
    pub stack: String,
    /// Name of the data bucket, the only name that does not follow from the stack's. See [`crate::find_bucket`].
    pub bucket: String,
}

impl Names {
    pub(crate) fn queue(&self, stage: QueueName) -> String {
        self.part(stage.as_str())
    }

    pub(crate) fn dead_queue(&self, stage: QueueName) -> String {
        format!("{}-dead", self.queue(stage))
    }

    /// Returns the name of a table or a queue.
    pub(crate) fn part(&self, name: &str) -> String {
        format!("{}-{name}", self.stack)
    }
}
