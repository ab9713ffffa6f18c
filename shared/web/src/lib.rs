//! The search page, the API, the forms and the operator's pages: one axum router, rendered on the server, without
//! scripts, anything that is loaded from elsewhere, or a cookie but that of an operator's session. The router knows
//! nothing of stores: it calls what [`Services`] holds.
//!
//! **Invariants.** Every answer carries the security headers, errors included. Text from the web reaches a page only
//! through the escaping templates. The `Host` header is never part of an answer. The caller's address comes from the
//! connection (or from [`Caller`], which the outer shell sets), never from a request header unless [`Proxies`] that the
//! operator trusts wrote it, and is kept only as a keyed hash, in memory, for a day.

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
mod kept_status;
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
mod settings;
mod site_list;
mod sites;
mod status;
mod suggest;
mod system_status;
mod text;
mod thumb;
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
