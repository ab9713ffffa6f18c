//! Memory for the bodies that a fetcher has under way or has given out. What is not there is waited for, or the body is
//! dropped: a hundred large bodies at once must not end the process, and all other calls with it.

use bytes::Bytes;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Bytes of each body that are not counted, so that usual pages never wait for large ones: 25 MiB with a hundred calls at once.
const UNCOUNTED: usize = 256 << 10;
/// Bytes that are taken at once.
const STEP: usize = 64 << 10;

/// The memory of a fetcher.
#[derive(Clone, Debug)]
pub(crate) struct Room {
    bytes: Arc<Semaphore>,
}

impl Room {
    /// Creates room for this number of bytes, or for one body of `largest`.
    pub(crate) fn of(bytes: usize, largest: usize) -> Room {
        Room { bytes: Arc::new(Semaphore::new(bytes.max(largest).min(Semaphore::MAX_PERMITS))) }
    }

    /// The share of a body that has not begun.
    pub(crate) fn share(&self) -> Share {
        Share { room: self.clone(), taken: None }
    }
}

/// One body's share of the room; given back on drop.
#[derive(Debug)]
pub(crate) struct Share {
    room: Room,
    taken: Option<OwnedSemaphorePermit>,
}

impl Share {
    /// Waits until the next piece of a body of `length` bytes finds room.
    pub(crate) async fn wait(&mut self, length: usize) {
        if let Some(more) = self.missing(length + STEP)
            && let Ok(permit) = self.room.bytes.clone().acquire_many_owned(more).await
        {
            self.add(permit);
        }
    }

    /// Takes room for a body of `length` bytes, if there is some; says whether there was.
    pub(crate) fn grow(&mut self, length: usize) -> bool {
        let Some(more) = self.missing(length) else { return true };
        let taken = self.room.bytes.clone().try_acquire_many_owned(more);
        taken.map(|permit| self.add(permit)).is_ok()
    }

    /// The whole body, which keeps its room until nobody has it any more.
    pub(crate) fn keep(mut self, body: Vec<u8>) -> Bytes {
        let needed = body.len().saturating_sub(UNCOUNTED);
        let Some(mut taken) = self.taken.take().filter(|_| needed > 0) else { return body.into() };
        drop(taken.split(taken.num_permits().saturating_sub(needed)));
        Bytes::from_owner(Kept { body, _taken: taken })
    }

    fn missing(&self, length: usize) -> Option<u32> {
        let taken = self.taken.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
        let missing = length.saturating_sub(UNCOUNTED).saturating_sub(taken);
        (missing > 0).then(|| u32::try_from(missing.next_multiple_of(STEP)).unwrap_or(u32::MAX))
    }

    fn add(&mut self, permit: OwnedSemaphorePermit) {
        match &mut self.taken {
            Some(taken) => taken.merge(permit),
            none => *none = Some(permit),
        }
    }
}

/// A body with its room.
struct Kept {
    body: Vec<u8>,
    _taken: OwnedSemaphorePermit,
}

impl AsRef<[u8]> for Kept {
    fn as_ref(&self) -> &[u8] {
        &self.body
    }
}
