//! Requests that receive, hide and delete messages of a queue.

use super::Jobs;
use aws_sdk_sqs::error::ProvideErrorMetadata;
use aws_sdk_sqs::types::{Message, MessageSystemAttributeName};
use curlew_model::QueueName;
use curlew_ports::PortError;

/// Maximum number of messages in one response (SQS quota).
pub(super) const BATCH: usize = 10;

impl Jobs {
    /// Receives at most ten messages of a queue, waits up to `look` seconds for them, and hides them for `hidden`
    /// seconds.
    pub(super) async fn some(
        &self,
        stage: QueueName,
        address: &str,
        max: usize,
        hidden: i32,
        look: i32,
    ) -> Result<Vec<Message>, PortError> {
        let name = self.names.queue(stage);
        let answer = self
            .sqs
            .receive_message()
            .queue_url(address)
            .max_number_of_messages(i32::try_from(max.min(BATCH)).unwrap_or(1))
            .visibility_timeout(hidden)
            .wait_time_seconds(look)
            .message_system_attribute_names(MessageSystemAttributeName::ApproximateReceiveCount)
            .message_system_attribute_names(MessageSystemAttributeName::SentTimestamp)
            .message_attribute_names("All")
            .send()
            .await
            .map_err(|e| self.context("receive jobs", &name).failed(e))?;
        Ok(answer.messages.unwrap_or_default())
    }

    /// Deletes a message; an expired receipt is no error.
    pub(super) async fn delete(&self, stage: QueueName, address: &str, handle: &str) -> Result<(), PortError> {
        let name = self.names.queue(stage);
        match self.sqs.delete_message().queue_url(address).receipt_handle(handle).send().await {
            Err(error) if !is_run_out(&error) => Err(self.context("acknowledge a job", &name).failed(error)),
            _ => Ok(()),
        }
    }

    pub(super) async fn hide(&self, stage: QueueName, handle: &str, seconds: i32) -> Result<(), PortError> {
        let name = self.names.queue(stage);
        let change = self.sqs.change_message_visibility().queue_url(self.address(stage).await?).receipt_handle(handle);
        match change.visibility_timeout(seconds).send().await {
            Err(error) if !is_run_out(&error) => Err(self.context("put a job back", &name).failed(error)),
            _ => Ok(()),
        }
    }
}

/// True if the receipt has expired.
fn is_run_out(error: &impl ProvideErrorMetadata) -> bool {
    let code = error.code().unwrap_or_default().rsplit(['#', '.']).next().unwrap_or_default();
    matches!(
        code,
        "ReceiptHandleIsInvalid" | "MessageNotInflight" | "InvalidParameterValue" | "InvalidParameterValueException"
    )
}
