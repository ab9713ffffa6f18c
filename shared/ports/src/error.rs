use curlew_model::Millis;

/// Error of a port, classified by the caller's next step.
#[derive(Debug, thiserror::Error)]
pub enum PortError {
    /// Another process changed the item first: load it and decide again.
    #[error("the item was changed in the meantime")]
    Conflict,
    /// The item does not exist: continue without it or give up.
    #[error("{0} does not exist")]
    NotFound(String),
    /// Too many requests: wait, then retry.
    #[error("the store asks to slow down")]
    Throttled {
        /// Minimum time to wait.
        retry_after: Millis,
    },
    /// The store is unreachable, full or refuses the request: retrying later may help, deciding again does not.
    #[error("{what}")]
    Unavailable {
        /// The action that failed, in words.
        what: String,
        /// The adapter's own error.
        #[source]
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
    /// Stored data cannot be read: retrying does not help; a person must look at it.
    #[error("{what} cannot be read: {why}")]
    Corrupt {
        /// The item.
        what: String,
        /// The reason.
        why: String,
    },
}

impl PortError {
    /// Returns the error for an action `what` that failed with an adapter's error.
    pub fn unavailable(
        what: impl Into<String>,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> PortError {
        PortError::Unavailable { what: what.into(), source: Some(source.into()) }
    }

    /// True if the same call may succeed later.
    pub fn is_transient(&self) -> bool {
        matches!(self, PortError::Conflict | PortError::Throttled { .. } | PortError::Unavailable { .. })
    }
}

/// Converts the result of a compare-and-swap: true if it wrote, false after [`PortError::Conflict`].
pub fn swapped<T>(written: Result<T, PortError>) -> Result<bool, PortError> {
    match written {
        Ok(_) => Ok(true),
        Err(PortError::Conflict) => Ok(false),
        Err(other) => Err(other),
    }
}
