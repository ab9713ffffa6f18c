//! The conformance suites over these adapters.

use crate::db::Db;
use crate::queue::put;
use crate::{Access, Store};
use async_trait::async_trait;
use curlew_model::{QueueName, Timestamp};
use curlew_ports::{Blobs, Marks, Pages, PortError, RobotsStore, Sources};
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

/// Returns a part of an empty store in a temporary folder.
fn part<T>(take: impl Fn(&Store) -> T) -> Fresh<T> {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let store = Store::open(dir.path(), Access::Exclusive).expect("opens");
    Fresh::with(take(&store), (store, dir))
}

async fn fresh_hosts() -> Fresh<HostPorts> {
    part(|store| HostPorts::new(store.hosts()))
}

async fn fresh_queue() -> Fresh<QueuePorts> {
    part(|store| QueuePorts::new(Arc::new(store.db().clone())))
}

async fn fresh_robots() -> Fresh<Arc<dyn RobotsStore>> {
    part(Store::robots)
}

async fn fresh_marks() -> Fresh<Arc<dyn Marks>> {
    part(Store::marks)
}

async fn fresh_pages() -> Fresh<Arc<dyn Pages>> {
    part(Store::pages)
}

async fn fresh_sources() -> Fresh<Arc<dyn Sources>> {
    part(Store::sources)
}

async fn fresh_blobs() -> Fresh<Arc<dyn Blobs>> {
    part(|store| store.objects() as Arc<dyn Blobs>)
}

conformance!(hosts, fresh_hosts);
conformance!(robots, fresh_robots);
conformance!(marks, fresh_marks);
conformance!(pages, fresh_pages);
conformance!(sources, fresh_sources);
conformance!(queue, fresh_queue);
conformance!(queue_exact, fresh_queue);
conformance!(blobs, fresh_blobs);
