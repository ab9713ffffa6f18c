//! Counts throttled requests to tables, including those that the SDK retries silently.

use crate::error::is_throttling;
use aws_sdk_dynamodb::config::interceptors::FinalizerInterceptorContextRef;
use aws_sdk_dynamodb::config::{ConfigBag, Intercept, RuntimeComponents};
use aws_sdk_dynamodb::error::BoxError;
use serde::Deserialize;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Number of throttled requests since the start of the process. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Throttles(Arc<AtomicU64>);

impl Throttles {
    /// Returns the number of throttled requests.
    pub(crate) fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// An error response of DynamoDB.
#[derive(Deserialize)]
struct Refusal {
    #[serde(rename = "__type")]
    code: String,
}

impl Intercept for Throttles {
    fn name(&self) -> &'static str {
        "Throttles"
    }

    fn read_after_attempt(
        &self,
        context: &FinalizerInterceptorContextRef<'_>,
        _components: &RuntimeComponents,
        _bag: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let Some(response) = context.response().filter(|response| !response.status().is_success()) else {
            return Ok(());
        };
        let refusal = response.body().bytes().and_then(|body| serde_json::from_slice::<Refusal>(body).ok());
        let code = refusal.map(|refusal| refusal.code).unwrap_or_default();
        if is_throttling(&code, response.status().as_u16()) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }
}
