//! The search page, the API, the forms and the operator's pages, as one axum router. Pages are rendered on the server.
//! They use no scripts, load nothing from other origins, and set no cookie except for an operator's session. The router
//! depends on no concrete store; it calls [`Services`].
//!
//! **Invariants.** Every response, including errors, carries the security headers. Text from the web is rendered only
//! by escaping templates. No response contains the value of the `Host` header. The caller's address is taken from
//! [`Caller`], which the server sets from the connection, or from a request header if [`Proxies`] that the operator
//! trusts wrote it. The address is kept only in memory, as a keyed hash that differs from day to day.

mod admin;
mod api;
mod app;
mod claim;
mod compress;
mod contact;
mod fallback;
mod feeds;
mod files;
mod form;
mod headers;
mod hit;
mod home;
mod host;
mod info;
mod language;
mod mcp;
mod origin;
mod owner;
mod page;
mod page_settings;
mod params;
mod proxy;
mod quota;
mod random;
mod refine;
mod routes;
mod search;
mod secret;
mod services;
mod site_list;
mod sites;
mod status;
mod suggest;
mod system_status;
mod text;
mod token;
mod validate;
mod websub;
mod words;

pub use admin::seal::login_token;
pub use app::{Caller, ThroughProxy};
pub use headers::secure;
pub use mcp::serve_streams;
pub use origin::asked_host;
pub use page_settings::PageSettings;
pub use proxy::Proxies;
pub use quota::networks;
pub use routes::router;
pub use services::{AdminServices, SearchIndex, Services, ShownSetting, StatusSource};
pub use system_status::{QueueStatus, SystemStatus};
