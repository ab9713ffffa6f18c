//! Limits the memory for bodies that a fetcher is reading or has returned. A body waits for room, or is dropped: a
//! hundred large bodies at once must not kill the process. One body at a time may take what it needs in addition to the
//! shared room, so that bodies never all wait for each other.

use bytes::Bytes;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Number of bytes that are taken at once.
const STEP: usize = 64 << 10;
/// Bytes of each body that are not counted, so that usual pages never wait for large ones: 256 KiB, and the piece that
/// exceeds them. For a hundred concurrent calls they are 31 MiB.
const UNCOUNTED: usize = (256 << 10) + STEP;

#[derive(Clone, Debug)]
pub(crate) struct Room {
    bytes: Arc<Semaphore>,
    /// The place for one body in addition to the shared room.
    beside: Arc<Semaphore>,
}

impl Room {
    /// Creates room for this number of bytes, or for one body of `largest` if that is more.
    pub(crate) fn with_limits(bytes: usize, largest: usize) -> Room {
        let shared = bytes.saturating_sub(largest).min(Semaphore::MAX_PERMITS);
        Room { bytes: Arc::new(Semaphore::new(shared)), beside: Arc::new(Semaphore::new(1)) }
    }

    pub(crate) fn share(&self) -> Share {
        Share { room: self.clone(), taken: None, beside: None }
    }
}

/// A body's share of the room, which is released on drop.
#[derive(Debug)]
pub(crate) struct Share {
    room: Room,
    taken: Option<OwnedSemaphorePermit>,
    /// The place in addition to the shared room, if the body has it; the body then needs no more of the shared room.
    beside: Option<OwnedSemaphorePermit>,
}

impl Share {
    /// Waits for room for the next piece of a body of `length` bytes.
    pub(crate) async fn wait(&mut self, length: usize) {
        let Some(more) = self.missing(length + STEP) else { return };
        let Room { bytes, beside } = self.room.clone();
        // The semaphores are never closed.
        tokio::select! {
            biased;
            Ok(permit) = bytes.acquire_many_owned(more) => self.add(permit),
            Ok(permit) = beside.acquire_owned() => self.beside = Some(permit),
            else => {}
        }
    }

    /// Takes room for a body of `length` bytes; returns true if the body has enough.
    pub(crate) fn grow(&mut self, length: usize) -> bool {
        let Some(more) = self.missing(length) else { return true };
        if let Ok(permit) = self.room.bytes.clone().try_acquire_many_owned(more) {
            self.add(permit);
        } else {
            self.beside = self.room.beside.clone().try_acquire_owned().ok();
        }
        self.missing(length).is_none()
    }

    /// Returns the whole body, which keeps its room until it is dropped.
    pub(crate) fn keep(mut self, body: Vec<u8>) -> Bytes {
        let needed = body.len().saturating_sub(UNCOUNTED);
        if needed == 0 {
            return body.into();
        }
        if let Some(taken) = &mut self.taken {
            drop(taken.split(taken.num_permits().saturating_sub(needed)));
        }
        Bytes::from_owner(Kept { body, _room: (self.taken, self.beside) })
    }

    fn missing(&self, length: usize) -> Option<u32> {
        if self.beside.is_some() {
            return None;
        }
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

struct Kept {
    body: Vec<u8>,
    _room: (Option<OwnedSemaphorePermit>, Option<OwnedSemaphorePermit>),
}

impl AsRef<[u8]> for Kept {
    fn as_ref(&self) -> &[u8] {
        &self.body
    }
}
