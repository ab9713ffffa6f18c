//! The DynamoDB, SQS and S3 adapters.
