//! Services that the handlers call.

use crate::system_status::SystemStatus;
use async_trait::async_trait;
use axum::http::HeaderName;
use curlew_catalog::find::Finder;
use curlew_catalog::library::Library;
use curlew_catalog::results::{FindError, PageText, SearchResults, SiteEntry, SiteProfile, Start};
use curlew_crawl::feeds::websub_delivery::Pushes;
use curlew_people::actions::Actions;
use curlew_people::desk::Desk;
use curlew_people::messages::Messages;
use curlew_people::ownership::Owners;
use curlew_people::sessions::Sessions;
use curlew_people::suggest::Suggest;
use curlew_ports::stage::StageError;
use curlew_ports::{Blobs, Clock, PortError, Sources};
use std::sync::Arc;

/// Services that the pages, the API and the forms call.
pub struct Services {
    /// Runs queries; a [`Finder`] except in tests.
    pub search: Arc<dyn SearchIndex>,
    /// Accepts suggested sites.
    pub suggest: Suggest,
    /// Rows of sites and feeds, with the descriptions, feeds and folders of sites.
    pub sources: Arc<dyn Sources>,
    /// Accepts requests of site owners.
    pub owners: Owners,
    /// Accepts messages to the operator.
    pub messages: Messages,
    /// Handles verifications and notifications from hubs (WebSub).
    pub pushes: Pushes,
    /// Object store of the thumbnails and the key directory.
    pub blobs: Arc<dyn Blobs>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
    /// Supplies the data of the status page.
    pub status: Arc<dyn StatusSource>,
    /// Services of the operator's pages; if `None`, these pages do not exist.
    pub admin: Option<AdminServices>,
}

/// Services that the operator's pages call.
pub struct AdminServices {
    /// Carries out the acts of operators; reads rows and jobs.
    pub actions: Arc<Actions>,
    /// Sessions of operators.
    pub sessions: Sessions,
    /// Name of the header in which a trusted proxy names the operator, if there is such a proxy.
    pub trusted_header: Option<HeaderName>,
    /// The settings in force.
    pub settings: Vec<ShownSetting>,
}

/// A setting in force, as the operator's pages show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownSetting {
    /// TOML table of the setting; empty for a top-level key.
    pub table: String,
    /// Key of the setting.
    pub key: String,
    /// Value of the setting, as TOML.
    pub value: String,
    /// Configuration layer that sets the value, such as `file`.
    pub origin: String,
}

impl AdminServices {
    /// Returns the services of the operator's pages.
    pub fn new(desk: &Desk, trusted_header: Option<HeaderName>, settings: Vec<ShownSetting>) -> AdminServices {
        let Actions { log, .. } = &*desk.actions;
        let sessions = Sessions { blobs: log.blobs.clone(), clock: log.clock.clone() };
        AdminServices { actions: desk.actions.clone(), sessions, trusted_header, settings }
    }
}

impl Services {
    /// Returns the services without those of the operator's pages.
    pub fn new(library: &Library, desk: &Desk, pushes: Pushes, status: Arc<dyn StatusSource>) -> Services {
        Services {
            search: library.finder.clone(),
            suggest: desk.suggest.clone(),
            sources: desk.suggest.sources.clone(),
            owners: desk.own.owners.clone(),
            messages: desk.messages.clone(),
            pushes,
            blobs: library.index.blobs.clone(),
            clock: library.index.clock.clone(),
            status,
            admin: None,
        }
    }
}

/// An index that answers queries; its errors are those of [`Finder`].
#[async_trait]
pub trait SearchIndex: Send + Sync {
    /// Runs a query and returns `limit` hits from `start` on.
    async fn find(&self, query: &str, start: Start<'_>, limit: usize) -> Result<SearchResults, FindError>;

    /// Returns the page at an address with the text that may be given to an assistant.
    async fn page(&self, address: &str) -> Result<Option<PageText>, PortError>;

    /// Returns the sites that have pages in the index, in the order of their host names.
    async fn sites(&self) -> Result<Arc<[SiteEntry]>, PortError>;

    /// Returns the same sites as [`SearchIndex::sites`] with their profiles.
    async fn site_profiles(&self) -> Result<Arc<[SiteProfile]>, PortError>;
}

#[async_trait]
impl SearchIndex for Finder {
    async fn find(&self, query: &str, start: Start<'_>, limit: usize) -> Result<SearchResults, FindError> {
        Finder::find(self, query, start, limit).await
    }

    async fn page(&self, address: &str) -> Result<Option<PageText>, PortError> {
        Finder::page(self, address).await
    }

    async fn sites(&self) -> Result<Arc<[SiteEntry]>, PortError> {
        Finder::sites(self).await
    }

    async fn site_profiles(&self) -> Result<Arc<[SiteProfile]>, PortError> {
        Finder::site_profiles(self).await
    }
}

/// Source of the status. A single process counts live; a stack on AWS reads stored counts.
#[async_trait]
pub trait StatusSource: Send + Sync {
    /// Gathers the current status. The caller reuses a successful result for a minute.
    async fn status(&self) -> Result<SystemStatus, StageError>;
}
