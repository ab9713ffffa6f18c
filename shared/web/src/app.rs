//! State that the handlers share.

use crate::assets::style_version;
use crate::kept_status::KeptStatus;
use crate::language::Language;
use crate::page::Site;
use crate::page_settings::PageSettings;
use crate::quota::{Allowance, CallerKey, Quotas};
use crate::services::Services;
use crate::settings::{OperatorContact, is_personal, origin};
use crate::token::Spent;
use crate::words::Frame;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use curlew_model::Millis;
use curlew_ports::Clock;
use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The address of the caller, which the outer shell sets as a request extension: from [`crate::Proxies`], or on Lambda
/// from `requestContext.http.sourceIp`. `None` if it cannot be known; all such callers share one allowance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caller(pub Option<IpAddr>);

/// True if a request came from the address of a proxy that the operator trusts, so that the proxy wrote its headers.
/// The outer shell sets it as a request extension; without it no header is trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThroughProxy(pub bool);

/// State that the handlers share.
pub(crate) struct App {
    pub(crate) services: Services,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) settings: PageSettings,
    /// Our own origin, if it is configured.
    pub(crate) origin: Option<String>,
    /// True if, by the settings, the pages are reached from this machine alone: callers on loopback are then its user.
    /// With a public address, they may be anybody whom an undeclared proxy passes on.
    pub(crate) is_personal: bool,
    /// The operator's contact, if it is configured.
    pub(crate) contact: Option<OperatorContact>,
    /// Counter for the serial numbers of this process's forms.
    pub(crate) serial: AtomicU64,
    /// Tokens that have been used.
    pub(crate) spent: Mutex<Spent>,
    pub(crate) status: Arc<KeptStatus>,
    quotas: Quotas,
}

impl App {
    pub(crate) fn new(services: Services, settings: PageSettings) -> App {
        App {
            is_personal: is_personal(&settings),
            origin: origin(&settings),
            contact: settings.contact.as_deref().and_then(OperatorContact::parse),
            serial: AtomicU64::new(0),
            spent: Mutex::default(),
            status: KeptStatus::new(services.status.clone(), services.clock.clone()),
            quotas: Quotas::new(&settings),
            clock: services.clock.clone(),
            services,
            settings,
        }
    }

    /// Returns the data that every page shows, in a language.
    pub(crate) fn site(&self, language: Language) -> Site<'_> {
        let opensearch = self.origin.is_some();
        Site {
            title: &self.settings.title,
            opensearch,
            style: style_version(),
            language,
            t: Frame::in_language(language),
        }
    }

    /// True if the pages are for the user of this machine, who reaches them by names of its own alone. Then neither
    /// names nor pages of others may lead to what is found here.
    pub(crate) fn has_own_names_only(&self) -> bool {
        self.is_personal && !self.settings.any_host
    }

    /// Takes one call from an allowance of its caller, or returns the time to wait. The user of this machine may search
    /// without limit.
    pub(crate) fn admit(&self, allowance: Allowance, caller: CallerAddress) -> Result<(), Millis> {
        let is_user = self.is_personal && caller.0.is_some_and(|ip| ip.to_canonical().is_loopback());
        if allowance == Allowance::Search && is_user {
            return Ok(());
        }
        self.quotas.take(allowance, self.key(caller), self.clock.monotonic())
    }

    /// True if a caller may have a host called for a proof; takes it from the caller's allowance for that host.
    pub(crate) fn may_have_called(&self, host: &str, caller: CallerAddress) -> bool {
        let key = self.key(caller).with_host(host);
        self.quotas.take(Allowance::CallOfHost, key, self.clock.monotonic()).is_ok()
    }

    /// Returns the key under which a caller's allowances are kept.
    fn key(&self, caller: CallerAddress) -> CallerKey {
        CallerKey::new(&self.settings.secret, caller.0, self.clock.now())
    }
}

/// Locks data that only this crate changes, in steps that leave it valid even if one of them panics.
pub(crate) fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Address of a request's caller, if it is known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallerAddress(pub(crate) Option<IpAddr>);

impl<S: Send + Sync> FromRequestParts<S> for CallerAddress {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<CallerAddress, Infallible> {
        Ok(CallerAddress(parts.extensions.get::<Caller>().and_then(|caller| caller.0)))
    }
}
