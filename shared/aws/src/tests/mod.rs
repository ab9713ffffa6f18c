//! Tests of the adapters against an endpoint that behaves like AWS, and against a server that returns AWS errors.

mod conformance;
mod parking;
mod refusals;
mod sending;
mod server;

use crate::chance::long_name;
use crate::{Connection, Names, Store, provision};
use async_trait::async_trait;
use curlew_model::{Millis, Timestamp};
use curlew_testkit::conformance::queue::Pass;

/// Names of a stack whose requests go to a test server.
fn names() -> Names {
    Names { stack: "s".into(), bucket: "s-data-1-x".into() }
}

struct Stack {
    connection: Connection,
    names: Names,
    store: Store,
}

impl Stack {
    async fn new() -> Stack {
        let endpoint = std::env::var("AWS_ENDPOINT_URL").unwrap_or_default();
        assert!(
            !endpoint.is_empty(),
            "AWS_ENDPOINT_URL is not set: run `cargo xtask test`, which starts an emulator of AWS for these tests"
        );
        let connection = Connection::from_environment().await;
        let stack = format!("t{}", &long_name()[..12]);
        let names = Names { bucket: format!("{stack}-data-000000000000-us-east-1"), stack };
        provision(&connection, &names).await.expect("provisions");
        let store = Store::new(&connection, names.clone());
        Stack { connection, names, store }
    }
}

struct RealTime;

#[async_trait]
impl Pass for RealTime {
    fn now(&self) -> Timestamp {
        crate::jobs::wall_clock()
    }

    fn step(&self) -> Millis {
        Millis::from_secs(4)
    }

    async fn until(&self, due: Timestamp) {
        // SQS counts delays in whole seconds from the moment when it accepts the message.
        const MARGIN: Millis = Millis(1_500);
        tokio::time::sleep((due + MARGIN).since(self.now()).as_duration()).await;
    }

    async fn until_before(&self, _due: Timestamp) {}
}
