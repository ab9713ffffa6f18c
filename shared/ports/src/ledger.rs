use crate::PortError;
use async_trait::async_trait;
use bytes::Bytes;
use curlew_model::{HostKey, HostState, Origin, Timestamp, Validators};

/// Version of an item's state; meaningful only to the adapter that issued it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(pub u64);

impl Version {
    /// Version of an item that does not exist yet.
    pub const ABSENT: Version = Version(0);
}

/// Stores the state of host keys; politeness needs only compare-and-swap.
#[async_trait]
pub trait HostLedger: Send + Sync {
    /// Returns state and version with strong consistency; the default state and [`Version::ABSENT`] if there is none.
    async fn load(&self, host: &HostKey) -> Result<(HostState, Version), PortError>;

    /// Returns the state with eventual consistency, which may cost less than [`HostLedger::load`]. A swap against an
    /// old version ends in a conflict, so no decision is based on an old state.
    async fn load_eventual(&self, host: &HostKey) -> Result<(HostState, Version), PortError> {
        self.load(host).await
    }

    /// Replaces the state if its version is still `seen`; otherwise writes nothing and returns [`PortError::Conflict`].
    async fn swap(&self, host: &HostKey, seen: Version, next: HostState) -> Result<Version, PortError>;
}

/// Lists all host keys page by page, for operators.
#[async_trait]
pub trait Hosts: Send + Sync {
    /// Returns at most `limit` states after the key `after`, in a stable order.
    async fn list(&self, after: Option<&HostKey>, limit: usize) -> Result<Vec<(HostKey, HostState)>, PortError>;
}

/// Maximum number of attempts of [`update_host`] when others change the state meanwhile.
pub const SWAP_TRIES: u32 = 16;

/// Updates a host's state by compare-and-swap with `decide`; [`PortError::Conflict`] after [`SWAP_TRIES`] attempts.
pub async fn update_host<T: Send>(
    ledger: &dyn HostLedger,
    host: &HostKey,
    decide: impl Fn(HostState) -> (HostState, T) + Send + Sync,
) -> Result<T, PortError> {
    let first = ledger.load_eventual(host).await?;
    update_host_from(ledger, host, first, decide).await.map(|(answer, _)| answer)
}

/// Updates a host's state as [`update_host`] does, from a known state that may be stale; also returns the new version.
/// A decision to change nothing counts only if it is based on a newly loaded state.
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

/// The last fetched copy of a robots.txt, which `curlew-policy` interprets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RobotsCopy {
    /// Name of the standing that policy derived from the answer.
    pub standing: String,
    /// The body of the last success, at most 512 KiB; kept after later failures.
    pub body: Bytes,
    /// Time at which the body was fetched.
    pub body_at: Timestamp,
    /// Time of the last request for the file.
    pub fetched_at: Timestamp,
    /// Time until which the standing may be used without a new request.
    pub fresh_until: Timestamp,
    /// Validators for the next conditional request.
    pub validators: Validators,
}

/// Stores copies of robots.txt files by origin.
#[async_trait]
pub trait RobotsStore: Send + Sync {
    /// Returns the copy, of any age.
    async fn get(&self, origin: &Origin) -> Result<Option<RobotsCopy>, PortError>;

    /// Stores a copy; the last writer wins.
    async fn put(&self, origin: &Origin, copy: &RobotsCopy) -> Result<(), PortError>;
}

/// Stores named instants, such as the progress of dispatch.
#[async_trait]
pub trait Marks: Send + Sync {
    /// Returns the instant and its version; `None` at [`Version::ABSENT`] if it was never set.
    async fn load(&self, name: &str) -> Result<(Option<Timestamp>, Version), PortError>;

    /// Replaces the instant if its version is still `seen`; otherwise [`PortError::Conflict`].
    async fn swap(&self, name: &str, seen: Version, next: Timestamp) -> Result<Version, PortError>;
}
