//! Tests that the fakes pass the conformance suites, also behind fault wrappers without faults.

use curlew_model::Timestamp;
use curlew_ports::InlinePool;
use curlew_testkit::conformance;
use curlew_testkit::conformance::Fresh;
use curlew_testkit::conformance::hosts::HostPorts;
use curlew_testkit::conformance::queue::QueuePorts;
use curlew_testkit::faults::{BlobFate, Faults, Faulty, JudgedBlobs};
use curlew_testkit::memory::{
    MemoryBlobs, MemoryHosts, MemoryJobs, MemoryMarks, MemoryPages, MemoryRangeCache, MemoryRobots, MemorySources,
    TokioClock,
};
use std::sync::Arc;

mod plain {
    use super::*;

    conformance!(hosts, Fresh::new(HostPorts::new(Arc::new(MemoryHosts::default()))));
    conformance!(robots, Fresh::new(Arc::new(MemoryRobots::default())));
    conformance!(marks, Fresh::new(Arc::new(MemoryMarks::default())));
    conformance!(pages, Fresh::new(Arc::new(MemoryPages::default())));
    conformance!(sources, Fresh::new(Arc::new(MemorySources::default())));
    conformance!(queue, Fresh::new(QueuePorts::new(Arc::new(MemoryJobs::default()))));
    conformance!(queue_exact, Fresh::new(QueuePorts::new(Arc::new(MemoryJobs::default()))));
    conformance!(blobs, Fresh::new(Arc::new(MemoryBlobs::default())));
    conformance!(range_cache, Fresh::new(Arc::new(MemoryRangeCache::default())));
    conformance!(cpu, Fresh::new(Arc::new(InlinePool)));
}

mod wrapped {
    use super::*;

    fn calm<P>(port: P) -> Arc<Faulty<P>> {
        let clock = Arc::new(TokioClock::starting_at(Timestamp::EPOCH));
        Arc::new(Faulty::new(Arc::new(port), Faults::none(clock)))
    }

    conformance!(hosts, Fresh::new(HostPorts::new(calm(MemoryHosts::default()))));
    conformance!(robots, Fresh::new(calm(MemoryRobots::default())));
    conformance!(marks, Fresh::new(calm(MemoryMarks::default())));
    conformance!(pages, Fresh::new(calm(MemoryPages::default())));
    conformance!(sources, Fresh::new(calm(MemorySources::default())));
    conformance!(queue, Fresh::new(QueuePorts::new(calm(MemoryJobs::default()))));
    conformance!(queue_exact, Fresh::new(QueuePorts::new(calm(MemoryJobs::default()))));
    conformance!(blobs, Fresh::new(calm(MemoryBlobs::default())));
}

mod judged {
    use super::*;

    conformance!(blobs, Fresh::new(JudgedBlobs::new(Arc::new(MemoryBlobs::default()), |_, _| BlobFate::Pass)));
}
