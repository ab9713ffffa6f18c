use crate::PortError;
use async_trait::async_trait;
use bytes::Bytes;
use curlew_model::{HostKey, HostState, Origin, Timestamp, Validators};

/// Version of an item's state; meaningful only to the adapter that gave it out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(pub u64);

impl Version {
    /// The version of an item that does not exist yet.
    pub const ABSENT: Version = Version(0);
}

/// The state of host keys: compare-and-swap is all that politeness needs.
#[async_trait]
pub trait HostLedger: Send + Sync {
    /// Returns state and version, strongly consistent; the default at [`Version::ABSENT`] if there is none.
    async fn load(&self, host: &HostKey) -> Result<(HostState, Version), PortError>;

    /// Returns the state as it is now or was a moment ago; may cost less than [`HostLedger::load`]. A swap against an
    /// old version ends in a conflict, so nothing is decided by an old state.
    async fn load_eventual(&self, host: &HostKey) -> Result<(HostState, Version), PortError> {
        self.load(host).await
    }

    /// Replaces the state if its version is still `seen`; otherwise [`PortError::Conflict`], and nothing was written.
    async fn swap(&self, host: &HostKey, seen: Version, next: HostState) -> Result<Version, PortError>;
}

/// For people who look: all host keys, page by page.
#[async_trait]
pub trait Hosts: Send + Sync {
    /// Returns states in an order that does not change, after the key `after`, at most `limit`.
    async fn list(&self, after: Option<&HostKey>, limit: usize) -> Result<Vec<(HostKey, HostState)>, PortError>;
}

/// Maximum number of tries of [`update_host`] against conflicts.
pub const SWAP_TRIES: u32 = 16;

/// Loads, asks a pure function, and swaps; after [`SWAP_TRIES`] lost races [`PortError::Conflict`].
pub async fn update_host<T: Send>(
    ledger: &dyn HostLedger,
    host: &HostKey,
    decide: impl Fn(HostState) -> (HostState, T) + Send + Sync,
) -> Result<T, PortError> {
    let first = ledger.load_eventual(host).await?;
    update_host_from(ledger, host, first, decide).await.map(|(answer, _)| answer)
}

/// Updates a host's state as [`update_host`] does, from a known state that may be stale; returns the present version. A
/// decision to change nothing is believed only over a state that was loaded.
pub async fn update_host_from<T: Send>(
    ledger: &dyn HostLedger,
    host: &HostKey,
    first: (HostState, Version),
    decide: impl Fn(HostState) -> (HostState, T) + Send + Sync,
) -> Result<(T, Version), PortError> {
    let mut known = Some(first);
    for _ in 0..SWAP_TRIES {
        let (is_certain, (state, seen)) = match known.take() {
            Some(known) => (false, known),
            None => (true, ledger.load(host).await?),
        };
        let before = state.clone();
        let (next, answer) = decide(state);
        if next == before {
            if is_certain {
                return Ok((answer, seen));
            }
            continue;
        }
        match ledger.swap(host, seen, next).await {
            Ok(now) => return Ok((answer, now)),
            Err(PortError::Conflict) => {}
            Err(other) => return Err(other),
        }
    }
    Err(PortError::Conflict)
}

/// A robots.txt as it was fetched last. Its meaning is decided by `curlew-policy`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RobotsCopy {
    /// The policy's word for what the answer meant.
    pub standing: String,
    /// The body of the last success, at most 512 KiB; kept through later failures.
    pub body: Bytes,
    /// Time at which the body was fetched.
    pub body_at: Timestamp,
    /// Time of the last request for it.
    pub fetched_at: Timestamp,
    /// Time until which the file's standing may be used without asking again.
    pub fresh_until: Timestamp,
    /// For the conditional request.
    pub validators: Validators,
}

/// Copies of robots.txt files by origin.
#[async_trait]
pub trait RobotsStore: Send + Sync {
    /// Returns the copy, however old.
    async fn get(&self, origin: &Origin) -> Result<Option<RobotsCopy>, PortError>;

    /// Keeps a copy; the last writer wins.
    async fn put(&self, origin: &Origin, copy: &RobotsCopy) -> Result<(), PortError>;
}

/// Named instants, such as how far dispatch has come.
#[async_trait]
pub trait Marks: Send + Sync {
    /// Returns the instant and its version; `None` at [`Version::ABSENT`] if it was never set.
    async fn load(&self, name: &str) -> Result<(Option<Timestamp>, Version), PortError>;

    /// Replaces the instant if its version is still `seen`; otherwise [`PortError::Conflict`].
    async fn swap(&self, name: &str, seen: Version, next: Timestamp) -> Result<Version, PortError>;
}
