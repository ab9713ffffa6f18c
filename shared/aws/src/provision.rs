//! Creates a stack without its template, for tests, and finds a deployed stack.

use crate::connection::Connection;
use crate::error::{RequestContext, corrupt};
use crate::item::KEY;
use crate::names::Names;
use aws_sdk_dynamodb::types::{
    AttributeDefinition, BillingMode, KeySchemaElement, KeyType, ScalarAttributeType, TableStatus,
};
use aws_sdk_s3::types::{BucketLocationConstraint, CreateBucketConfiguration};
use aws_sdk_sqs::types::QueueAttributeName;
use curlew_model::QueueName;
use curlew_ports::PortError;
use futures::FutureExt;
use futures::future::try_join_all;
use std::time::Duration;

/// Maximum number of checks for a new table to become ready.
const READY_TRIES: u32 = 120;
const READY_PAUSE: Duration = Duration::from_millis(500);
/// Number of receives after which SQS itself moves a message to the dead-letter queue. The functions give up earlier
/// and add the reason.
const MAX_RECEIVES: u32 = 8;
/// The region that must not be named when a bucket is created in it.
const FIRST_REGION: &str = "us-east-1";

/// Returns the name of a stack's data bucket in the connection's region. The template's name for it consists of the
/// stack, the account and the region. [`PortError::NotFound`] if there is none, [`PortError::Corrupt`] if there are
/// several.
pub async fn find_bucket(connection: &Connection, stack: &str) -> Result<String, PortError> {
    let prefix = format!("{stack}-data");
    let asked = RequestContext { what: "list the buckets", kind: "bucket", name: &prefix, stack };
    let mut pages = connection.s3().list_buckets().prefix(&prefix).into_paginator().send();
    let mut found = Vec::new();
    while let Some(page) = pages.next().await {
        let buckets = page.map_err(|e| asked.failed(e))?.buckets.unwrap_or_default();
        found.extend(buckets.into_iter().filter_map(|bucket| bucket.name).filter(|name| is_of(name, &prefix)));
    }
    // A stack with the same name may be deployed in another region.
    if let (Some(region), true) = (connection.region(), found.len() > 1) {
        found.retain(|name| name.ends_with(&format!("-{region}")));
    }
    match found.len() {
        0 => Err(PortError::NotFound(format!("a bucket {prefix}-…, and so the stack {stack},"))),
        1 => Ok(found.swap_remove(0)),
        _ => Err(corrupt(format!("the stack {stack}"), format!("it has several data buckets: {}", found.join(", ")))),
    }
}

/// True if a name is the prefix itself, or begins with the prefix and a hyphen.
fn is_of(name: &str, prefix: &str) -> bool {
    name.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

/// Creates the tables, queues and the bucket of a stack like the template, but without its alarms, backups and
/// permissions, for tests against an emulator. Leaves existing parts unchanged.
pub async fn provision(connection: &Connection, names: &Names) -> Result<(), PortError> {
    let text = ScalarAttributeType::S;
    let tables = [
        table(connection, names, names.part("hosts"), (KEY, text.clone()), None),
        table(connection, names, names.part("pages"), (KEY, text.clone()), None),
        table(connection, names, names.part("sources"), ("slot", ScalarAttributeType::N), Some((KEY, text.clone()))),
        table(connection, names, names.part("parked"), ("due", text.clone()), Some(("id", text.clone()))),
    ];
    let queues = QueueName::ALL.map(|stage| queues(connection, names, stage));
    // Boxed, because these futures together are large for the caller's stack.
    let all = tables.into_iter().map(FutureExt::boxed).chain(queues.map(FutureExt::boxed));
    try_join_all(all.chain([bucket(connection, names).boxed()])).await.map(drop)
}

async fn table(
    connection: &Connection,
    names: &Names,
    name: String,
    hash: (&'static str, ScalarAttributeType),
    range: Option<(&'static str, ScalarAttributeType)>,
) -> Result<(), PortError> {
    let client = connection.dynamodb();
    let asked = RequestContext { what: "make a table", kind: "table", name: &name, stack: &names.stack };
    let malformed = |e: aws_sdk_dynamodb::error::BuildError| corrupt("a table's keys", e);
    let mut create = client.create_table().table_name(&name).billing_mode(BillingMode::PayPerRequest);
    let keys = [Some((hash, KeyType::Hash)), range.map(|range| (range, KeyType::Range))];
    for ((key, kind), part) in keys.into_iter().flatten() {
        let definition = AttributeDefinition::builder().attribute_name(key).attribute_type(kind).build();
        let element = KeySchemaElement::builder().attribute_name(key).key_type(part).build();
        create = create.attribute_definitions(definition.map_err(malformed)?).key_schema(element.map_err(malformed)?);
    }
    match create.send().await {
        Ok(_) => {}
        Err(error) if error.as_service_error().is_some_and(|e| e.is_resource_in_use_exception()) => {}
        Err(error) => return Err(asked.failed(error)),
    }
    for _ in 0..READY_TRIES {
        let described = client.describe_table().table_name(&name).send().await.map_err(|e| asked.failed(e))?;
        if described.table.and_then(|table| table.table_status) == Some(TableStatus::Active) {
            return Ok(());
        }
        tokio::time::sleep(READY_PAUSE).await;
    }
    Err(PortError::unavailable(format!("the table {name} was not ready"), "waited for a minute"))
}

/// Creates the queue of a stage and its dead-letter queue.
async fn queues(connection: &Connection, names: &Names, stage: QueueName) -> Result<(), PortError> {
    let client = connection.sqs();
    let (name, dead) = (names.queue(stage), names.dead_queue(stage));
    let asked = RequestContext { what: "make a queue", kind: "queue", name: &name, stack: &names.stack };
    let made = client.create_queue().queue_name(&dead).send().await.map_err(|e| asked.failed(e))?;
    let arn = client
        .get_queue_attributes()
        .queue_url(made.queue_url.unwrap_or_default())
        .attribute_names(QueueAttributeName::QueueArn)
        .send()
        .await
        .map_err(|e| asked.failed(e))?
        .attributes
        .and_then(|mut attributes| attributes.remove(&QueueAttributeName::QueueArn))
        .unwrap_or_default();
    let redrive = format!(r#"{{"deadLetterTargetArn":"{arn}","maxReceiveCount":"{MAX_RECEIVES}"}}"#);
    let create = client.create_queue().queue_name(&name).attributes(QueueAttributeName::RedrivePolicy, redrive);
    create.send().await.map(drop).map_err(|e| asked.failed(e))
}

async fn bucket(connection: &Connection, names: &Names) -> Result<(), PortError> {
    let name = &names.bucket;
    let asked = RequestContext { what: "make a bucket", kind: "bucket", name, stack: &names.stack };
    let place = connection.region().filter(|region| *region != FIRST_REGION).map(|region| {
        CreateBucketConfiguration::builder().location_constraint(BucketLocationConstraint::from(region)).build()
    });
    let made = connection.s3().create_bucket().bucket(name).set_create_bucket_configuration(place).send().await;
    match made {
        Ok(_) => Ok(()),
        Err(error) if error.as_service_error().is_some_and(|e| e.is_bucket_already_owned_by_you()) => Ok(()),
        Err(error) => Err(asked.failed(error)),
    }
}
