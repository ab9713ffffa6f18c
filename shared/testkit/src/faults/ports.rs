//! Implementations of the ports in which [`Faults::call`](super::Faults) may inject a fault into each call.

use super::{Fault, Faulty};
use crate::conformance::queue::SendRaw;
use async_trait::async_trait;
use bytes::Bytes;
use curlew_model::{
    HostKey, HostState, Job, Millis, Origin, Page, PageId, QueueName, Slot, Source, SourceKey, Timestamp,
};
use curlew_ports::{
    Blob, Blobs, Call, Dead, Delivery, Fetch, FetchError, HostLedger, Hosts, Inbox, Marks, Pages, PortError, Queue,
    QueueCount, Receipt, Reply, RobotsCopy, RobotsStore, Sources, Tag, Version, Waiting,
};
use std::collections::BTreeMap;
use std::sync::PoisonError;

#[async_trait]
impl<P: HostLedger + ?Sized> HostLedger for Faulty<P> {
    async fn load(&self, host: &HostKey) -> Result<(HostState, Version), PortError> {
        self.faults.call("load a host", self.port.load(host)).await
    }

    async fn load_eventual(&self, host: &HostKey) -> Result<(HostState, Version), PortError> {
        self.faults.call("load_eventual a host", self.port.load_eventual(host)).await
    }

    async fn swap(&self, host: &HostKey, seen: Version, next: HostState) -> Result<Version, PortError> {
        self.faults.call("swap a host", self.port.swap(host, seen, next)).await
    }
}

#[async_trait]
impl<P: Hosts + ?Sized> Hosts for Faulty<P> {
    async fn list(&self, after: Option<&HostKey>, limit: usize) -> Result<Vec<(HostKey, HostState)>, PortError> {
        self.faults.call("list hosts", self.port.list(after, limit)).await
    }
}

#[async_trait]
impl<P: RobotsStore + ?Sized> RobotsStore for Faulty<P> {
    async fn get(&self, origin: &Origin) -> Result<Option<RobotsCopy>, PortError> {
        self.faults.call("get a robots.txt", self.port.get(origin)).await
    }

    async fn put(&self, origin: &Origin, copy: &RobotsCopy) -> Result<(), PortError> {
        self.faults.call("put a robots.txt", self.port.put(origin, copy)).await
    }
}

#[async_trait]
impl<P: Marks + ?Sized> Marks for Faulty<P> {
    async fn load(&self, name: &str) -> Result<(Option<Timestamp>, Version), PortError> {
        self.faults.call("load a mark", self.port.load(name)).await
    }

    async fn swap(&self, name: &str, seen: Version, next: Timestamp) -> Result<Version, PortError> {
        self.faults.call("swap a mark", self.port.swap(name, seen, next)).await
    }
}

#[async_trait]
impl<P: Pages + ?Sized> Pages for Faulty<P> {
    async fn get(&self, id: &PageId) -> Result<Option<(Page, Version)>, PortError> {
        self.faults.call("get a page", self.port.get(id)).await
    }

    async fn load_eventual(&self, id: &PageId) -> Result<Option<(Page, Version)>, PortError> {
        self.faults.call("load_eventual a page", self.port.load_eventual(id)).await
    }

    async fn insert(&self, page: &Page) -> Result<bool, PortError> {
        self.faults.call("insert a page", self.port.insert(page)).await
    }

    async fn swap(&self, seen: Version, page: &Page) -> Result<Version, PortError> {
        self.faults.call("swap a page", self.port.swap(seen, page)).await
    }

    async fn list(&self, after: Option<&PageId>, limit: usize) -> Result<Vec<Page>, PortError> {
        self.faults.call("list pages", self.port.list(after, limit)).await
    }
}

#[async_trait]
impl<P: Sources + ?Sized> Sources for Faulty<P> {
    async fn get(&self, key: &SourceKey) -> Result<Option<(Source, Version)>, PortError> {
        self.faults.call("get a source", self.port.get(key)).await
    }

    async fn get_together(&self, keys: &[SourceKey]) -> Result<Vec<(Source, Version)>, PortError> {
        self.faults.call("get sources", self.port.get_together(keys)).await
    }

    async fn insert(&self, source: &Source) -> Result<bool, PortError> {
        self.faults.call("insert a source", self.port.insert(source)).await
    }

    async fn swap(&self, seen: Version, source: &Source) -> Result<Version, PortError> {
        self.faults.call("swap a source", self.port.swap(seen, source)).await
    }

    async fn in_slot(&self, slot: Slot, after: Option<&SourceKey>, limit: usize) -> Result<Vec<Source>, PortError> {
        self.faults.call("list a slot", self.port.in_slot(slot, after, limit)).await
    }

    async fn list(&self, after: Option<&SourceKey>, limit: usize) -> Result<Vec<Source>, PortError> {
        self.faults.call("list sources", self.port.list(after, limit)).await
    }
}

#[async_trait]
impl<P: Blobs + ?Sized> Blobs for Faulty<P> {
    async fn get(&self, key: &str) -> Result<Option<Blob>, PortError> {
        self.faults.call("get an object", self.port.get(key)).await
    }

    async fn get_range(&self, key: &str, offset: u64, length: u64) -> Result<Bytes, PortError> {
        self.faults.call("get a range", self.port.get_range(key, offset, length)).await
    }

    async fn put(&self, key: &str, bytes: Bytes) -> Result<(), PortError> {
        self.faults.call("put an object", self.port.put(key, bytes)).await
    }

    async fn put_if_absent(&self, key: &str, bytes: Bytes) -> Result<bool, PortError> {
        self.faults.call("put a new object", self.port.put_if_absent(key, bytes)).await
    }

    async fn swap(&self, key: &str, seen: Option<&Tag>, bytes: Bytes) -> Result<Tag, PortError> {
        self.faults.call("swap an object", self.port.swap(key, seen, bytes)).await
    }

    async fn delete(&self, key: &str) -> Result<(), PortError> {
        self.faults.call("delete an object", self.port.delete(key)).await
    }

    async fn list(&self, prefix: &str, after: Option<&str>, limit: usize) -> Result<Vec<String>, PortError> {
        self.faults.call("list objects", self.port.list(prefix, after, limit)).await
    }
}

#[async_trait]
impl<P: Queue + ?Sized> Queue for Faulty<P> {
    async fn send(&self, jobs: &[(Job, Timestamp)]) -> Result<(), PortError> {
        self.faults.call("send jobs", self.port.send(jobs)).await
    }
}

#[async_trait]
impl<P: SendRaw + ?Sized> SendRaw for Faulty<P> {
    async fn send_raw(&self, stage: QueueName, message: &str, due: Timestamp) -> Result<(), PortError> {
        self.faults.call("send a message", self.port.send_raw(stage, message, due)).await
    }
}

#[async_trait]
impl<P: Inbox + ?Sized> Inbox for Faulty<P> {
    async fn receive(
        &self,
        stage: QueueName,
        max: usize,
        visibility: Millis,
        now: Timestamp,
    ) -> Result<Vec<Delivery>, PortError> {
        let again = self.take_again(stage, max);
        let left = max.saturating_sub(again.len());
        let received = self.faults.call("receive jobs", self.port.receive(stage, left, visibility, now)).await?;
        for delivery in &received {
            if self.faults.next_is_duplicate() {
                self.again.lock().unwrap_or_else(PoisonError::into_inner).push((stage, delivery.clone()));
            }
        }
        Ok(again.into_iter().chain(received).collect())
    }

    async fn ack(&self, receipt: &Receipt) -> Result<(), PortError> {
        self.faults.call("acknowledge a job", self.port.ack(receipt)).await
    }

    async fn put_back(&self, receipt: &Receipt, due: Timestamp) -> Result<(), PortError> {
        self.faults.call("put a job back", self.port.put_back(receipt, due)).await
    }

    async fn dead_letter(&self, receipt: &Receipt, error: &str, now: Timestamp) -> Result<(), PortError> {
        self.faults.call("dead-letter a job", self.port.dead_letter(receipt, error, now)).await
    }

    async fn next_due(&self) -> Result<Option<Timestamp>, PortError> {
        self.faults.call("ask when a job is due", self.port.next_due()).await
    }

    async fn counts(&self, now: Timestamp) -> Result<BTreeMap<QueueName, QueueCount>, PortError> {
        self.faults.call("count jobs", self.port.counts(now)).await
    }

    async fn waiting(&self, now: Timestamp, limit: usize) -> Result<Vec<Waiting>, PortError> {
        self.faults.call("list waiting jobs", self.port.waiting(now, limit)).await
    }

    async fn dead(&self, limit: usize) -> Result<Vec<Dead>, PortError> {
        self.faults.call("list dead jobs", self.port.dead(limit)).await
    }

    async fn redrive(&self, receipt: &Receipt, now: Timestamp) -> Result<(), PortError> {
        self.faults.call("redrive a job", self.port.redrive(receipt, now)).await
    }

    async fn discard(&self, receipt: &Receipt) -> Result<(), PortError> {
        self.faults.call("discard a job", self.port.discard(receipt)).await
    }
}

impl<P: ?Sized> Faulty<P> {
    /// Returns deliveries of a stage for a second time, with their first receipts.
    fn take_again(&self, stage: QueueName, max: usize) -> Vec<Delivery> {
        let mut again = self.again.lock().unwrap_or_else(PoisonError::into_inner);
        let mut taken = Vec::new();
        again.retain(|(of, delivery)| {
            let take = *of == stage && taken.len() < max;
            if take {
                taken.push(delivery.clone());
            }
            !take
        });
        taken
    }
}

/// Injects only crashes and delays: a fixture web makes network errors itself.
#[async_trait]
impl<P: Fetch + ?Sized> Fetch for Faulty<P> {
    async fn call(&self, call: &Call) -> Result<Reply, FetchError> {
        let ended = || FetchError::Network(super::Crashed.to_string().as_str().into());
        let fault = self.faults.next_fault();
        match fault {
            Fault::CrashBefore => return Err(ended()),
            Fault::Refuse | Fault::Throttle(_) => return Err(FetchError::Network("a fault by plan".into())),
            Fault::Delay(time) => self.faults.clock.sleep(time).await,
            Fault::Pass | Fault::LoseAnswer | Fault::CrashAfter => {}
        }
        if self.faults.has_crashed() {
            return Err(ended());
        }
        let reply = self.port.call(call).await;
        if fault == Fault::CrashAfter {
            self.faults.crash();
        }
        match fault {
            _ if self.faults.has_crashed() => Err(ended()),
            Fault::LoseAnswer => Err(FetchError::Network("the answer was lost by plan".into())),
            _ => reply,
        }
    }

    fn vet(&self, url: &str) -> Result<(), String> {
        self.port.vet(url)
    }
}
