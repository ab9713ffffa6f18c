//! Runs the conformance suites over the adapters of this crate.

use crate::db::Db;
use crate::queue::put;
use crate::{Access, Store};
use async_trait::async_trait;
use curlew_model::{QueueName, Timestamp};
use curlew_ports::{Blobs, PortError};
use curlew_testkit::conformance;
use curlew_testkit::conformance::Fresh;
use curlew_testkit::conformance::hosts::HostPorts;
use curlew_testkit::conformance::queue::{QueuePorts, SendRaw};
use std::sync::Arc;

#[async_trait]
impl SendRaw for Db {
    async fn send_raw(&self, stage: QueueName, message: &str, due: Timestamp) -> Result<(), PortError> {
        let message = message.to_owned();
        self.write("send a message", move |c| put(c, stage.as_str(), due.as_millis(), &message)).await
    }
}

/// Returns one port of an empty store in a temporary folder.
fn part<T>(take: impl Fn(&Store) -> T) -> Fresh<T> {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let store = Store::open(dir.path(), Access::Exclusive).expect("opens");
    Fresh::with(take(&store), (store, dir))
}

conformance!(hosts, part(|store| HostPorts::new(Arc::new(store.db().clone()))));
conformance!(robots, part(|store| store.ports().robots));
conformance!(marks, part(|store| store.ports().marks));
conformance!(pages, part(|store| store.ports().pages));
conformance!(sources, part(|store| store.ports().sources));
conformance!(queue, part(|store| QueuePorts::new(Arc::new(store.db().clone()))));
conformance!(queue_exact, part(|store| QueuePorts::new(Arc::new(store.db().clone()))));
conformance!(blobs, part(|store| store.objects() as Arc<dyn Blobs>));
