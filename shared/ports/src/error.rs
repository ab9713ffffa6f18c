use curlew_model::Millis;

/// Error of a port, shaped by what the caller does next.
#[derive(Debug, thiserror::Error)]
pub enum PortError {
    /// Somebody else swapped first: load again and decide again.
    #[error("the item was changed in the meantime")]
    Conflict,
    /// The item does not exist: go on without it or give up on it.
    #[error("{0} does not exist")]
    NotFound(String),
    /// Too many requests: wait, then try again.
    #[error("the store asks to slow down")]
    Throttled {
        /// Least time to wait.
        retry_after: Millis,
    },
    /// Out of reach, out of space or refused: trying again later may help, deciding again does not.
    #[error("{what}")]
    Unavailable {
        /// The action that failed, in words.
        what: String,
        /// The adapter's own error.
        #[source]
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
    /// Stored data cannot be read: trying again does not help; a person has to look.
    #[error("{what} cannot be read: {why}")]
    Corrupt {
        /// The item.
        what: String,
        /// The reason.
        why: String,
    },
}

impl PortError {
    /// An adapter's error with what was tried.
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

/// Returns whether a compare-and-swap wrote; false if somebody else swapped first.
pub fn swapped<T>(written: Result<T, PortError>) -> Result<bool, PortError> {
    match written {
        Ok(_) => Ok(true),
        Err(PortError::Conflict) => Ok(false),
        Err(other) => Err(other),
    }
}
