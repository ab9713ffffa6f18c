//! Runs the conformance suites over the adapters, except `queue_exact`; that suite's documentation gives the reason.

use super::{RealTime, Stack};
use crate::Store;
use curlew_ports::{Blobs, Marks, Pages, RobotsStore, Sources};
use curlew_testkit::conformance;
use curlew_testkit::conformance::Fresh;
use curlew_testkit::conformance::hosts::HostPorts;
use curlew_testkit::conformance::queue::QueuePorts;
use std::sync::Arc;

async fn part<T>(take: impl Fn(&Store) -> T) -> Fresh<T> {
    Fresh::new(take(&Stack::new().await.store))
}

conformance!(hosts, part(|store| HostPorts::new(store.hosts.clone())).await);
conformance!(robots, part(|store| store.robots.clone() as Arc<dyn RobotsStore>).await);
conformance!(marks, part(|store| store.hosts.clone() as Arc<dyn Marks>).await);
conformance!(pages, part(|store| store.pages.clone() as Arc<dyn Pages>).await);
conformance!(sources, part(|store| store.sources.clone() as Arc<dyn Sources>).await);
conformance!(queue, part(|store| QueuePorts::in_time(store.jobs(), Arc::new(RealTime))).await);
conformance!(blobs, part(|store| store.objects() as Arc<dyn Blobs>).await);
