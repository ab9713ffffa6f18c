//! State shared by the handlers, and the part of a request that most handlers read.

use crate::language::Language;
use crate::page::{self, Site};
use crate::page_settings::{OperatorContact, PageSettings};
use crate::quota::{Allowance, CallerKey, Quota};
use crate::services::Services;
use crate::system_status::KeptStatus;
use crate::token::Spent;
use crate::words::Frame;
use askama::Template;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{Extensions, StatusCode};
use axum::response::{IntoResponse, Response};
use curlew_model::Millis;
use curlew_ports::Clock;
use curlew_ports::stage::StageError;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Address of the caller. The server sets it as a request extension: from [`crate::Proxies`], or on Lambda from
/// `requestContext.http.sourceIp`. `None` if the address is unknown; all such callers share one allowance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caller(pub Option<IpAddr>);

impl Caller {
    pub(crate) fn of(extensions: &Extensions) -> Caller {
        extensions.get().copied().unwrap_or(Caller(None))
    }
}

/// True if the request came from the address of a proxy that the operator trusts, so its headers can be believed. The
/// server sets it as a request extension; without it, no header is trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThroughProxy(pub bool);

pub(crate) struct App {
    pub(crate) services: Services,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) settings: PageSettings,
    /// Origin of the pages, if `base_url` is configured.
    pub(crate) origin: Option<String>,
    /// True if the settings make the pages reachable only from this machine. Callers on loopback are then its user.
    is_personal: bool,
    pub(crate) contact: Option<OperatorContact>,
    /// Counter for the serial numbers of this process's forms.
    serial: AtomicU64,
    pub(crate) spent: Mutex<Spent>,
    pub(crate) status: Arc<KeptStatus>,
    quotas: Mutex<HashMap<Allowance, Quota>>,
}

impl App {
    pub(crate) fn new(services: Services, settings: PageSettings) -> App {
        App {
            is_personal: settings.is_personal(),
            origin: settings.origin(),
            contact: settings.contact.as_deref().and_then(OperatorContact::parse),
            serial: AtomicU64::new(0),
            spent: Mutex::default(),
            status: KeptStatus::new(services.status.clone(), services.clock.clone()),
            quotas: Mutex::default(),
            clock: services.clock.clone(),
            services,
            settings,
        }
    }

    pub(crate) fn site(&self, language: Language) -> Site<'_> {
        Site {
            title: &self.settings.title,
            opensearch: self.origin.is_some(),
            language,
            t: Frame::in_language(language),
        }
    }

    /// Returns a number that this process has not returned before.
    pub(crate) fn next_serial(&self) -> u64 {
        self.serial.fetch_add(1, Ordering::Relaxed)
    }

    /// True if the pages serve only the user of this machine. Requests under foreign host names are then refused, and
    /// pages of other origins may not read responses.
    pub(crate) fn has_own_names_only(&self) -> bool {
        self.is_personal && !self.settings.any_host
    }

    /// Takes one call from the caller's allowance, or returns the time to wait. This machine's user searches without
    /// limit.
    pub(crate) fn admit(&self, allowance: Allowance, caller: Caller) -> Result<(), Millis> {
        let is_user = self.is_personal && caller.0.is_some_and(|ip| ip.to_canonical().is_loopback());
        if allowance == Allowance::Search && is_user { Ok(()) } else { self.take(allowance, self.key(caller)) }
    }

    /// Takes one call from the caller's allowance for a host. Returns true if the host may be called for a proof.
    pub(crate) fn may_have_called(&self, host: &str, caller: Caller) -> bool {
        self.take(Allowance::CallOfHost, self.key(caller).with_host(host)).is_ok()
    }

    fn take(&self, allowance: Allowance, key: CallerKey) -> Result<(), Millis> {
        let mut quotas = self.quotas.lock();
        let quota = quotas.entry(allowance).or_insert_with(|| allowance.quota(&self.settings));
        quota.take(key, self.clock.monotonic())
    }

    fn key(&self, caller: Caller) -> CallerKey {
        CallerKey::new(&self.settings.secret, caller.0, self.clock.now())
    }
}

/// The shared state, the caller of a request, and the language of the response.
#[derive(Clone)]
pub(crate) struct PageRequest {
    pub(crate) app: Arc<App>,
    pub(crate) caller: Caller,
    pub(crate) language: Language,
}

impl FromRequestParts<Arc<App>> for PageRequest {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<PageRequest, Infallible> {
        let (caller, language) = (Caller::of(&parts.extensions), Language::of_headers(&parts.headers));
        Ok(PageRequest { app: app.clone(), caller, language })
    }
}

/// Response that replaces the requested page after an error.
pub(crate) struct ErrorPage(Box<Response>);

impl From<Response> for ErrorPage {
    fn from(response: Response) -> ErrorPage {
        ErrorPage(Box::new(response))
    }
}

impl IntoResponse for ErrorPage {
    fn into_response(self) -> Response {
        *self.0
    }
}

impl PageRequest {
    pub(crate) fn site(&self) -> Site<'_> {
        self.app.site(self.language)
    }

    pub(crate) fn html(&self, status: StatusCode, cache: &'static str, page: &impl Template) -> Response {
        page::html(self.language, status, cache, page)
    }

    /// Takes one call from the caller's allowance, or returns a page with status 429.
    pub(crate) fn admit(&self, allowance: Allowance) -> Result<(), ErrorPage> {
        let admitted = self.app.admit(allowance, self.caller);
        admitted.map_err(|wait| page::too_many(self.site(), wait).into())
    }

    pub(crate) fn no_such_page(&self) -> ErrorPage {
        page::no_such_page(self.site()).into()
    }

    /// Awaits the work of a service. Logs an error, and returns its error page.
    pub(crate) async fn tried<T, E: Into<StageError>>(
        &self,
        tried: &'static str,
        work: impl Future<Output = Result<T, E>>,
    ) -> Result<T, ErrorPage> {
        work.await.map_err(|error| self.failed(tried, error))
    }

    /// Logs an error of a stage or a port, and returns the error page.
    pub(crate) fn failed(&self, tried: &'static str, error: impl Into<StageError>) -> ErrorPage {
        page::stage_error(self.site(), tried, &error.into()).into()
    }
}
