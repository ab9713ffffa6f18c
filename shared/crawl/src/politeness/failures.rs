//! Failures worded for people, stored with a site that could not be read.

use curlew_model::{Failure, FailureCause, HoldReason, Rejection};
use curlew_ports::{CallKind, FetchError, Reply};

/// Returns the failure of a call, if it failed. A missing robots.txt is not a failure.
pub(crate) fn of_answer(answer: &Result<Reply, FetchError>, kind: CallKind) -> Option<Failure> {
    let (cause, detail) = match answer {
        Ok(Reply { status: status @ (401 | 403 | 429 | 500..), .. }) => {
            (FailureCause::Status, format!("the server answered {status}"))
        }
        Ok(_) => return None,
        Err(FetchError::Network(why)) => return Some(why.clone()),
        Err(FetchError::Local(why)) => return Some(Failure::from(why.as_str())),
        Err(FetchError::Refused(why)) => (FailureCause::Address, why.clone()),
        Err(error) => (FailureCause::Broken, error.to_string()),
    };
    Some(match kind {
        CallKind::Robots => Failure::new(FailureCause::RobotsUnavailable, format!("robots.txt: {detail}")),
        _ => Failure::new(cause, detail),
    })
}

pub(crate) fn of_rejection(why: &Rejection) -> Failure {
    let cause = match why {
        Rejection::Robots | Rejection::RobotsDoubted => FailureCause::Robots,
        Rejection::Blocked => FailureCause::Blocked,
        Rejection::Excluded(_) => FailureCause::Excluded,
        Rejection::Address(_) => FailureCause::Address,
        Rejection::Redirect(_) => FailureCause::Redirect,
        _ => FailureCause::Broken,
    };
    Failure::new(cause, why.to_string())
}

pub(crate) fn held(why: HoldReason) -> Failure {
    Failure::new(FailureCause::Held, format!("the host is held ({})", why.as_str()))
}
