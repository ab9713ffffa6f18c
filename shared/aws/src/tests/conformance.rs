//! The conformance suites over these adapters. Only `queue_exact` is left out; its documentation gives the reason.

use super::{RealTime, Stack};
use crate::Store;
use curlew_ports::{Blobs, Marks, Pages, RobotsStore, Sources};
use curlew_testkit::conformance;
use curlew_testkit::conformance::Fresh;
use curlew_testkit::conformance::hosts::HostPorts;
use curlew_testkit::conformance::queue::QueuePorts;
use std::sync::Arc;

/// Returns a part of an empty stack.
async fn part<T>(take: impl Fn(&Store) -> T) -> Fresh<T> {
    Fresh::new(take(&Stack::new().await.store))
}

async fn fresh_hosts() -> Fresh<HostPorts> {
    part(|store| HostPorts::new(store.hosts.clone())).await
}

async fn fresh_queue() -> Fresh<QueuePorts> {
    part(|store| QueuePorts::in_time(store.jobs(), Arc::new(RealTime))).await
}

async fn fresh_robots() -> Fresh<Arc<dyn RobotsStore>> {
    part(|store| store.robots.clone() as Arc<dyn RobotsStore>).await
}

async fn fresh_marks() -> Fresh<Arc<dyn Marks>> {
    part(|store| store.marks.clone() as Arc<dyn Marks>).await
}

async fn fresh_pages() -> Fresh<Arc<dyn Pages>> {
    part(|store| store.pages.clone() as Arc<dyn Pages>).await
}

async fn fresh_sources() -> Fresh<Arc<dyn Sources>> {
    part(|store| store.sources.clone() as Arc<dyn Sources>).await
}

async fn fresh_blobs() -> Fresh<Arc<dyn Blobs>> {
    part(|store| store.objects() as Arc<dyn Blobs>).await
}

conformance!(hosts, fresh_hosts);
conformance!(robots, fresh_robots);
conformance!(marks, fresh_marks);
conformance!(pages, fresh_pages);
conformance!(sources, fresh_sources);
conformance!(queue, fresh_queue);
conformance!(blobs, fresh_blobs);
