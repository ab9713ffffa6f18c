//! Services that the pages drive.

use crate::system_status::SystemStatus;
use async_trait::async_trait;
use curlew_ports::{Blobs, Clock};
use curlew_stages::catalog::find::Finder;
use curlew_stages::catalog::results::{FindError, SearchResults, Start};
use curlew_stages::feeds::websub_delivery::Pushes;
use curlew_stages::operator::messages::Messages;
use curlew_stages::operator::ownership::Owners;
use curlew_stages::operator::suggest::Suggest;
use curlew_stages::program::Program;
use curlew_stages::stage::StageError;
use std::sync::Arc;

/// Everything that the pages, the API and the forms call.
pub struct Services {
    /// Runs queries: a [`Finder`].
    pub search: Arc<dyn SearchIndex>,
    /// Takes suggestions.
    pub suggest: Suggest,
    /// Takes what owners of sites ask for.
    pub owners: Owners,
    /// Takes messages for the operator.
    pub messages: Messages,
    /// Takes what hubs ask and deliver (WebSub).
    pub pushes: Pushes,
    /// Holds the thumbnails.
    pub blobs: Arc<dyn Blobs>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// Tells what the status page shows.
    pub status: Arc<dyn StatusSource>,
}

impl Services {
    /// The services of a program; `status` tells what its status page shows.
    pub fn of(program: &Program, status: Arc<dyn StatusSource>) -> Services {
        Services {
            search: program.finder.clone(),
            suggest: program.suggest.clone(),
            owners: program.owners.clone(),
            messages: program.messages.clone(),
            pushes: program.pushes.clone(),
            blobs: program.ports.blobs.clone(),
            clock: program.clock.clone(),
            status,
        }
    }
}

/// An index that answers queries.
#[async_trait]
pub trait SearchIndex: Send + Sync {
    /// Runs a query: `limit` hits from `start` on.
    ///
    /// # Errors
    /// As [`Finder::find`].
    async fn find(&self, query: &str, start: Start<'_>, limit: usize) -> Result<SearchResults, FindError>;
}

#[async_trait]
impl SearchIndex for Finder {
    async fn find(&self, query: &str, start: Start<'_>, limit: usize) -> Result<SearchResults, FindError> {
        Finder::find(self, query, start, limit).await
    }
}

/// Where the status comes from: one process counts it live, a deployed stack reads what was counted last.
#[async_trait]
pub trait StatusSource: Send + Sync {
    /// Gathers what the program has and does. Called once a minute at most.
    ///
    /// # Errors
    /// What the ports say.
    async fn status(&self) -> Result<SystemStatus, StageError>;
}
