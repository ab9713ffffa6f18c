//! The version of the stack's rows and objects: an earlier program must not change data of a later one. Every function
//! reads the version together with the settings ([`crate::in_force`]), at its first invocation and then at most once a
//! minute, and refuses all work if a newer program has written the stack.
//!
//! Reading it only at the start is not enough: during a gradual deployment, and after a rollback, processes that
//! started earlier are still invoked. The version is an item of a table instead of an object, since half a read unit
//! costs a sixth of a GET request.

use curlew_model::Millis;
use curlew_ports::PortError;
use curlew_ports::stage::with_causes;
use std::future::Future;
use tokio::sync::Mutex;

/// Interval at which the version is read.
const READ_EVERY: Millis = Millis::from_mins(1);

/// Decision of the last check.
#[derive(Default)]
pub(crate) struct VersionCheck {
    /// Monotonic time of the check, and the reason for refusing all work, if there is one.
    last: Mutex<Option<(Millis, Option<String>)>>,
}

impl VersionCheck {
    /// Returns the reason for refusing all work, if there is one. `now` is monotonic time. `read` is awaited only if
    /// the last check is at least a minute old.
    pub(crate) async fn refusal(
        &self,
        now: Millis,
        read: impl Future<Output = Result<(), PortError>>,
    ) -> Option<String> {
        let mut last = self.last.lock().await;
        let before = match &*last {
            Some((read_at, refusal)) if now.saturating_sub(*read_at) < READ_EVERY => return refusal.clone(),
            before => before.as_ref().and_then(|(_, refusal)| refusal.clone()),
        };
        let refusal = decide(read.await, before);
        *last = Some((now, refusal.clone()));
        refusal
    }
}

/// Decides from the result of reading the version, and from the previous decision. A failed read changes nothing: the
/// rows are then unreachable too, so work on them fails anyway, and a search needs no rows.
fn decide(read: Result<(), PortError>, before: Option<String>) -> Option<String> {
    match read {
        Ok(()) => None,
        Err(later @ PortError::Corrupt { .. }) => Some(with_causes(&later)),
        Err(error) => {
            let error = with_causes(&error);
            tracing::warn!(error, "the version of the stack could not be read; it is read again in a minute");
            before
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn later() -> PortError {
        PortError::Corrupt { what: "the version".to_owned(), why: "it is 4".to_owned() }
    }

    fn out_of_reach() -> PortError {
        PortError::unavailable("reading the version", "the table is out of reach")
    }

    #[test]
    fn a_later_version_is_refused_and_one_that_cannot_be_read_changes_nothing() {
        let refused = || Some("the version cannot be read: it is 4".to_owned());
        for before in [None, refused(), Some("an earlier reason".to_owned())] {
            assert_eq!(decide(Ok(()), before.clone()), None);
            assert_eq!(decide(Err(later()), before.clone()), refused());
            for error in [out_of_reach(), PortError::Throttled { retry_after: Millis::ZERO }] {
                assert_eq!(decide(Err(error), before.clone()), before);
            }
        }
    }

    #[tokio::test]
    async fn it_is_read_at_the_first_invocation_and_then_once_a_minute() {
        let check = VersionCheck::default();
        let is_refused = async |second: u64, read: Result<(), PortError>| {
            check.refusal(Millis::from_secs(second), async { read }).await.is_some()
        };
        assert!(!is_refused(7, Ok(())).await);
        assert!(!is_refused(66, Err(later())).await, "it is not read yet");
        assert!(is_refused(67, Err(later())).await, "the later program came while this process lived");
        assert!(is_refused(126, Ok(())).await, "it is not read yet");
        assert!(is_refused(127, Err(out_of_reach())).await);
        assert!(!is_refused(187, Ok(())).await);
        let first = VersionCheck::default();
        assert!(first.refusal(Millis::ZERO, async { Err(later()) }).await.is_some());
    }
}
