//! Services that the pages drive.

use crate::system_status::SystemStatus;
use async_trait::async_trait;
use axum::http::HeaderName;
use curlew_catalog::find::Finder;
use curlew_catalog::library::Library;
use curlew_catalog::results::{FindError, PageText, SearchResults, SiteEntry, SiteProfile, Start};
use curlew_crawl::feeds::websub_delivery::Pushes;
use curlew_people::actions::Actions;
use curlew_people::desk::Desk;
use curlew_people::directory::Directory;
use curlew_people::lookup::Lookup;
use curlew_people::messages::Messages;
use curlew_people::ownership::Owners;
use curlew_people::sessions::Sessions;
use curlew_people::suggest::Suggest;
use curlew_ports::stage::StageError;
use curlew_ports::{Blobs, Clock, PortError};
use std::sync::Arc;

/// Everything that the pages, the API and the forms call.
pub struct Services {
    /// Runs queries: a [`Finder`].
    pub search: Arc<dyn SearchIndex>,
    /// Takes suggestions.
    pub suggest: Suggest,
    /// Reads what feeds say of their sites.
    pub directory: Directory,
    /// Takes the requests of site owners.
    pub owners: Owners,
    /// Takes messages for the operator.
    pub messages: Messages,
    /// Takes the verifications and deliveries of hubs (WebSub).
    pub pushes: Pushes,
    /// Stores the thumbnails.
    pub blobs: Arc<dyn Blobs>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
    /// Supplies the data of the status page.
    pub status: Arc<dyn StatusSource>,
    /// Services of the operator's pages; without them there are no such pages.
    pub admin: Option<AdminServices>,
}

/// Everything that the operator's pages call.
pub struct AdminServices {
    /// Carries out what operators ask for.
    pub actions: Arc<Actions>,
    /// Reads rows and jobs.
    pub lookup: Lookup,
    /// Sessions of operators.
    pub sessions: Sessions,
    /// Name of the header by which a trusted proxy names the operator, if there is such a proxy.
    pub trusted_header: Option<HeaderName>,
    /// The settings in force.
    pub settings: Vec<ShownSetting>,
}

/// A setting in force, as the operator's pages show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownSetting {
    /// Table of the setting; empty for a setting outside of all tables.
    pub table: String,
    /// Key of the setting.
    pub key: String,
    /// Value of the setting, as TOML.
    pub value: String,
    /// The layer that decides it, such as `file`.
    pub origin: String,
}

impl AdminServices {
    /// Returns the services of the operator's pages.
    pub fn new(desk: &Desk, trusted_header: Option<HeaderName>, settings: Vec<ShownSetting>) -> AdminServices {
        let Actions { log, .. } = &*desk.actions;
        let sessions = Sessions { blobs: log.blobs.clone(), clock: log.clock.clone() };
        AdminServices { actions: desk.actions.clone(), lookup: desk.lookup.clone(), sessions, trusted_header, settings }
    }
}

impl Services {
    /// Returns the services without operator's pages.
    pub fn new(library: &Library, desk: &Desk, pushes: Pushes, status: Arc<dyn StatusSource>) -> Services {
        Services {
            search: library.finder.clone(),
            suggest: desk.suggest.clone(),
            directory: Directory { sources: desk.suggest.sources.clone() },
            owners: desk.owners.clone(),
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

/// Source of the status: one process counts it live, a deployed stack reads the stored counts.
#[async_trait]
pub trait StatusSource: Send + Sync {
    /// Gathers the present status. It is called at most once a minute.
    async fn status(&self) -> Result<SystemStatus, StageError>;
}
