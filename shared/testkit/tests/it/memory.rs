//! The fakes do what adapters have to do, also behind fault wrappers that are switched off.

use curlew_model::Timestamp;
use curlew_ports::{Blobs, CpuPool, InlinePool, Marks, Pages, RangeCache, RobotsStore, Sources};
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

    async fn hosts() -> Fresh<HostPorts> {
        Fresh::new(HostPorts::new(Arc::new(MemoryHosts::default())))
    }

    async fn queue() -> Fresh<QueuePorts> {
        Fresh::new(QueuePorts::new(Arc::new(MemoryJobs::default())))
    }

    async fn robots() -> Fresh<Arc<dyn RobotsStore>> {
        Fresh::new(Arc::new(MemoryRobots::default()))
    }

    async fn marks() -> Fresh<Arc<dyn Marks>> {
        Fresh::new(Arc::new(MemoryMarks::default()))
    }

    async fn pages() -> Fresh<Arc<dyn Pages>> {
        Fresh::new(Arc::new(MemoryPages::default()))
    }

    async fn sources() -> Fresh<Arc<dyn Sources>> {
        Fresh::new(Arc::new(MemorySources::default()))
    }

    async fn blobs() -> Fresh<Arc<dyn Blobs>> {
        Fresh::new(Arc::new(MemoryBlobs::default()))
    }

    async fn range_cache() -> Fresh<Arc<dyn RangeCache>> {
        Fresh::new(Arc::new(MemoryRangeCache::default()))
    }

    async fn cpu() -> Fresh<Arc<dyn CpuPool>> {
        Fresh::new(Arc::new(InlinePool))
    }

    conformance!(hosts, hosts);
    conformance!(robots, robots);
    conformance!(marks, marks);
    conformance!(pages, pages);
    conformance!(sources, sources);
    conformance!(queue, queue);
    conformance!(queue_exact, queue);
    conformance!(blobs, blobs);
    conformance!(range_cache, range_cache);
    conformance!(cpu, cpu);
}

mod wrapped {
    use super::*;

    fn calm<P>(port: P) -> Arc<Faulty<P>> {
        let clock = Arc::new(TokioClock::starting_at(Timestamp::EPOCH));
        Arc::new(Faulty::new(Arc::new(port), Faults::none(clock)))
    }

    async fn hosts() -> Fresh<HostPorts> {
        Fresh::new(HostPorts::new(calm(MemoryHosts::default())))
    }

    async fn queue() -> Fresh<QueuePorts> {
        Fresh::new(QueuePorts::new(calm(MemoryJobs::default())))
    }

    async fn robots() -> Fresh<Arc<dyn RobotsStore>> {
        Fresh::new(calm(MemoryRobots::default()))
    }

    async fn marks() -> Fresh<Arc<dyn Marks>> {
        Fresh::new(calm(MemoryMarks::default()))
    }

    async fn pages() -> Fresh<Arc<dyn Pages>> {
        Fresh::new(calm(MemoryPages::default()))
    }

    async fn sources() -> Fresh<Arc<dyn Sources>> {
        Fresh::new(calm(MemorySources::default()))
    }

    async fn blobs() -> Fresh<Arc<dyn Blobs>> {
        Fresh::new(calm(MemoryBlobs::default()))
    }

    conformance!(hosts, hosts);
    conformance!(robots, robots);
    conformance!(marks, marks);
    conformance!(pages, pages);
    conformance!(sources, sources);
    conformance!(queue, queue);
    conformance!(queue_exact, queue);
    conformance!(blobs, blobs);
}

mod judged {
    use super::*;

    async fn blobs() -> Fresh<Arc<dyn Blobs>> {
        Fresh::new(JudgedBlobs::new(Arc::new(MemoryBlobs::default()), |_, _| BlobFate::Pass))
    }

    conformance!(blobs, blobs);
}
