//! What the functions share: SQS batches, cold start, JSON logs, metrics.
